"""Seal files: where they lie, who may read them, and that none is lost."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.seal import Verdict, read_seal, seal_path, seal_recording, verify_with_file, write_seal
from tests.core.seal.recordings import SECRET, opened, tree_of


@pytest.mark.parametrize(
    ("recording", "seal"),
    [("a/run.json", "a/run.seal.json"), ("run", "run.seal.json"), ("run.json.journal", "run.json.journal.seal.json")],
)
def test_a_seal_lies_beside_its_recording(recording: str, seal: str) -> None:
    assert seal_path(recording) == Path(seal)


def test_a_seal_file_is_private_and_gives_the_seal_back(tmp_path: Path) -> None:
    seal = seal_recording(opened(tree_of()))
    path = write_seal(seal, tmp_path / "run.seal.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert read_seal(path) == seal


def test_a_seal_is_replaced_only_on_request(tmp_path: Path) -> None:
    seal = seal_recording(opened(tree_of()))
    path = write_seal(seal, tmp_path / "run.seal.json")
    before = path.read_bytes()
    with pytest.raises(StashError, match="there already"):
        write_seal(seal_recording(opened(tree_of())), path)
    assert path.read_bytes() == before
    other = seal_recording(opened(tree_of()))
    write_seal(other, path, overwrite=True)
    assert read_seal(path) == other
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.seal.json"]


def test_the_same_recording_and_secret_give_the_same_seal() -> None:
    assert seal_recording(opened(tree_of()), secret=SECRET) == seal_recording(opened(tree_of()), secret=SECRET)
    assert seal_recording(opened(tree_of())).root != seal_recording(opened(tree_of())).root


def test_a_file_that_is_missing_or_no_seal_is_a_verdict(tmp_path: Path) -> None:
    recording = opened(tree_of())
    assert verify_with_file(recording, tmp_path / "none.seal.json").verdict is Verdict.NO_SEAL
    (tmp_path / "empty").write_bytes(b"")
    assert verify_with_file(recording, tmp_path / "empty").verdict is Verdict.NO_SEAL
    (tmp_path / "other").write_bytes(b'{"digest": "00"}')
    assert verify_with_file(recording, tmp_path / "other").verdict is Verdict.FOREIGN_SEAL


def test_progress_is_told_and_can_stop_the_work() -> None:
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Stop(done, total)

    with pytest.raises(Stop, match=r"0, 5"):
        seal_recording(opened(tree_of()), progress=stop)
