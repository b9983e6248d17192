"""Archives opened: ours as written, and hostile ones without harm."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import open_all, open_one
from stashdbg_core.report import Fields, describe, open_bundle
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.writer import encode_recording
from tests.core.report.conftest import JANE, NOW, chat, recording_of

ONE = encode_recording(recording_of([chat("q", "a")], "one")).encode()
TWO = encode_recording(recording_of([chat("q", "b")], "two")).encode()


def archive(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in entries:
            file.writestr(name, data)
    return path


def test_a_bundle_opens_again(tmp_path: Path, lanes: Recording) -> None:
    other = recording_of([chat("q", "a")], "other")
    bundle = describe([lanes, other], person=JANE).export(None, Fields("t"), NOW)
    (tmp_path / "b.zip").write_bytes(bundle.zip())
    opened = open_bundle(tmp_path / "b.zip")
    assert opened.manifest == bundle.manifest
    assert [recording.id for recording in opened.recordings] == ["run-1", "other"]
    assert opened.names == ("recordings/run-1.json", "recordings/run-2.json")
    for event in opened.recordings[0].events:
        assert opened.recordings[0].blobs.payload(event.ref).state == "ok"
    assert opened.recordings[0].blobs.tree(lanes.events[3].ref) == lanes.blobs.tree(lanes.events[3].ref)
    assert not any(note.kind == "ignored-entry" for note in opened.recordings[0].notes)


def test_a_recording_within_is_named_like_a_file(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", ("recordings/run-2.json", TWO), ("recordings/run-1.json", ONE))
    assert [recording.id for recording in open_all(path)] == ["one", "two"]
    assert open_one(path / "recordings" / "run-2.json").id == "two"
    with pytest.raises(StashError, match="holds 2 recordings") as caught:
        open_one(path)
    assert "recordings/run-1.json" in (caught.value.hint or "")
    with pytest.raises(StashError, match="run-3") as caught:
        open_one(path / "recordings" / "run-3.json")
    assert "run-2" in (caught.value.hint or "")


def test_a_repacked_bundle_opens(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", ("recording.json", ONE * 1 + b" " * 100_000), method=zipfile.ZIP_DEFLATED)
    assert open_one(path).id == "one"


def test_nothing_is_written_and_odd_entries_are_named(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("recordings/run-7.json")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    folder = tmp_path / "folder"
    folder.mkdir()
    path = archive(
        folder / "b.zip",
        ("../../pwn", b"x"),
        ("/tmp/stashdbg-pwn", b"x"),
        ("C:\\pwn", b"x"),
        ("RECORDING.JSON", TWO),
        (link, b"/etc/passwd"),
        ("recording.json", ONE),
        ("evil\x1b[2J", b"x"),
    )
    (folder / "recording.json").symlink_to(tmp_path / "target")
    opened = open_bundle(path)
    assert [recording.id for recording in opened.recordings] == ["one"]
    said = next(note.message for note in opened.recordings[0].notes if note.kind == "ignored-entry")
    for name in ("../../pwn", "/tmp/stashdbg-pwn", "RECORDING.JSON", "run-7.json (not a plain file)"):
        assert name in said
    assert "\x1b" not in said
    assert {entry.name for entry in tmp_path.iterdir()} == {"folder"}
    assert not Path("/tmp/stashdbg-pwn").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_one_name_twice_is_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", ("recording.json", ONE), ("recording.json", TWO))
    with pytest.raises(StashError, match="twice"):
        open_bundle(path)


@pytest.mark.parametrize("data", [b"PK\x03\x04", b"PK\x05\x06" + b"\0" * 18, b"PK\x03\x04" + b"\xff" * 100])
def test_no_bundle_is_said_in_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "b.zip").write_bytes(data)
    with pytest.raises(StashError) as caught:
        open_bundle(tmp_path / "b.zip")
    assert caught.value.code == ErrorCode.INVALID_RECORDING


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StashError, match="without a recording"):
        open_bundle(archive(tmp_path / "b.zip", ("notes.txt", b"x")))


def test_a_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    path = archive(tmp_path / "b.zip", ("recording.json", b" " * 40_000_000), method=zipfile.ZIP_DEFLATED)
    with pytest.raises(StashError, match="200 times"):
        open_bundle(path)
    with pytest.raises(StashError, match="limit"):
        open_bundle(path, limits=Limits(size=1000))


def test_every_single_byte_error_is_clear_or_harmless(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as file:
        file.writestr(zipfile.ZipInfo("recording.json"), ONE)
    data = whole.getvalue()
    path = tmp_path / "b.zip"
    opened = 0
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            assert open_bundle(path).recordings[0].id == "one"
            opened += 1
        except StashError as error:
            assert error.code == ErrorCode.INVALID_RECORDING  # noqa: PT017
    assert 0 < opened < 120  # dates, versions and flags that nobody reads
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(StashError):
            open_bundle(path)
