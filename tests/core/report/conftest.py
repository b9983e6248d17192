"""A run with three lanes, a secret, a home folder and a call that never finished."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.report import Person
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList

NOW = datetime(2026, 11, 30, 12, 0, 1, tzinfo=UTC)
HOME = "/tmp/jane.doe-ACME"
KEY = "sk-" + "ant-api03-" + "Ab3" * 12
PENDING = {"$stash": "pending"}
JANE = Person((HOME,), ("jane.doe",))


def recording_of(calls: list[dict[str, Any]], recording_id: str = "run-1", **meta: Any) -> Recording:
    """A recording; each call is an event's attributes with ``value`` and ``input`` instead of references."""
    blobs, events = BlobStore(), []
    counts: dict[tuple[str, str], int] = {}
    for seq, call in enumerate(calls):
        facts = {"channel": "tool", "key": "search", "outcome": "return", "at": 1760000000000.0 + seq, **call}
        identity = facts["channel"], facts["key"]
        counts[identity] = counts.get(identity, -1) + 1
        value, given = facts.pop("value", None), facts.pop("input", None)
        event = RecordedEvent(seq=seq, ordinal=counts[identity], ref=blobs.put(value), **facts)
        events.append(event if given is None else event.replaced(input_ref=blobs.put(given)))
    return Recording(recording_id, EventList(events), blobs, RawObject.of({"complete": True, **meta}))


def chat(question: str, reply: str, **more: Any) -> dict[str, Any]:
    """A model call."""
    return {
        "channel": "llm",
        "key": "model-x",
        "input": {"messages": [{"role": "user", "content": question}]},
        "value": {"choices": [{"message": {"role": "assistant", "content": reply}}]},
        **more,
    }


def lanes_run() -> Recording:
    """Two agents and a main lane; ``alice`` is the one to leave out."""
    return recording_of(
        [
            chat("plan the day", "I ask alice and bob", value=None),
            chat("alice-question", "alice-reply", thread="alice", label="alice-label"),
            {"key": "alice-tool", "thread": "alice", "value": {"alice_key_name": 1}, "input": {"q": "alice-argument"}},
            chat("bob-question", "bob-reply", thread="bob"),
            {
                "key": "lookup",
                "thread": "bob",
                "value": {"path": f"{HOME}/secret-project/x"},
                "input": {"api_key": KEY},
            },
            {"key": "slow", "thread": "bob", "outcome": "throw", "value": PENDING, "input": {"city": "paris"}},
        ],
        exception={"class": "Error", "text": "alice-exception"},
        about="alice-meta",
    )


@pytest.fixture
def lanes() -> Recording:
    return lanes_run()


@pytest.fixture
def names_in() -> Callable[[bytes], list[str]]:
    """The names of what ``alice`` did that stand in some bytes."""

    def found(data: bytes) -> list[str]:
        return [word for word in ("alice", "conv-2") if word.encode() in data]

    return found
