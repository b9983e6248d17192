"""Recordings made of plain calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from stashdbg_core.canonical import Json
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.writer import decode_recording, encode_recording

NO_INPUT = object()


class Call(NamedTuple):
    """One call, as a test writes it."""

    key: str
    input: Any
    value: Any
    channel: str = "tool"
    outcome: str = "return"


def recording_of(calls: Sequence[Call], id: str = "run", start: float = 0.0, **meta: Json) -> Recording:
    """A recording of these calls, in memory."""
    blobs = BlobStore()
    counts: dict[tuple[str, str], int] = {}
    events = []
    for seq, call in enumerate(calls):
        ordinal = counts[call.channel, call.key] = counts.get((call.channel, call.key), -1) + 1
        asked = None if call.input is NO_INPUT else blobs.put(call.input)
        events.append(
            RecordedEvent(
                seq, call.channel, call.key, ordinal, call.outcome, blobs.put(call.value), asked, at=start + seq
            )
        )
    return Recording(id=id, events=EventList(events), blobs=blobs, meta=RawObject.of(meta))


def reread(recording: Recording) -> Recording:
    """The same recording as a file has it: columns instead of events, texts instead of trees."""
    return decode_recording(encode_recording(recording))
