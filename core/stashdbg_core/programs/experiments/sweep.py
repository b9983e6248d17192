"""One fork run many times: with other values at its point, or as it is; and which of the runs ended alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.fork import fork_with, plan_fork
from stashdbg_core.model import Recording
from stashdbg_core.programs.experiments.endings import EndGroup, RunEnd, grouped, run_end
from stashdbg_core.programs.experiments.trials import Outcome, Progress, Settings, Trial, Trials, run_folder
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.runs.continuing_run import Name
from stashdbg_core.programs.runs.preview import Preview, preview
from stashdbg_core.programs.runs.trust import remember_fork
from stashdbg_core.session.fork_edit import start_edit
from stashdbg_core.session.words import counted
from stashdbg_core.store.writer import write_recording

MOST_RUNS = 10_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sweep will run."""

    recording: Recording
    command: Command
    values: tuple[Json, ...]
    """What takes the place of the outcome at the fork point, one after the other; empty: the fork as it is."""
    times: int
    """How often each is run."""
    preview: Preview
    """What one run serves and lets go live."""

    @property
    def total(self) -> int:
        """How many runs there will be."""
        return max(len(self.values), 1) * self.times

    @property
    def live_calls(self) -> int:
        """How many calls run for real in all, if the program does as in the parent; see ``Preview.source``."""
        return self.total * sum(count for _, _, count in self.preview.live)

    def lines(self) -> list[str]:
        """Return the preview for people, unsanitised."""
        lines = [*self.preview.lines(), f"that {self.total:,} times: {self._cases()}"]
        if self.preview.source == "parent":
            lines.append(f"in all {counted(self.live_calls, 'live call')}, if each run does as the parent")
        return lines

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON."""
        live = self.live_calls if self.preview.source == "parent" else None
        return {**self.preview.to_json(), "runs": self.total, "liveCalls": live}

    def _cases(self) -> str:
        if not self.values:
            return "the fork as it is"
        each = f", {self.times:,} times each" if self.times > 1 else ""
        return counted(len(self.values), "value") + each


@dataclass(frozen=True, slots=True)
class Sweep:
    """What came of a sweep."""

    plan: Plan
    folder: Path
    runs: tuple[RunEnd, ...]
    interrupted: bool

    @property
    def groups(self) -> list[EndGroup]:
        """Runs that ended alike together, the largest group first."""
        return grouped(self.runs)

    def value_of(self, number: int) -> int | None:
        """Return which value a run had, by position; None if the fork was run as it is."""
        return (number - 1) // self.plan.times if self.plan.values else None

    def to_json(self) -> dict[str, Json]:
        """Return the sweep as JSON."""
        return {
            "runs": [{**run.to_json(), "value": self.value_of(run.number)} for run in self.runs],
            "groups": [group.to_json() for group in self.groups],
            "values": list(self.plan.values),
            "planned": self.plan.total,
            "interrupted": self.interrupted,
            "folder": str(self.folder),
        }


def plan_sweep(
    recording: Recording,
    command: Command,
    *,
    values: Sequence[Json] = (),
    times: int = 1,
    rerun: Sequence[Name] = (),
    filled: Sequence[str] = (),
) -> Plan:
    """Return what a sweep will run, each value checked against what it takes the place of.

    Args:
        recording: The fork; lies in a file.
        command: What is run.
        values: Trees that take the place of the outcome at the fork point.
        times: How often each is run.
        rerun: Calls that run for real although they are recorded.
        filled: Placeholders that secrets fill in.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: a value does not fit, the recording is no fork that has an outcome put in,
            or there would be no runs, or too many.
    """
    if times < 1 or max(len(values), 1) * times > MOST_RUNS:
        raise invalid_input(f"a sweep has 1 to {MOST_RUNS:,} runs", hint="give fewer values, or another --times")
    if values:
        _checked(recording, values)
    return Plan(recording, command, tuple(values), times, preview(recording, command, rerun=rerun, filled=filled))


def sweep(
    plan: Plan,
    folder: Path,
    *,
    trials: Trials | None = None,
    progress: Progress | None = None,
    settings: Settings = Settings(),
) -> Sweep:
    """Run a sweep; every run's recording, and the fork of every value, is kept.

    Args:
        plan: What is run.
        folder: Where the files go; it is made if it is not there.
        trials: What makes the runs, in threads here by default, and stops them from another thread.
        progress: Told how many runs are over.
        settings: How calls are compared, served and masked.

    Raises:
        StashError: A file cannot be written, or the program cannot be run.
    """
    if plan.recording.path is None:
        raise invalid_input("a sweep needs a fork that lies in a file", hint="write it first")
    runner = trials or Trials()
    with run_folder(folder):
        files = _written(plan, folder)
        base = Trial("continue", plan.recording.path, plan.command, settings=settings)
        wide = len(str(plan.total))
        made = [
            replace(base, file=files[at // plan.times], path=folder / f"run-{at + 1:0{wide}}.json")
            for at in range(plan.total)
        ]
        ends = [run_end(outcome) for outcome in runner.run(made, progress) if _counts(outcome)]
    return Sweep(plan, folder, tuple(ends), runner.interrupted)


def _counts(outcome: Outcome) -> bool:
    """Tell whether a run came to anything before it was stopped."""
    return outcome.result.hooked or not outcome.killed


def _point(recording: Recording) -> int:
    """Return the position of the event whose outcome was put in by hand."""
    about: Any = recording.meta.get("fork")
    at = about.get("at") if isinstance(about, dict) else None
    position = recording.events.position_of(at) if type(at) is int else None
    if position is None:
        raise invalid_input(
            "values take the place of an outcome, and this recording is no fork that puts one in",
            hint="make one with stashdbg fork FILE --at SEQ --set JSON, or leave --set and --values out",
        )
    return position


def _checked(recording: Recording, values: Sequence[Json]) -> None:
    edit = start_edit(recording, _point(recording))
    for value in values:
        edit.override(value)


def _written(plan: Plan, folder: Path) -> list[Path]:
    """Write the fork of every value; without values, the fork itself is what runs."""
    recording = plan.recording
    assert recording.path is not None
    if not plan.values:
        return [recording.path]
    edit = start_edit(recording, _point(recording))
    files = []
    for number, value in enumerate(plan.values, 1):
        branch = fork_with(recording, plan_fork(recording, edit.event.seq, overridden=True), edit.override(value))
        name = folder / f"fork-{number:0{len(str(len(plan.values)))}}.json"
        files.append(write_recording(branch, name))
        remember_fork(recording.path, files[-1])
    return files
