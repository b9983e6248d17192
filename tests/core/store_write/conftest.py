"""Recordings for these tests, made of real parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList


def chat_recording(turns: int, **meta: Any) -> Recording:
    """Return a chat whose input grows by a message of 300 characters a turn."""
    blobs, events, messages = BlobStore(), list[RecordedEvent](), list[dict[str, str]]()
    for turn in range(turns):
        messages.append({"role": "user", "content": f"{turn} " + "x" * 300})
        input_ref = blobs.put({"model": "m", "messages": messages})
        ref = blobs.put({"text": f"answer {turn}"})
        outcome = "throw" if turn % 10 == 9 else "return"
        thread = "w1" if turn % 4 == 3 else None
        events.append(
            RecordedEvent(turn, "llm", "chat", turn, outcome, ref, input_ref, 1000.0 + turn, thread=thread, ms=0.5)
        )
    return Recording("chat", EventList(events), blobs, RawObject.of(meta))


def same(one: Recording, other: Recording) -> bool:
    """Tell whether two recordings hold equal events, values, meta and unknown keys."""
    refs = list(one.blobs.refs())
    return (
        one.id == other.id
        and list(one.events) == list(other.events)
        and sorted(refs) == sorted(other.blobs.refs())
        and all(one.blobs.payload(ref).raw == other.blobs.payload(ref).raw for ref in refs)
        and one.meta.raw == other.meta.raw
        and one.extra.raw == other.extra.raw
    )


@pytest.fixture(scope="session")
def make_chat() -> Callable[..., Recording]:
    """Makes a chat recording."""
    return chat_recording


@pytest.fixture(scope="session")
def is_same() -> Callable[[Recording, Recording], bool]:
    """Tells whether two recordings hold the same."""
    return same
