"""A journal that grows is read on where reading stopped, and is what reading it whole gives."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.debugger import Debugger
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_record import encode_event
from stashdbg_core.store.journal_growth import read_growth
from stashdbg_core.store.journal_pack import pack
from stashdbg_core.store.journal_read import read_journal
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.source import BytesSource, FileSource

HEADER = b'{"stash":"journal","version":1,"id":"run 1","meta":{"producer":{"name":"t"}}}\n'
ODD_LINES = [
    b"garbage\n",
    b'{"event":{"seq":"x","channel":"tool","key":"k","ordinal":0,"outcome":"return","ref":"r"}}\n',
    b'{"event":{"seq":40,"channel":"tool","key":"k","ordinal":40,"outcome":"gave up","ref":"gone"}}\n',
    b'{"meta":{"note":"seen"}}\n',
    b'{"event":{"seq":3,"channel":"tool","key":"k","ordinal":9,"outcome":"return","ref":"elsewhere","ms":1e400}}\n',
]


def call(seq: int, text: str = "", **fields: object) -> bytes:
    """Return the lines of a call as a journal holds them."""
    blobs = BlobStore()
    ref = blobs.put({"n": seq, "text": text})
    from stashdbg_core.model import RecordedEvent

    event = RecordedEvent(seq, "tool", f"k{seq % 3}", seq // 3, "return", ref, at=1000.0 + seq, thread=f"t{seq % 2}")
    line = encode_event(event.replaced(**fields))
    return b'{"blob":"%b","value":%b}\n{"event":%b}\n' % (ref.encode(), blobs.payload(ref).raw, line)


def facts(recording: Recording) -> object:
    """Return all that a recording says."""
    events, blobs = recording.events, recording.blobs
    return (
        recording.id,
        list(events),
        [(events.channel_at(i), events.key_at(i)) for i in range(len(events))],
        [(events.thread_at(i), events.parent_at(i), events.ms_at(i)) for i in range(len(events))],
        [events.position_of(event.seq) for event in events],
        {ref: blobs.payload(ref) for ref in blobs.refs()},
        [blobs.payload(event.ref).state for event in events],
        dict(recording.meta),
        sorted(map(repr, recording.notes)),
        recording.complete,
    )


def test_from_every_cut_on_it_is_what_reading_it_whole_gives() -> None:
    order = [0, 3, 1, 2, 7, 5, 6, 4, 8]
    calls = [call(seq, parent=seq - 1) if seq in (5, 6) else call(seq) for seq in order]
    data = HEADER + b"".join(calls) + b'{"meta":{"complete":true}}\n'
    whole = facts(read_journal(BytesSource(data)))
    for cut in range(len(HEADER), len(data), 7):
        middle = (cut + len(data)) // 2
        recording: Recording | None = read_journal(BytesSource(data[:cut]))
        for end in (middle, len(data)):
            recording = read_growth(recording, BytesSource(data[:end]))
            assert recording is not None, (cut, end)
            assert facts(recording) == facts(read_journal(BytesSource(data[:end]))), (cut, end)
        assert facts(recording) == whole, cut


@pytest.mark.parametrize("line", ODD_LINES, ids=range(len(ODD_LINES)))
def test_odd_lines_are_noted_as_when_read_whole(line: bytes) -> None:
    first = HEADER + call(0) + line + call(2) + call(1)
    data = first + line.replace(b"40", b"41") + call(5) + line.replace(b"40", b"42") + call(4)
    recording = read_growth(read_journal(BytesSource(first)), BytesSource(data))
    assert recording is not None
    kept = [note for note in recording.notes if not note.kind.startswith("ordinal")]
    whole = [note for note in read_journal(BytesSource(data)).notes if not note.kind.startswith("ordinal")]
    assert sorted(map(repr, kept)) == sorted(map(repr, whole))


def test_what_was_read_before_stays_as_it_was() -> None:
    data = HEADER + b"".join(map(call, (0, 4, 2)))
    before = read_journal(BytesSource(data))
    told = facts(before)
    grown = read_growth(before, BytesSource(data + call(1) + call(3)))
    assert [event.seq for event in grown.events] == [0, 1, 2, 3, 4]
    assert facts(before) == told
    assert facts(read_growth(before, BytesSource(data + call(5)))) == facts(read_journal(BytesSource(data + call(5))))


def test_what_new_bytes_alone_do_not_tell_is_left_to_a_whole_reading() -> None:
    data = HEADER + call(0) + call(1)
    blob, event = call(7).splitlines(keepends=True)
    lacking = read_journal(BytesSource(data + event))
    recording = read_journal(BytesSource(data))
    assert read_growth(recording, BytesSource(HEADER + call(2) + call(3))) is None
    assert read_growth(recording, BytesSource(data[:-20])) is None
    assert read_growth(recording, BytesSource(data + call(0).splitlines()[0] + b"\n")) is None
    assert read_growth(lacking, BytesSource(data + event + blob)) is None
    with pytest.raises(StashError, match="events"):
        read_growth(read_journal(BytesSource(data), Limits(events=2)), BytesSource(data + call(2)))


def test_only_new_bytes_are_read_however_long_the_journal_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json.journal"
    seqs = list(range(400))
    random.Random(3).shuffle(seqs)
    path.write_bytes(HEADER + b"".join(call(seq, "x" * 500) for seq in seqs))
    debugger = Debugger(open_recording(path))
    debugger.jump(399)
    sizes: list[int] = []
    read_at = FileSource.read_at

    def counted(source: FileSource, offset: int, length: int) -> bytes:
        found = read_at(source, offset, length)
        sizes.append(len(found))
        return found

    monkeypatch.setattr(FileSource, "read_at", counted)
    for seq in range(400, 430, 3):
        new = call(seq + 1) + call(seq + 2) + call(seq)
        with path.open("ab") as file:
            file.write(new)
        sizes.clear()
        assert debugger.refresh() == 3
        assert sum(sizes) <= 2048 + 2 * len(new), (seq, sizes)
        assert debugger.count == seq + 3
    monkeypatch.undo()
    assert debugger.event.seq == 399
    assert [event.seq for event in debugger.recording.events] == list(range(430))


def test_a_file_that_was_replaced_is_read_whole_and_a_packed_one_followed(tmp_path: Path) -> None:
    path = tmp_path / "run.json.journal"
    path.write_bytes(HEADER + call(0) + call(1))
    debugger = Debugger(open_recording(path))
    path.write_bytes(HEADER + call(0, "another") + call(1) + call(2))
    assert (debugger.refresh(), debugger.recording.blobs.tree(debugger.event.ref)["text"]) == (1, "another")
    path.write_bytes(HEADER + call(0))
    assert (debugger.refresh(), debugger.count) == (-2, 1)
    other = tmp_path / "other"
    other.write_bytes(HEADER + call(0) + call(1))
    os.replace(other, path)
    assert debugger.refresh() == 1
    with path.open("ab") as file:
        file.write(call(2) + b'{"meta":{"complete":true}}\n')
    pack(path, tmp_path / "run.json")
    assert (debugger.refresh(), debugger.count, debugger.recording.complete) == (1, 3, True)
    assert debugger.recording.path == tmp_path / "run.json"
    assert debugger.refresh() == 0
