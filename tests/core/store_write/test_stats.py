"""A recording in numbers: the same from memory, from a file and from a journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stashdbg_core.canonical import stored_form
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.journal import JournalWriter
from stashdbg_core.store.journal_read import read_journal
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.source import FileSource
from stashdbg_core.store.stats import recording_stats
from stashdbg_core.store.writer import write_recording

MakeChat = Callable[..., Recording]


def test_memory_file_and_journal_agree(tmp_path: Path, make_chat: MakeChat) -> None:
    recording = make_chat(40, complete=True)
    facts = recording_stats(recording).to_json()
    assert facts["channels"] == {"llm": {"events": 40, "throws": 4}}
    assert (facts["events"], facts["throws"], facts["threads"], facts["complete"]) == (40, 4, {"w1": 10}, True)
    assert facts["blobs"] == len(recording.blobs)
    assert facts["bytes"] == sum(len(recording.blobs.payload(ref).raw) for ref in recording.blobs.refs())
    assert facts["durationMs"] == 39.5
    writer = JournalWriter(tmp_path / "j", "chat", {"complete": True})
    blobs = [(ref, recording.blobs.payload(ref).raw) for ref in recording.blobs.refs()]
    for event in recording.events:
        writer.append(blobs, event)
        blobs = []
    writer.close()
    for other in (
        open_recording(write_recording(recording, tmp_path / "run.json")),
        read_journal(FileSource(tmp_path / "j")),
    ):
        found = recording_stats(other).to_json()
        big = [blob["bytes"] for blob in found.pop("biggestBlobs")]
        assert big == [blob["bytes"] for blob in facts["biggestBlobs"]]
        assert found == {key: value for key, value in facts.items() if key != "biggestBlobs"}


def test_what_sharing_saves_is_told(make_chat: MakeChat) -> None:
    recording = make_chat(100)
    stats = recording_stats(recording)
    whole = sum(
        len(stored_form(recording.blobs[ref]))
        for e in recording.events
        for ref in (e.ref, e.input_ref)
        if ref is not None
    )
    assert abs(stats.whole_bytes - whole) < whole * 0.1
    assert stats.bytes * 10 < stats.whole_bytes


def test_a_large_value_is_stored_once_and_named_with_its_event() -> None:
    blobs = BlobStore()
    image = "i" * 3_000_000
    values = ["small", {"result": image}, {"other": [image]}, image, image]
    events = [RecordedEvent(n, "tool", f"k{n}", 0, "return", blobs.put(value)) for n, value in enumerate(values)]
    stats = recording_stats(Recording("r", EventList(events), blobs))
    assert stats.bytes < 3_001_000
    biggest = stats.biggest[0]
    assert (biggest.bytes, biggest.seq, biggest.channel, biggest.key) == (3_000_002, 1, "tool", "k1")


def test_missing_and_hostile_values_are_counted_without_harm() -> None:
    blobs = BlobStore()
    for level in range(300):
        use = b'{"$stash":"ref","ref":"p%d"}' % (level + 1)
        blobs.put_raw(f"p{level}", b"[" + use + b"," + use + b"]")
    blobs.put_raw("p300", b'[{"$stash":"ref","ref":"p299"}]')
    events = [RecordedEvent(0, "c", "k", 0, "throw", "p0", "gone"), RecordedEvent(1, "c", "k", 1, "return", "gone")]
    stats = recording_stats(Recording("r", EventList(events), blobs))
    assert (stats.blobs, stats.events, stats.throws) == (301, 2, 1)
    assert stats.whole_bytes > 10**12
    assert stats.duration_ms is None
