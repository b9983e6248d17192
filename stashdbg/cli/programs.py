"""Options and arguments of the commands that run programs."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

CommandArgument: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- CMD...]", help="The program and its arguments; the recorded ones if left out."),
]
IgnoreOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="POINTER", help="A part of inputs not to compare, such as /**/id; repeatable."),
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
