"""Writing files: whole or not at all, private, never over another's, never outside the directory."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.store.atomic import free_path, safe_file_name, write_atomic


def text(content: bytes) -> Callable[[BinaryIO], object]:
    return lambda file: file.write(content)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("fault", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
def test_a_failure_leaves_the_old_file_and_no_litter(tmp_path: Path, fault: BaseException, overwrite: bool) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"good")

    def half(file: BinaryIO) -> None:
        file.write(b"x" * 3_000_000)
        raise fault

    with pytest.raises((KeyboardInterrupt, MemoryError, StashError)):
        write_atomic(target, half, overwrite=overwrite)
    assert target.read_bytes() == b"good"
    assert os.listdir(tmp_path) == ["run.json"]


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod"])
def test_a_failing_system_call_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"good")

    def fail(*_: object, **__: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StashError, match="Input/output error"):
        write_atomic(target, text(b"new"))
    assert target.read_bytes() == b"good"
    assert os.listdir(tmp_path) == ["run.json"]


def test_files_are_private_and_stricter_modes_stay(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        new = write_atomic(tmp_path / "new.json", text(b"1"))
        for before, after in ((0o644, 0o600), (0o400, 0o400)):
            path = tmp_path / f"{before:o}.json"
            path.write_bytes(b"0")
            path.chmod(before)
            write_atomic(path, text(b"1"))
            assert (mode_of(path), path.read_bytes()) == (after, b"1")
    finally:
        os.umask(old)
    assert mode_of(new) == 0o600


def test_the_temporary_file_is_private_and_beside_the_target(tmp_path: Path) -> None:
    seen: list[tuple[int, Path]] = []

    def look(file: BinaryIO) -> None:
        [name] = os.listdir(tmp_path)
        seen.append((mode_of(tmp_path / name), tmp_path / name))

    write_atomic(tmp_path / "run.json", look)
    assert [mode for mode, _ in seen] == [0o600]


def test_a_symlink_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.json"
    link.symlink_to(Path("real") / "run.json")
    assert write_atomic(link, text(b"1")) == link
    write_atomic(link, text(b"2"))
    assert link.is_symlink()
    assert (tmp_path / "real" / "run.json").read_bytes() == b"2"
    assert sorted(os.listdir(tmp_path)) == ["link.json", "real"]


def test_without_overwriting_the_next_free_name_is_taken(tmp_path: Path) -> None:
    (tmp_path / "run-2.json").symlink_to("nowhere")
    names = [write_atomic(tmp_path / "run.json", text(b"%d" % n), overwrite=False).name for n in range(3)]
    assert names == ["run.json", "run-3.json", "run-4.json"]
    assert [(tmp_path / name).read_bytes() for name in names] == [b"0", b"1", b"2"]
    assert not (tmp_path / "nowhere").exists()


def test_writers_at_the_same_time_each_get_a_file(tmp_path: Path) -> None:
    placed: list[Path] = []
    barrier = threading.Barrier(8)

    def run(number: int) -> None:
        barrier.wait()
        placed.append(write_atomic(tmp_path / "run.json", text(b"%d" % number), overwrite=False))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(placed)) == 8
    assert sorted(path.read_bytes() for path in placed) == [b"%d" % n for n in range(8)]


def test_no_hard_links_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    names = [write_atomic(tmp_path / "run.json", text(b"x"), overwrite=False).name for _ in range(2)]
    assert names == ["run.json", "run-2.json"]
    assert sorted(os.listdir(tmp_path)) == ["run-2.json", "run.json"]


def test_where_nothing_can_be_written_the_reason_is_said(tmp_path: Path) -> None:
    with pytest.raises(StashError, match="directory does not exist") as caught:
        write_atomic(tmp_path / "no" / "run.json", text(b"1"))
    assert caught.value.code == ErrorCode.NOT_FOUND
    (tmp_path / "loop").symlink_to("loop")
    for place in (
        tmp_path,
        tmp_path / "..",
        Path(),
        Path("/dev/null"),
        Path("/dev/fd/1"),
        tmp_path / "loop",
        tmp_path / ("x" * 300),
    ):
        for overwrite in (True, False):
            with pytest.raises(StashError, match=r"a directory|a regular file|symbolic links|too long") as caught:
                write_atomic(place, text(b"1"), overwrite=overwrite)
            assert caught.value.code == ErrorCode.INVALID_INPUT
    assert os.listdir(tmp_path) == ["loop"]


@pytest.mark.parametrize("name", ["a\0b", "\ud83d"])
def test_an_impossible_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StashError, match="not a usable file name"):
        write_atomic(tmp_path / name, text(b"1"))


def test_a_journal_keeps_a_name_taken(tmp_path: Path) -> None:
    (tmp_path / "run.json.journal").touch()
    assert free_path(tmp_path / "run.json", beside=(".journal",)) == tmp_path / "run-2.json"
    assert free_path(tmp_path / "run.json") == tmp_path / "run.json"


ODD_IDS = [
    "../../../tmp/stash_pwned", "/etc/passwd", "a/b", "..\\x", "CON", "con.txt", "x:y", "n" * 300,
    "", "a\0b", ".", "..",
    "\u202egnp.exe",
    "-rf", ".hidden", "trailing.", " ", "\ud83d", "a_b", "a b", "NUL", "a/b-0123456789abcdef",
]  # fmt: skip


@pytest.mark.parametrize("recording_id", ODD_IDS)
def test_an_id_becomes_one_safe_component(tmp_path: Path, recording_id: str) -> None:
    name = safe_file_name(recording_id)
    assert (tmp_path / name).parent == tmp_path
    assert name not in ("", ".", "..")
    assert name[0] not in ".-"
    assert name.isascii()
    assert len(name) < 120
    assert name.split(".")[0].upper() not in {"CON", "NUL", "PRN", "AUX"}
    (tmp_path / f"{name}.json").write_bytes(b"")


def test_plain_ids_are_their_own_name() -> None:
    for plain in ("run-1", "2026-01-02T03.04", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "a_b"):
        assert safe_file_name(plain) == plain


@given(st.lists(st.sampled_from(ODD_IDS) | st.text(max_size=6), unique=True))
def test_different_ids_have_different_names(ids: list[str]) -> None:
    assert len({safe_file_name(one) for one in ids}) == len(ids)
    again = [safe_file_name(one) for one in ids]
    assert len({safe_file_name(one) for one in {*ids, *again}}) == len({*ids, *again})
