"""Options and arguments of the commands that run programs."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from stashdbg_core.errors import invalid_input
from stashdbg_core.sanitize import shorten

_SHOWN = 60


def _pointers(patterns: list[str] | None) -> list[str] | None:
    """Return what ``--ignore`` was given.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: one is no pointer.
    """
    for pattern in patterns or ():
        if not pattern.startswith("/"):
            raise invalid_input(
                f"--ignore {shorten(pattern, _SHOWN)!r} is not a JSON pointer",
                hint=f"start it with /, such as /{shorten(pattern, _SHOWN) or 'messages/*/id'} or /**/id",
            )
    return patterns


CommandArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- CMD...]", help="The program and its arguments; the recorded ones if left out."),
]
IgnoreOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="POINTER",
        help="A part of inputs not to compare, such as /**/id; repeatable.",
        callback=_pointers,
    ),
]
RerunOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rerun", metavar="CHANNEL/KEY", help="Recorded calls to run for real; repeatable."),
]
SecretOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="PLACEHOLDER=env:NAME", help="What a placeholder stands for; repeatable."),
]
DryRunOption: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="Only say what is served and what goes live.")]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Go live without asking.")]
EarlyCallOption: TypeAlias = Annotated[
    Literal["stop", "live"],
    typer.Option(
        "--on-divergence", metavar="stop|live", help="End at a call before the fork that is not recorded, or run it."
    ),
]
OptionalMaxCallsOption: TypeAlias = Annotated[
    int | None, typer.Option("--max-calls", metavar="N", help="End the program when it has made N live calls.")
]
