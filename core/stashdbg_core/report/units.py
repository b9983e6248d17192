"""What can be chosen for a report: the conversations of each run, and the files made from what is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.calls import MODEL_CHANNELS
from stashdbg_core.canonical import Json
from stashdbg_core.model import THROW, EventSequence, RecordedEvent, Recording
from stashdbg_core.session.summary import outcome_word
from stashdbg_core.session.words import counted

_OTHERS = "other lanes"
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
    """Of its file: a conversation's if it is the only one of its run, a derived file's if everything is chosen."""
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
class Conversation:
    """Calls of a run that belong together."""

    unit_id: str
    positions: tuple[int, ...]
    """Indices of its events in the recording."""
    label: str
    failed: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class Run:
    """A masked recording and its conversations."""

    file: str
    recording: Recording
    conversations: tuple[Conversation, ...]

    def chosen(self, ids: Iterable[str]) -> tuple[Conversation, ...]:
        """Return the conversations with these unit ids."""
        wanted = set(ids)
        return tuple(found for found in self.conversations if found.unit_id in wanted)


def runs_of(recordings: Sequence[Recording]) -> list[Run]:
    """Return the runs, their conversations numbered through in order of first appearance."""
    runs: list[Run] = []
    number = 0
    for place, recording in enumerate(recordings, 1):
        conversations = []
        for name, positions in _groups(recording.events).items():
            number += 1
            conversations.append(_conversation(f"conv-{number}", recording, name, positions))
        file = "recording.json" if len(recordings) == 1 else f"recordings/run-{place}.json"
        runs.append(Run(file, recording, tuple(conversations)))
    return runs


def is_in_flight(event: RecordedEvent) -> bool:
    """Tell whether a call had not finished when the recording ended."""
    return outcome_word(event) == "pending"


def _groups(events: EventSequence) -> dict[str, list[int]]:
    """Return indices of events by what they are called together.

    Every lane that calls a model is a conversation, with the calls made during its calls; if there is at most one, the
    run is. Whatever cannot be told to belong to one of several, such as the threads of a pool, stays together.
    """
    lanes = dict.fromkeys(event.thread for event in events if event.channel in MODEL_CHANNELS)
    if len(lanes) < 2:
        return {"": list(range(len(events)))}
    names = {lane: "main lane" if lane is None else f"lane {lane[:60]}" for lane in lanes}
    groups: dict[str, list[int]] = {}
    group_of: dict[int, str] = {}
    for position, event in enumerate(events):
        name = names.get(event.thread)
        if name is None:
            name = _OTHERS if event.parent is None else group_of.get(event.parent, _OTHERS)
        group_of.setdefault(event.seq, name)
        groups.setdefault(name, []).append(position)
    return groups


def _conversation(unit_id: str, recording: Recording, name: str, positions: list[int]) -> Conversation:
    events = [recording.events[position] for position in positions]
    in_flight = sum(map(is_in_flight, events))
    failed = sum(event.outcome == THROW for event in events) - in_flight
    facts = [counted(len(events), "event")]
    facts += [f"{failed:,} failed"] if failed else []
    facts += [f"{in_flight:,} never finished"] if in_flight else []
    where = ", ".join(part for part in (recording.id[:60] or "(no id)", name) if part)
    return Conversation(unit_id, tuple(positions), f"{where}: {', '.join(facts)}", failed, in_flight)
