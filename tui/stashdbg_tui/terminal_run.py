"""A program that runs on with the terminal to itself, while the screen is given up."""

from __future__ import annotations

import signal
import sys

from rich.console import Console

from stashdbg_core.programs.runs.program_run import RunResult
from stashdbg_core.programs.runs.run_plan import RunPlan
from stashdbg_core.programs.runs.starting import quiet
from stashdbg_core.programs.runs.watched_run import ending_words
from stashdbg_core.sanitize import sanitize_line, shorten


def run_in_terminal(plan: RunPlan) -> RunResult:
    """Run a program on this terminal, say how it ended, and wait for Enter: what it wrote can be read until then.

    Raises:
        StashError: It cannot be started.
    """
    console = Console(stderr=True, highlight=False, markup=False)
    console.print(f"stashdbg: running on, live: {plan.command.words()}")
    run = plan.program(quiet, streams="ours")
    run.start()
    result = run.wait()
    first, *others = ending_words(result, plan.command)
    console.print(f"stashdbg: {shorten(first, 300)}")
    for line in others:
        console.print(sanitize_line(line))
    if result.path is not None:
        console.print(f"stashdbg: recorded in {shorten(str(result.path), 200)}")
    console.print("stashdbg: Enter goes back to the screen")
    _wait_for_enter()
    return result


def _wait_for_enter() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if sys.__stdin__ is not None:
            sys.__stdin__.readline()
    finally:
        signal.signal(signal.SIGINT, before)
