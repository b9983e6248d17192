"""What is said while programs run and when they end; their options, which take a parser, are in ``programs``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

if TYPE_CHECKING:
    from pathlib import Path

    from stashdbg_core.canonical import Json
    from stashdbg_core.programs.runs.counts import RunCounts
    from stashdbg_core.programs.runs.program_run import RunResult
    from stashdbg_core.replay import DivergenceReport

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


def narrate_error(error: StashError, *, as_json: bool = False) -> None:
    """Write an error that does not end the command."""
    console.complain({"code": str(error.code), "message": error.message, "hint": error.hint}, as_json=as_json)


def confirmed(question: str) -> bool:
    """Ask on the terminal; no answer is a no."""
    if not console.is_terminal(sys.stdin) or not console.is_terminal(sys.stderr):
        raise invalid_input("running on goes live, and there is no terminal to ask on", hint="give --yes")
    console.narrate(f"{question} [y/N]")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def print_recording(path: Path, result: RunResult) -> None:
    """Write what the recording of a run is called and holds, as one JSON object."""
    from stashdbg.cli.json_out import json_text

    counts = _counts(path, result).to_json()
    tree: dict[str, Json] = {"file": str(path), **counts, "lost": result.lost, "exitCode": result.exit_code}
    console.ascii_text(json_text(tree) + "\n")


def narrate_recording(path: Path, result: RunResult) -> None:
    """Name the recording of a run, and say in a line what is in it, and what is not."""
    words = _counts(path, result).words()
    lost = f", {result.lost:,} more NOT recorded" if result.lost else ""
    console.narrate(Styled("stashdbg: ", "bold"), f"{path}: {words}{lost}")


def _counts(path: Path, result: RunResult) -> RunCounts:
    from stashdbg_core.programs.runs.counts import run_counts
    from stashdbg_core.store.open import open_recording

    return run_counts(open_recording(path), result.notes)
