"""What commands share that run a program many times: options, progress, and an end by Ctrl-C or SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import STANDARD_INPUT
from stashdbg.cli.program_words import confirmed
from stashdbg.cli.progress import ProgressBar
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.programs.experiments.ablate import AblationPlan
    from stashdbg_core.programs.experiments.sweep import Plan
    from stashdbg_core.programs.experiments.trials import Progress, Settings

JobsOption: TypeAlias = Annotated[
    int | None, typer.Option("--jobs", "-j", metavar="N", help="How many runs at once; by default up to 4.")
]
SeveralOption: TypeAlias = Annotated[
    int | None,
    typer.Option("--times", metavar="N", help="Run it N times and say what is not the same each time, and why."),
]
LiveOption: TypeAlias = Annotated[
    bool, typer.Option("--live", help="With --times: run it for real each time, not a replay.")
]
YesOption: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Go live without asking.")]
DryRunOption: TypeAlias = Annotated[bool, typer.Option("--dry-run", help="Only say what would run, and what it costs.")]
FolderOption: TypeAlias = Annotated[
    str | None, typer.Option("--output", "-o", metavar="DIR", help="The folder for the recordings of all runs.")
]
MAX_CALLS = 1000
"""As in ``programs.experiments.trials``, which takes longer to load than help should."""
MaxCallsOption: TypeAlias = Annotated[
    int, typer.Option("--max-calls", metavar="N", help="End a run that has made N live calls.")
]
SecretOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--secret", metavar="PLACEHOLDER=env:NAME", help="What a placeholder stands for; repeatable."),
]


RerunOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--rerun", metavar="CHANNEL/KEY", help="Recorded calls to run for real; repeatable."),
]


@contextmanager
def progress_of(what: str) -> Iterator[Progress]:
    """Show how many runs are over; within it, SIGTERM and SIGHUP end the runs as Ctrl-C does."""
    bar = ProgressBar(what)
    before = {}
    if threading.current_thread() is threading.main_thread():
        usual = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
        before = {number: signal.signal(number, _interrupt) for number in usual}
    try:
        yield bar
    finally:
        bar.close()
        for number, handler in before.items():
            signal.signal(number, handler)


def checked_jobs(jobs: int | None) -> int | None:
    """Return how many runs at once.

    Raises:
        StashError: It is no number of them.
    """
    if jobs is not None and not 1 <= jobs <= 256:
        raise invalid_input("--jobs is 1 to 256", hint="leave it out for up to 4")
    return jobs


def checked_calls(calls: int) -> int:
    """Return how many live calls a run may make.

    Raises:
        StashError: It is no number of them.
    """
    if calls < 0:
        raise invalid_input("--max-calls is 0 or more", hint=f"leave it out for {MAX_CALLS:,}")
    return calls


def settings_of(
    rerun: list[str] | None,
    secret: list[str] | None,
    max_calls: int,
    ignore: list[str] | None,
    rules: str | None,
) -> Settings:
    """Return what the options say of the calls of all runs.

    Raises:
        StashError: One of them does.
    """
    from stashdbg_core.programs.experiments.trials import Settings
    from stashdbg_core.programs.runs.rerunning import rerun_of
    from stashdbg_core.programs.tapes.secrets import secrets_of
    from stashdbg_core.redact.user_rules import rule_set

    return Settings(
        rerun=rerun_of(rerun or ()),
        secrets=secrets_of(secret or ()),
        ignore=tuple(ignore or ()),
        rules=rule_set(rules),
        max_calls=checked_calls(max_calls),
    )


def folder_of(file: str, output: str | None, word: str) -> Path:
    """Return a folder for the recordings: the one named, else a new one beside the file.

    Raises:
        StashError: The recording came from standard input; its runs need a file.
    """
    from stashdbg_core.store.atomic import free_path

    if file == STANDARD_INPUT:
        raise invalid_input("several runs need a recording in a file", hint="save it to one first")
    if output is not None:
        return Path(output)
    path = Path(file)
    stem = path.name.removesuffix(".journal").removesuffix(".json")
    return free_path(path.with_name(f"{stem}-{word}"))


def run_numbers(numbers: Sequence[int]) -> str:
    """Return ascending numbers for people: ``1-3, 5``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def clip(text: str, room: int) -> str:
    """Return the head of a text on one line."""
    from stashdbg_core.session.gist import one_line

    return one_line(text, max(room, 8))


def agreed(lines: Sequence[str]) -> bool:
    """Show what would run, and ask whether it shall."""
    for line in lines:
        console.narrate(line)
    if confirmed("go on, live?"):
        return True
    console.narrate("nothing was run")
    return False


def show_plan(plan: Plan | AblationPlan, *, as_json: bool) -> int:
    """Print what would run, and return the exit code of that."""
    if as_json:
        console.ascii_text(json_text(plan.to_json()) + "\n")
        return exit_codes.OK
    for line in plan.lines():
        console.line(line)
    return exit_codes.OK


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
