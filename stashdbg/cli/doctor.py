"""``stashdbg replay --times N``: whether a program does the same each time, and what would pin what differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg.cli import console, exit_codes
from stashdbg.cli.console import Styled
from stashdbg.cli.experiments import checked_jobs, clip, progress_of, run_numbers
from stashdbg.cli.json_out import json_text
from stashdbg.cli.program_words import narrate_error
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.model import Recording
    from stashdbg_core.programs.experiments.doctor import Diagnosis, Difference
    from stashdbg_core.programs.experiments.trials import Settings
    from stashdbg_core.programs.process.command import Command

_SHOWN = 12
_LABEL = 10


def diagnose(
    recording: Recording,
    started: Command,
    times: int | None,
    settings: Settings,
    *,
    live: bool,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Run a program several times and print what differs; return the exit code."""
    from stashdbg_core.programs.experiments.doctor import examine
    from stashdbg_core.programs.experiments.trials import Trials
    from stashdbg_core.programs.runs.program_run import unhooked

    if times is None:
        raise invalid_input(f"{'--live' if live else '--jobs'} goes with --times", hint="say how often: --times 5")
    with progress_of("running" if live else "replaying") as progress:
        found = examine(
            recording,
            started,
            times,
            live=live,
            trials=Trials(jobs=checked_jobs(jobs)),
            progress=progress,
            settings=settings,
        )
    if not found.hooked:
        narrate_error(unhooked(started))
    if as_json:
        console.ascii_text(json_text(found.to_json()) + "\n")
    else:
        _print(found)
    if found.interrupted:
        console.narrate("interrupted: the runs that had not ended were stopped, and count for nothing")
        return exit_codes.INTERRUPTED
    return exit_codes.OK if found.same else exit_codes.DIFFERENT


def _print(found: Diagnosis) -> None:
    console.line(Styled(found.summary(), "bold" if found.same else "error"))
    for difference in found.differences[:_SHOWN]:
        _print_difference(difference, live=found.live)
    more = len(found.differences) - _SHOWN
    if more > 0:
        console.line(f"and {more:,} more places")
    for message in found.unhooked[:_SHOWN]:
        console.narrate(Styled("note: ", "warning"), f"went past the hooks while recorded: {message}")


def _print_difference(difference: Difference, *, live: bool) -> None:
    where = difference.site or {"stdout": "stdout", "exitCode": "exit code"}.get(difference.part, "no known place")
    name = "" if difference.part == "exitCode" else f"  {difference.name}"
    runs = f"  run {run_numbers(difference.runs)}" if difference.runs else ""
    room = console.width() - 2
    console.line(Styled(clip(where, room // 2), "bold"), clip(name, room // 3) and f"  {clip(name, room // 3)}", runs)
    if difference.pointer is not None:
        console.line(f"  {clip(difference.pointer, room) or 'the whole input'}")
    first, other = ("one run", "another") if live or difference.part != "call" else ("recorded", "this run")
    for label, text in ((first, difference.before), (other, difference.after)):
        said = "(nothing)" if text is None else text
        console.line(f"    {label + ':':{_LABEL}} {clip(said, room - _LABEL - 4)}")
    for lead, text in (("looks like: ", difference.cause.what), ("to pin it:  ", difference.cause.pin)):
        for number, line in enumerate(_wrapped(text, room - len(lead))):
            console.line("  ", Styled(lead, "dim") if not number else " " * len(lead), line)


def _wrapped(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, max(width, 20), break_on_hyphens=False)
