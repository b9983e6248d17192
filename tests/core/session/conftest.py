"""Runs to look into: the demo, and small ones made row by row, in memory and as a file."""

from __future__ import annotations

import pytest

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import open_recording, read_recording
from stashdbg_core.store.writer import encode_recording

PENDING = {"$stash": "pending"}


def build(rows, *, recording_id="run"):
    """Make a recording of rows: channel, key, value, and more fields by name."""
    blobs, events, seen = BlobStore(), [], {}
    for seq, row in enumerate(rows):
        row = dict(row)
        channel, key = row.pop("channel", "tool"), row.pop("key", "k")
        ordinal = seen[channel, key] = seen.get((channel, key), -1) + 1
        value, given = row.pop("value", None), row.pop("input", None)
        ref = content_ref(stored_form(PENDING)) if value is PENDING else blobs.put(value)
        if value is PENDING:
            blobs.put_stored(stored_form(PENDING))
        row.setdefault("outcome", "throw" if value is PENDING else "return")
        input_ref = None if given is None else blobs.put(given)
        events.append(RecordedEvent(seq, channel, key, ordinal, ref=ref, input_ref=input_ref, **row))
    return Recording(recording_id, EventList(events), blobs, RawObject())


@pytest.fixture(params=["memory", "file"])
def make_run(request):
    """Make a run that lies in memory, and once more one that lies in a file."""

    def make(rows, **options):
        recording = build(rows, **options)
        return recording if request.param == "memory" else read_recording(encode_recording(recording).encode())

    return make


@pytest.fixture(scope="session")
def demo(root):
    return open_recording(root / "stashdbg" / "data" / "demo.json")


@pytest.fixture(scope="session")
def pending():
    return PENDING
