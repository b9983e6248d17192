"""Looking into recordings made from sessions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.conversation import Conversation, conversation_of
from stashdbg_core.session.summary import outcome_word
from stashdbg_core.session.usage import Usage, usage_steps


def main_counts(recording: Recording) -> tuple[int, int, int]:
    """Return how many model calls, tool calls and failures the file itself tells of, its sub-agents left out."""
    return tuple_counts(event for event in recording.events if event.thread is None)


def tuple_counts(events: Iterable[RecordedEvent]) -> tuple[int, int, int]:
    """Return how many model calls, tool calls and failures there are; a pending call is no failure."""
    listed = list(events)
    failed = [event for event in listed if outcome_word(event) == "threw"]
    return (*(sum(event.channel == name for event in listed) for name in ("llm", "tool")), len(failed))  # type: ignore[return-value]


def written(path: Path, records: Iterable[object], end: str = "\n") -> Path:
    """Write records as lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(record) for record in records) + end, encoding="utf-8")
    return path


def opened(path: Path, records: Iterable[object]) -> Recording:
    """Return what is read of records written as lines."""
    return read_foreign(written(path, records))


def of_channel(recording: Recording, channel: str, thread: str | None = None) -> list[RecordedEvent]:
    """Return the events of a channel in one lane."""
    return [event for event in recording.events if event.channel == channel and event.thread == thread]


def called(recording: Recording, call_id: str) -> RecordedEvent:
    """Return the event of a call id."""
    return next(event for event in recording.events if event.call_id == call_id)


def value(recording: Recording, event: RecordedEvent) -> Any:
    """Return what an event returned or threw."""
    return recording.blobs.tree(event.ref)


def given(recording: Recording, event: RecordedEvent) -> Any:
    """Return the input of an event."""
    assert event.input_ref is not None
    return recording.blobs.tree(event.input_ref)


def chat(recording: Recording, event: RecordedEvent) -> Conversation:
    """Return a model call as the screen shows it."""
    found = conversation_of(recording, event)
    assert found is not None
    return found


def total_usage(recording: Recording) -> Usage:
    """Return the tokens of a run, as ``stashdbg stats`` adds them up."""
    steps = usage_steps(recording)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value.total  # type: ignore[no-any-return]


def marked(recording: Recording, name: str) -> list[int]:
    """Return which events carry a mark."""
    return [event.seq for event in recording.events if name in event.extra]
