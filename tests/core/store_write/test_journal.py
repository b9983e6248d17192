"""Journals: whatever ends one, every whole line counts, and nothing raises."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.journal import JournalWriter
from stashdbg_core.store.journal_lines import is_journal
from stashdbg_core.store.journal_pack import pack
from stashdbg_core.store.journal_place import journal_path
from stashdbg_core.store.journal_read import read_journal
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.source import BytesSource, FileSource


class NewBlobs(BlobStore):
    """Values in memory, of which those new since the last call can be had."""

    def drain(self) -> list[tuple[str, bytes]]:
        seen: set[str] = self.__dict__.setdefault("seen", set())
        new = [(ref, self.payload(ref).raw) for ref in self.refs() if ref not in seen]
        seen.update(ref for ref, _ in new)
        return new


def event(seq: int, blobs: BlobStore, value: object, input_value: object = None) -> RecordedEvent:
    """Return an event whose values are in ``blobs``."""
    input_ref = None if input_value is None else blobs.put(input_value)
    return RecordedEvent(seq, "tool", "k", seq, "return", blobs.put(value), input_ref)


def write_journal(path: Path, calls: int = 6) -> list[RecordedEvent]:
    """Write calls that finish in reverse order, values of a growing list among them."""
    blobs, events = NewBlobs(), list[RecordedEvent]()
    writer = JournalWriter(path, "run 1", {"producer": {"name": "t"}})
    for seq in range(calls):
        events.append(event(seq, blobs, {"n": seq}, ["line " + "x" * 700] * (seq + 1)))
    for one in reversed(events):
        writer.append(blobs.drain(), one)
    writer.note({"note": "späť", "complete": True})
    writer.close()
    return events


def read(data: bytes) -> Recording:
    return read_journal(BytesSource(data))


def kinds(recording: Recording) -> list[str]:
    return [note.kind for note in recording.notes]


def test_what_was_written_is_read_in_seq_order(tmp_path: Path) -> None:
    path = journal_path(tmp_path / "run.json")
    events = write_journal(path)
    recording = open_recording(path)
    assert list(recording.events) == events
    assert [recording.blobs[e.input_ref or ""] for e in events] == [["line " + "x" * 700] * (n + 1) for n in range(6)]
    assert (recording.id, recording.meta["note"], recording.complete, kinds(recording)) == ("run 1", "späť", True, [])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert is_journal(path.read_bytes()[:64])


def test_cut_at_any_byte_every_whole_line_is_there(tmp_path: Path) -> None:
    path = tmp_path / "run.json.journal"
    write_journal(path, calls=3)
    data = path.read_bytes()
    for cut in range(len(data)):
        recording = read(data[:cut])
        # A line is whole with its closing bracket; its line end may be missing.
        whole = [line for line in (data[:cut] + b"|").split(b"\n")[:-1] if line]
        last = data[:cut].rsplit(b"\n", 1)[-1]
        if data[cut : cut + 1] == b"\n" and last:
            whole.append(last)
        assert len(recording.events) == sum(line.startswith(b'{"event"') for line in whole), cut
        assert len(recording.blobs) == sum(line.startswith(b'{"blob"') for line in whole), cut
        assert recording.complete is (len(whole) == len(data.splitlines())), cut
        assert ("truncated" in kinds(recording)) == (last not in (b"", *whole)), cut
        for one in recording.events:
            assert recording.blobs.payload(one.ref).state == "ok"


GARBAGE = [b"\x00" * 512, b"garbage", b'{"event":{"seq":', b'{"blob":"x"}', b'{"event":zzz}', b"{}"]


@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_a_damaged_line_costs_itself(tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "j"
    events = write_journal(path)
    lines = path.read_bytes().split(b"\n")
    recording = read(b"\n".join([*lines[:4], garbage, *lines[4:]]))
    assert list(recording.events) == events
    assert kinds(recording) == ["damaged-line"]


def test_a_call_that_never_finished_is_said(tmp_path: Path) -> None:
    blobs = NewBlobs()
    writer = JournalWriter(tmp_path / "j", "x")
    for seq in (4, 1):
        writer.append(blobs.drain(), event(seq, blobs, seq))
    writer.close()
    recording = read_journal(FileSource(tmp_path / "j"))
    assert [e.seq for e in recording.events] == [1, 4]
    assert [(n.kind, n.message) for n in recording.notes if n.kind == "in-flight"] == [
        ("in-flight", "3 calls had started and not finished when the recording ended")
    ]
    assert not recording.complete


def test_a_journal_of_a_newer_version_is_refused() -> None:
    with pytest.raises(StashError, match="version") as caught:
        read(b'{"stash":"journal","version":2,"id":"x","meta":{}}\n')
    assert caught.value.code == ErrorCode.INVALID_RECORDING


def test_an_existing_journal_is_never_written_into(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write_journal(path)
    before = path.read_bytes()
    with pytest.raises(StashError, match="exists"):
        JournalWriter(path, "y")
    assert path.read_bytes() == before
    with pytest.raises(StashError) as caught:
        JournalWriter(tmp_path / "no" / "j", "y")
    assert caught.value.code == ErrorCode.NOT_FOUND


def test_a_write_that_fails_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "j"
    blobs = NewBlobs()
    writer = JournalWriter(path, "x")
    first, second, third = (event(seq, blobs, {"n": seq}) for seq in range(3))
    writer.append([], first)
    real = os.write
    calls = iter([5])

    def full_disk(fd: int, data: bytes) -> int:
        for length in calls:
            return real(fd, data[:length])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(OSError, match="No space"):
        writer.append(blobs.drain(), second)
    monkeypatch.undo()
    writer.append([], third)
    writer.close()
    recording = read_journal(FileSource(path))
    assert [e.seq for e in recording.events] == [0, 2]
    assert "damaged-line" not in kinds(recording)


def test_a_short_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, data[:7]))
    events = write_journal(tmp_path / "j")
    monkeypatch.undo()
    assert list(read_journal(FileSource(tmp_path / "j")).events) == events


def test_a_call_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = NewBlobs()
    writer = JournalWriter(tmp_path / "j", "x")
    sizes: list[int] = []
    real = os.write

    def counted(fd: int, data: bytes) -> int:
        sizes.append(len(data))
        return real(fd, data)

    monkeypatch.setattr(os, "write", counted)
    one = event(0, blobs, {"a": "y" * 5000}, ["z" * 3000])
    writer.append(blobs.drain(), one)
    assert len(sizes) == 1
    writer.close()
    with pytest.raises(OSError, match="closed"):
        writer.append([], one)


def test_values_written_twice_count_once(tmp_path: Path) -> None:
    blobs = NewBlobs()
    writer = JournalWriter(tmp_path / "j", "x")
    one = event(0, blobs, {"a": 1})
    new = blobs.drain()
    writer.append(new, one)
    writer.append(new, event(1, blobs, {"a": 1}))
    writer.close()
    recording = read_journal(FileSource(tmp_path / "j"))
    assert (len(recording.blobs), list(recording.blobs.refs()), kinds(recording)) == (1, [one.ref], [])


def test_packing_gives_the_same_recording_and_removes_the_journal(tmp_path: Path) -> None:
    target = tmp_path / "run.json"
    events = write_journal(journal_path(target))
    before = read_journal(FileSource(journal_path(target)))
    values = {ref: before.blobs.payload(ref).raw for ref in before.blobs.refs()}
    assert pack(journal_path(target), target) == target
    after = open_recording(target)
    assert list(after.events) == events
    assert {ref: after.blobs.payload(ref).raw for ref in after.blobs.refs()} == values
    assert (after.id, after.meta.raw, after.notes) == (before.id, before.meta.raw, ())
    assert os.listdir(tmp_path) == ["run.json"]


def test_a_journal_that_cannot_be_packed_stays(tmp_path: Path) -> None:
    write_journal(tmp_path / "j")
    before = (tmp_path / "j").read_bytes()
    with pytest.raises(StashError):
        pack(tmp_path / "j", tmp_path / "no" / "run.json")
    assert (tmp_path / "j").read_bytes() == before
