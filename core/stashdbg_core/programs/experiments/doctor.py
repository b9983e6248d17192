"""Whether a program does the same each time: several runs of it side by side, and what differs by call site.

Replayed, every answer is the recorded one, so whatever still differs comes from the program and its machine. Run for
real (``live``), what the outside world says may differ too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from stashdbg_core.calls import MEASURED_CHANNELS
from stashdbg_core.canonical import Json
from stashdbg_core.diff import NOTHING, FieldChange, diff_recordings
from stashdbg_core.diff.preview import preview
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.programs.experiments.parting import parted
from stashdbg_core.programs.experiments.pins import CAUSES, Cause, cause_of
from stashdbg_core.programs.experiments.trials import Outcome, Progress, Settings, Trial, Trials
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.runs.counts import UNHOOKED
from stashdbg_core.programs.runs.replaying_run import REFUSED
from stashdbg_core.replay.divergence import Divergence
from stashdbg_core.session.words import counted
from stashdbg_core.store.open import open_recording

MOST_RUNS = 1000
_SHOWN = 160


@dataclass(slots=True)
class Difference:
    """Something that is not the same in every run, or not as recorded."""

    part: str
    """``call``, ``stdout`` or ``exitCode``."""
    site: str | None
    """``file:line function`` of a call."""
    name: str
    """Channel and key of a call; a line of output, by number."""
    pointer: str | None
    """The field of the example; None where there is no such field."""
    before: str | None
    """Example: what was recorded, or what the first run did."""
    after: str | None
    """Example: what a run did instead."""
    runs: list[int] = field(default_factory=list)
    """Numbers of the runs that differ here."""
    count: int = 0
    """How many calls differ here, over all runs."""
    seen: set[str] = field(default_factory=set)
    """What runs did here instead."""
    cause: Cause = CAUSES["path"]

    def to_json(self) -> dict[str, Json]:
        """Return the difference as JSON."""
        return {
            "part": self.part,
            "site": self.site,
            "call": self.name,
            "pointer": self.pointer,
            "before": self.before,
            "after": self.after,
            "runs": list(self.runs),
            "count": self.count,
            "cause": self.cause.kind,
            "what": self.cause.what,
            "pin": self.cause.pin,
        }


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What several runs of one program have in common."""

    times: int
    """Runs that are over."""
    live: bool
    """Whether they were real ones, not replays."""
    stdout_same: bool
    exit_codes: tuple[int, ...]
    """Of every run."""
    calls_same: bool
    """Whether all runs made the calls that were recorded; of live runs, those of the first."""
    differences: tuple[Difference, ...]
    unhooked: tuple[str, ...] = ()
    """Connections that went past the hooks while it was recorded."""
    interrupted: bool = False
    hooked: bool = True
    """Whether the program loaded the hooks in every run."""

    @property
    def same(self) -> bool:
        """Whether every run did the same, and what was recorded."""
        return self.hooked and self.stdout_same and self.calls_same and len(set(self.exit_codes)) == 1

    def to_json(self) -> dict[str, Json]:
        """Return the diagnosis as JSON with stable keys."""
        return {
            "runs": self.times,
            "live": self.live,
            "same": self.same,
            "stdoutSame": self.stdout_same,
            "exitCodeSame": len(set(self.exit_codes)) == 1,
            "callsSame": self.calls_same,
            "exitCodes": list(self.exit_codes),
            "differences": [difference.to_json() for difference in self.differences],
            "unhooked": list(self.unhooked),
            "interrupted": self.interrupted,
            "exitCode": 0 if self.same else 1,
        }

    def summary(self) -> str:
        """Return the result in a line."""
        kind = "real run" if self.live else "replay"
        if not self.times:
            return f"no {kind} came to its end"
        runs = counted(self.times, kind)
        if not self.hooked:
            return f"{runs}: no Python loaded the hooks"
        if self.same:
            return f"{runs}, the same each time: stdout, exit code, calls"
        parts = [
            ("stdout", self.stdout_same),
            ("exit code", len(set(self.exit_codes)) == 1),
            ("calls", self.calls_same),
        ]
        same = [name for name, is_same in parts if is_same]
        differ = [name for name, is_same in parts if not is_same]
        said = f"{runs}: {' and '.join(differ)} {'differs' if len(differ) == 1 else 'differ'}"
        return f"{said}; {' and '.join(same)} the same" if same else said


def examine(
    recording: Recording,
    command: Command,
    times: int,
    *,
    live: bool = False,
    trials: Trials | None = None,
    progress: Progress | None = None,
    settings: Settings = Settings(),
) -> Diagnosis:
    """Run a program several times and say what differs.

    Args:
        recording: What is replayed; lies in a file.
        command: What is run.
        times: How often, 2 at least.
        live: Run it for real and record it each time, in place of replaying.
        trials: What makes the runs, in threads here by default, and stops them from another thread.
        progress: Told how many runs are over.
        settings: How calls are compared and masked.

    Raises:
        StashError: It cannot be run so.
    """
    if not 2 <= times <= MOST_RUNS:
        raise invalid_input(f"runs are compared with each other: 2 to {MOST_RUNS:,} of them", hint="give --times 5")
    if recording.path is None:
        raise invalid_input("several runs need a recording that lies in a file", hint="write it first")
    runner = trials or Trials()
    base = Trial("record" if live else "replay", recording.path, command, settings=settings)
    with tempfile.TemporaryDirectory(prefix="stashdbg-") as folder:
        made = [replace(base, path=Path(folder, f"run-{at}.json") if live else None) for at in range(times)]
        outcomes = [outcome for outcome in runner.run(made, progress) if not outcome.killed]
        calls = list(_live_differences(outcomes) if live else _replay_differences(outcomes))
    return _diagnosis(recording, outcomes, calls, live=live, interrupted=runner.interrupted)


def _diagnosis(
    recording: Recording, outcomes: Sequence[Outcome], calls: Sequence[Difference], *, live: bool, interrupted: bool
) -> Diagnosis:
    return Diagnosis(
        times=len(outcomes),
        live=live,
        stdout_same=len({outcome.stdout.digest for outcome in outcomes}) == 1,
        exit_codes=tuple(outcome.result.exit_code for outcome in outcomes),
        calls_same=not calls,
        differences=(*calls, *_output_differences(outcomes), *_exit_differences(outcomes)),
        unhooked=_unhooked(recording),
        interrupted=interrupted,
        hooked=all(outcome.result.hooked for outcome in outcomes),
    )


def _replay_differences(outcomes: Sequence[Outcome]) -> Iterator[Difference]:
    """Yield what replays did that was not recorded, by call site and by what it looks like."""
    found: dict[tuple[str | None, str, str], Difference] = {}
    for outcome in outcomes:
        report = outcome.result.report
        for divergence in report.divergences if report is not None else ():
            made = _of_divergence(divergence)
            known = found.setdefault((made.site, made.name, made.cause.kind), made)
            _count(known, outcome.number, _did(divergence))
    for difference in found.values():
        every = difference.runs == [outcome.number for outcome in outcomes]
        alike = difference.count == len(outcomes) * len(difference.seen)
        if every and alike and difference.cause.kind != "connection":
            difference.cause = CAUSES["changed"]
        yield difference


def _of_divergence(divergence: Divergence) -> Difference:
    """Return a divergence as a difference, with the field by which the call differs from the nearest recorded one."""
    name = f"{divergence.channel} {divergence.key}"
    changes = divergence.changes or (divergence.nearest[0].changes if divergence.nearest else ())
    if changes:
        before, after = changes[0].recorded, changes[0].live
        cause = cause_of(before, after)
        if before is not None and after is not None:
            before, after = parted(before, after)
        return Difference("call", divergence.site, name, changes[0].pointer, before, after, cause=cause)
    if divergence.channel == REFUSED:
        return Difference("call", divergence.site, name, None, None, divergence.reason, cause=CAUSES["connection"])
    if divergence.kind == "missing-call":
        return Difference("call", divergence.site, name, None, f"seq {divergence.seq}, made", "never made")
    return Difference("call", divergence.site, name, None, None, divergence.reason)


def _did(divergence: Divergence) -> str:
    """Return what a run did, to be told from what another one did."""
    changes = divergence.changes or (divergence.nearest[0].changes if divergence.nearest else ())
    return f"{divergence.kind} {divergence.channel} {divergence.ordinal} {changes[0].live if changes else ''}"


def _count(difference: Difference, number: int, seen: str) -> None:
    difference.count += 1
    difference.seen.add(seen)
    if number not in difference.runs:
        difference.runs.append(number)


def _live_differences(outcomes: Sequence[Outcome]) -> Iterator[Difference]:
    """Yield what real runs did otherwise than the first, by call site."""
    recordings = [(o.number, open_recording(o.result.path)) for o in outcomes if o.result.path is not None]
    found: dict[tuple[str | None, str], Difference] = {}
    for number, other in recordings[1:]:
        result = diff_recordings(recordings[0][1], other)
        for row in result.differing:
            event = result.event_a(row) or result.event_b(row)
            assert event is not None
            if event.channel in MEASURED_CHANNELS or event.parent is not None or row.kind in ("moved", "measured"):
                continue
            name = f"{event.channel} {event.key}"
            changes = result.changes(row, 1)
            made = _of_change(changes[0] if changes else None, event.site, name, added=row.a is None)
            known = found.setdefault((event.site, name), made)
            _count(known, number, str(made.after))
    yield from found.values()


def _of_change(change: FieldChange | None, site: str | None, name: str, *, added: bool) -> Difference:
    if change is None:
        sides = (None, "made") if added else ("made", None)
        return Difference("call", site, name, None, *sides)
    before, after = (None if side is NOTHING else preview(side, _SHOWN) for side in (change.before, change.after))
    pointer = f"{change.part} {change.pointer}".rstrip()
    cause = cause_of(before, after) if change.part == "input" else CAUSES["outside"]
    return Difference("call", site, name, pointer, before, after, cause=cause)


def _output_differences(outcomes: Sequence[Outcome]) -> Iterator[Difference]:
    """Yield the first line of output that is not the same in all runs."""
    first = outcomes[0] if outcomes else None
    if first is None:
        return
    others = [outcome for outcome in outcomes[1:] if outcome.stdout.digest != first.stdout.digest]
    if not others:
        return
    lines, theirs = first.stdout.lines, others[0].stdout.lines
    at = next((at for at, pair in enumerate(zip(lines, theirs, strict=False)) if pair[0] != pair[1]), None)
    if at is None and len(lines) != len(theirs):
        at = min(len(lines), len(theirs))
    if at is None:
        yield Difference("stdout", None, f"after its first {len(first.stdout.head):,} bytes", None, None, None)
        return
    before, after = (found[at][:_SHOWN] if at < len(found) else None for found in (lines, theirs))
    numbers = [outcome.number for outcome in others]
    whole = "\n".join(lines), "\n".join(theirs)
    cause = CAUSES["order"] if sorted(lines) == sorted(theirs) and lines != theirs else cause_of(before, after)
    cause = cause if before is not None and after is not None else cause_of(*whole)
    yield Difference("stdout", None, f"line {at + 1}", None, before, after, numbers, len(numbers), cause=cause)


def _exit_differences(outcomes: Sequence[Outcome]) -> Iterator[Difference]:
    first = outcomes[0].result.exit_code if outcomes else 0
    others = [outcome for outcome in outcomes if outcome.result.exit_code != first]
    if others:
        numbers = [outcome.number for outcome in others]
        yield Difference(
            "exitCode", None, "exit code", None, str(first), str(others[0].result.exit_code), numbers, len(numbers)
        )


def _unhooked(recording: Recording) -> tuple[str, ...]:
    notes = recording.meta.get("notes")
    return tuple(
        note["message"]
        for note in (notes if isinstance(notes, list) else ())
        if isinstance(note, dict) and note.get("kind") == UNHOOKED and isinstance(note.get("message"), str)
    )
