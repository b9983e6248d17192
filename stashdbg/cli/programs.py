"""What ``record``, ``replay`` and ``continue`` share: their options, and what is said while a program runs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

if TYPE_CHECKING:
    from stashdbg_core.replay import DivergenceReport

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
_MESSAGE = 300


def say(kind: str, message: str) -> None:
    """Write at once, from any thread, what a person should know of a running program."""
    console.narrate(Styled("stashdbg: ", "warning"), f"{kind.replace('-', ' ')}: {shorten(message, _MESSAGE)}")


def narrate_report(report: DivergenceReport, *, stopped: bool) -> None:
    """Write how what was served compares with what the program did."""
    head, *lines = str(report).splitlines()
    if stopped:
        head = f"{report.matched:,} matched, then stopped at a divergence, {report.unused:,} recorded calls to come"
    console.narrate(Styled("stashdbg: ", "bold" if report.ok else "error"), head)
    for line in lines:
        console.narrate(line)


def narrate_error(error: StashError) -> None:
    """Write an error that does not end the command."""
    parts = [error.message.rstrip("."), error.hint or ""]
    console.narrate(Styled("stashdbg: ", "error"), "; ".join(part for part in parts if part))


def confirmed(question: str) -> bool:
    """Ask on the terminal; no answer is a no."""
    if not console.is_terminal(sys.stdin) or not console.is_terminal(sys.stderr):
        raise invalid_input("running on goes live, and there is no terminal to ask on", hint="give --yes")
    console.narrate(f"{question} [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
