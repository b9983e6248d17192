"""Files on disk: unreadable ones, changed ones, the head of big ones and the cached index."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.store import index_cache
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.head import HeadBlobs
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_head, open_recording, read_source
from stashdbg_core.store.source import FileSource

CORE = Path(__file__).parents[3] / "core"


@pytest.fixture
def recording_file(tmp_path: Path) -> Path:
    events, blobs = [], {}
    for seq in range(1000):
        ref = content_ref(stored_form({"n": seq}))
        blobs[ref] = {"n": seq}
        events.append({"seq": seq, "channel": "c", "key": "k", "ordinal": seq, "outcome": "return", "ref": ref})
    path = tmp_path / "run.json"
    path.write_bytes(stored_form({"version": 1, "id": "run", "events": events, "blobs": blobs, "meta": {"a": 1}}))
    return path


@pytest.mark.parametrize("path", ["missing.json", ".", "\udcff.json", "a\0b", "/dev/null"])
def test_unreadable_paths_are_one_clear_line(path: str, tmp_path: Path) -> None:
    with pytest.raises(StashError) as caught:
        open_recording(tmp_path / path if not path.startswith("/") else path)
    assert caught.value.code is ErrorCode.NOT_FOUND
    assert caught.value.message.isprintable()
    assert caught.value.hint


def test_a_named_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StashError, match="not a file"):
        open_recording(tmp_path / "pipe")


def test_reading_a_file_that_shrank_says_so(recording_file: Path) -> None:
    recording = open_recording(recording_file)
    source = FileSource(recording_file)
    assert not source.changed()
    os.truncate(recording_file, 100)
    assert source.changed()
    with pytest.raises(StashError, match="changed while it was open"):
        recording.events[999]


def test_a_replaced_file_is_seen_and_the_old_one_still_read(recording_file: Path) -> None:
    source = FileSource(recording_file)
    recording = open_recording(recording_file)
    other = recording_file.with_name("other")
    other.write_bytes(b"{}")
    os.replace(other, recording_file)
    assert source.changed()
    assert recording.blobs[recording.events[5].ref] == {"n": 5}


def test_the_head_is_there_before_the_rest(recording_file: Path) -> None:
    head = open_head(recording_file, 20)
    assert head is not None
    assert head.id == "run"
    assert [note.kind for note in head.notes] == ["head"]
    whole = open_recording(recording_file)
    assert list(head.events) == list(whole.events[:20])
    assert [head.blobs[event.ref] for event in head.events] == [{"n": seq} for seq in range(20)]
    assert head.blobs.payload("sha256:" + "0" * 64).state == "missing"


def test_a_shared_piece_is_put_into_a_value_of_the_head_however_its_tag_is_spelled(tmp_path: Path) -> None:
    path = tmp_path / "shared.json"
    tag = '"\\u0024stash":"r\\u0065f","ref":"b"'
    event = '{"seq":0,"channel":"c","key":"k","ordinal":0,"outcome":"return","ref":"a"}'
    path.write_text(f'{{"version":1,"id":"x","events":[{event}],"blobs":{{"a":[{{{tag}}}],"b":"piece"}},"meta":{{}}}}')
    head, whole = open_head(path, 20), open_recording(path)
    assert head is not None
    assert head.blobs.tree("a") == whole.blobs.tree("a") == ["piece"]


def test_the_values_of_the_head_are_found_without_reading_the_file_for_each(tmp_path: Path) -> None:
    values = [stored_form({"n": number}) for number in range(200)]
    refs = [content_ref(value).encode() for value in values]
    event = b'{"seq":%d,"channel":"c","key":"k","ordinal":%d,"outcome":"return","ref":"%b"}'
    events = b",".join(event % (seq, seq, refs[seq % 200]) for seq in range(40_000))
    blobs = b",".join(b'"%b":%b' % pair for pair in zip(refs, values, strict=True))
    path = tmp_path / "run.json"
    path.write_bytes(b'{"version":1,"id":"run","events":[%b],"blobs":{%b},"meta":{}}' % (events, blobs))
    read = 0

    class Counted(FileSource):
        def read_at(self, offset: int, length: int) -> bytes:
            nonlocal read
            data = super().read_at(offset, length)
            read += len(data)
            return data

    source = Counted(path)
    table = HeadBlobs(source, 0, Limits())
    assert [table[ref.decode()] for ref in refs] == [{"n": number} for number in range(200)]
    assert read < 3 * source.size


def test_the_size_of_a_value_that_was_read_takes_no_reading(recording_file: Path) -> None:
    read: list[int] = []

    class Counted(FileSource):
        def read_at(self, offset: int, length: int) -> bytes:
            read.append(length)
            return super().read_at(offset, length)

    recording = read_source(Counted(recording_file), Limits(), recording_file)
    blobs, refs = recording.blobs, [event.ref for event in recording.events[:20]]
    assert isinstance(blobs, FileBlobs)
    sizes = [blobs.size_of(ref) for ref in refs]
    assert sizes == [len(blobs.payload(ref).raw) for ref in refs]
    read.clear()
    assert sizes == [blobs.size_of(ref) for ref in refs]
    assert read == []


def test_a_file_without_events_near_its_head_has_none(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(b'{"version":1,"blobs":{"a":"' + b"x" * 2_000_000 + b'"},"events":[]}')
    assert open_head(path) is None


def _facts(recording: Any) -> tuple[Any, ...]:
    events = [(recording.events.channel_at(i), recording.events.ordinal_at(i)) for i in range(len(recording.events))]
    return recording.id, dict(recording.meta), list(recording.events), events, list(recording.blobs), recording.notes


def test_an_index_from_another_process_opens_the_file(
    recording_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_cache, "BIG", 1000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(CORE))
    assert index_cache.open_cached(recording_file) is None
    whole = _facts(open_recording(recording_file))
    made = index_cache.open_in_process(recording_file)
    kept = index_cache.open_cached(recording_file)
    assert kept is not None
    assert _facts(made) == _facts(kept) == whole
    file = index_cache.cache_path(FileSource(recording_file))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    data = bytearray(file.read_bytes())
    for place in range(0, len(data), 997):
        data[place] ^= 1
        file.write_bytes(data)
        assert index_cache.open_cached(recording_file) is None  # damaged: made anew, silently
        data[place] ^= 1
    file.write_bytes(data[:-10])
    assert _facts(index_cache.open_in_process(recording_file)) == whole
    os.utime(recording_file, ns=(1, 1))
    assert index_cache.open_cached(recording_file) is None  # stale


def test_the_index_process_ends_with_the_reason(tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_bytes(b"[]")
    for path, code in [(bad, 65), (tmp_path / "missing", 66)]:
        command = [sys.executable, "-m", "stashdbg_core.store.index_process", str(path), str(tmp_path / "out")]
        done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(CORE)}, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")
        assert not (tmp_path / "out").exists()
