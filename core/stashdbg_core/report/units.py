"""What can be chosen for a report: the lanes of each run, and the files made from what is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.session.summary import outcome_word

UnitKind: TypeAlias = Literal["conversation", "file"]

FILE_UNITS = {
    "file-transcript": ("transcript.txt", "transcript: what models and tools said"),
    "file-narrative": ("narrative.txt", "narrative: a line a call"),
    "file-environment": ("environment.json", "environment: which programs made the recordings"),
}
"""Unit id -> file name and label of what is made from the chosen conversations."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing to include or leave out."""

    id: str
    kind: UnitKind
    label: str
    bytes: int
    """Of its file: a lane's when it is the only one of its run, a derived file's when everything is chosen."""
    file: str
    events: int = 0
    failed: int = 0
    in_flight: int = 0
    """Calls that had not finished when the recording ended."""

    def to_json(self) -> dict[str, Json]:
        """Return the unit as the manifest has it."""
        tree: dict[str, Json] = {"id": self.id, "kind": self.kind, "label": self.label, "bytes": self.bytes}
        if self.kind == "conversation":
            tree |= {"events": self.events, "failed": self.failed, "inFlight": self.in_flight}
        return tree | {"file": self.file}


@dataclass(frozen=True, slots=True)
class Lane:
    """The calls of one lane of a run: one conversation."""

    unit_id: str
    name: str | None
    positions: tuple[int, ...]
    """Indices of its events in the recording."""
    label: str
    failed: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class Run:
    """A masked recording and its lanes."""

    file: str
    recording: Recording
    lanes: tuple[Lane, ...]

    def chosen(self, ids: Iterable[str]) -> tuple[Lane, ...]:
        """Return the lanes with these unit ids."""
        wanted = set(ids)
        return tuple(lane for lane in self.lanes if lane.unit_id in wanted)


def runs_of(recordings: Sequence[Recording]) -> list[Run]:
    """Return the runs, their lanes numbered through in order of first appearance."""
    runs: list[Run] = []
    number = 0
    for place, recording in enumerate(recordings, 1):
        groups: dict[str | None, list[int]] = {}
        for position, event in enumerate(recording.events):
            groups.setdefault(event.thread, []).append(position)
        lanes = []
        for name, positions in (groups or {None: []}).items():
            number += 1
            lanes.append(_lane(f"conv-{number}", recording, name, positions, named=len(groups) > 1))
        file = "recording.json" if len(recordings) == 1 else f"recordings/run-{place}.json"
        runs.append(Run(file, recording, tuple(lanes)))
    return runs


def is_in_flight(event: RecordedEvent) -> bool:
    """Tell whether a call had not finished when the recording ended."""
    return outcome_word(event) == "pending"


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural where it should be."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _lane(unit_id: str, recording: Recording, name: str | None, positions: list[int], *, named: bool) -> Lane:
    events = [recording.events[position] for position in positions]
    in_flight = sum(map(is_in_flight, events))
    failed = sum(event.outcome == THROW for event in events) - in_flight
    where = f"{recording.id[:60] or '(no id)'}{', ' + lane_words(name) if named else ''}"
    facts = [counted(len(events), "event")]
    facts += [f"{failed:,} failed"] if failed else []
    facts += [f"{in_flight:,} never finished"] if in_flight else []
    return Lane(unit_id, name, tuple(positions), f"{where}: {', '.join(facts)}", failed, in_flight)


def lane_words(name: str | None) -> str:
    """Return a lane's name for people."""
    return "main lane" if name is None else f"lane {name[:60]}"
