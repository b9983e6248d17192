"""What makes reading through a file cheap: blocks read ahead, values in slices, parents in a column."""

from __future__ import annotations

from pathlib import Path

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index_cache import load_index, save_index
from stashdbg_core.store.index_finish import recording_of
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import index_source, open_recording, read_recording
from stashdbg_core.store.read_ahead import ReadAhead
from stashdbg_core.store.source import BytesSource, FileSource
from stashdbg_core.store.writer import write_recording

PARENTS = [None, 0, None, 2, 3, 10**30, -4]


def recording(parents: list[int | None]) -> Recording:
    blobs = BlobStore()
    refs = [blobs.put({"n": seq, "text": "x" * seq}) for seq in range(len(parents))]
    events = [RecordedEvent(seq, "c", "k", seq, "return", refs[seq], parent=parents[seq]) for seq in range(len(refs))]
    return Recording("r", EventList(events), blobs)


def test_any_order_of_reads_gives_the_bytes_that_are_there() -> None:
    data = bytes(range(256)) * 40
    reader = ReadAhead(BytesSource(data), 100)
    for offset, length in [
        (0, 10),
        (10, 10),
        (25, 90),
        (26, 200),
        (0, 3),
        (9_990, 500),
        (10_200, 99),
        (30, 40),
        (5, 0),
    ]:
        assert reader.read_at(offset, length) == data[offset : offset + length]


def test_parents_are_told_without_reading_the_events(tmp_path: Path) -> None:
    events = open_recording(write_recording(recording(PARENTS), tmp_path / "r.json")).events
    assert isinstance(events, FileEvents)
    assert [events.parent_at(index) for index in range(len(events))] == PARENTS
    assert [event.parent for event in events] == PARENTS


def test_parents_survive_the_cached_index(tmp_path: Path) -> None:
    path = write_recording(recording(PARENTS), tmp_path / "r.json")
    source = FileSource(path)
    save_index(index_source(source, Limits()), source, tmp_path / "index")
    index = load_index(source, tmp_path / "index")
    assert index is not None
    events = recording_of(index, source, Limits(), path).events
    assert isinstance(events, FileEvents)
    assert [events.parent_at(at) for at in range(len(events))] == PARENTS


def test_a_recording_without_parents_has_no_column_for_them(tmp_path: Path) -> None:
    events = open_recording(write_recording(recording([None, None]), tmp_path / "r.json")).events
    assert isinstance(events, FileEvents)
    assert [events.parent_at(index) for index in range(2)] == [None, None]
    assert "parent" not in events._columns


def test_every_value_is_read_through_once_and_the_last_of_a_ref_given_twice() -> None:
    ref, other = content_ref(b"1"), content_ref(b"2")
    doc = b'{"version":1,"id":"r","events":[],"blobs":{"%b":7, "%b" : 2,"odd":[1],"%b":1}}'
    blobs = read_recording(doc % (ref.encode(), other.encode(), ref.encode())).blobs
    assert isinstance(blobs, FileBlobs)
    assert [(found, raw) for _, found, raw in blobs.entries()] == [(other, b"2"), ("odd", b"[1]"), (ref, b"1")]


def test_what_a_file_holds_is_what_is_read_through(tmp_path: Path) -> None:
    table = open_recording(write_recording(recording(PARENTS), tmp_path / "r.json")).blobs
    assert isinstance(table, FileBlobs)
    assert {ref: raw for _, ref, raw in table.entries()} == {ref: table.payload(ref).raw for ref in table.refs()}
    assert stored_form(sorted(ref for _, ref, _ in table.entries())) == stored_form(sorted(table.refs()))
