"""The tree of a folder's recordings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stashdbg_core import lineage as module
from stashdbg_core.canonical import Json
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.fork import fork
from stashdbg_core.lineage import lineage
from stashdbg_core.model import Recording
from stashdbg_core.stash import create_stash
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording


def run(id: str, count: int = 3, **meta: Json) -> Recording:
    stash = create_stash(id=id, meta=meta)
    for number in range(count):
        stash.value("tool", "k", {"number": number})
    return stash.recording()


def lines(folder: Path) -> list[str]:
    return [
        f"{'  ' * depth}{branch.file.name if branch.file else '?'} {branch.at} {branch.events}"
        for branch, depth in lineage(folder).walk()
    ]


def family(folder: Path) -> None:
    root = run("root")
    write_recording(root, folder / "root.json")
    one = fork(root, 2, override=1, id="one")
    write_recording(one, folder / "a.json")
    write_recording(fork(root, 1, id="two"), folder / "b.json")
    write_recording(fork(one, 0, override=5, id="three"), folder / "c.json")


def test_forks_stand_under_their_parents(tmp_path: Path) -> None:
    family(tmp_path)
    assert lines(tmp_path) == ["root.json None 3", "  b.json 1 1", "  a.json 2 3", "    c.json 0 1"]


def test_a_large_file_is_read_from_its_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family(tmp_path)
    whole = lineage(tmp_path).to_json()
    monkeypatch.setattr(module, "_SMALL", 0)
    monkeypatch.setattr(module, "open_recording", None)
    for block in (1 << 22, 100):
        monkeypatch.setattr(module, "_BLOCK", block)
        assert lineage(tmp_path).to_json() == whole


def test_a_missing_parent_is_named_and_hides_nothing(tmp_path: Path) -> None:
    family(tmp_path)
    os.unlink(tmp_path / "root.json")
    assert lines(tmp_path) == ["? None None", "  a.json 2 3", "    c.json 0 1", "  b.json 1 1"]
    assert [found["id"] for found in lineage(tmp_path).to_json()["recordings"]] == ["one", "three", "two"]


def test_what_is_no_recording_is_counted_and_what_is_broken_is_named(tmp_path: Path) -> None:
    family(tmp_path)
    (tmp_path / "package.json").write_text('{"name": "x"}')
    (tmp_path / "run.seal.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("no")
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "broken.json").write_text('{"version":9,"id":"x","events":[')
    os.symlink(tmp_path / "nowhere", tmp_path / "dangling.json")
    os.mkfifo(tmp_path / "pipe.json")
    found = lineage(tmp_path)
    assert found.others == 1
    assert len(found.problems) == 2
    assert "broken.json" in found.problems[0]
    assert "empty.json" in found.problems[1]
    assert len(found.to_json()["recordings"]) == 4


def test_circles_and_doubles_are_named_and_everything_is_shown_once(tmp_path: Path) -> None:
    for name, parent in (("a", "b"), ("b", "a"), ("self", "self")):
        made = run(name, fork={"parent": parent, "at": 0})
        write_recording(made, tmp_path / f"{name}.json")
    write_recording(run("b"), tmp_path / "z.json")
    found = lineage(tmp_path)
    shown = [branch.file.name for branch, _ in found.walk() if branch.file]
    assert sorted(shown) == ["a.json", "b.json", "self.json", "z.json"]
    assert any("2 files have the id b" in problem for problem in found.problems)
    assert any("forked from itself" in problem for problem in found.problems)


def test_odd_facts_about_the_parent_are_no_facts(tmp_path: Path) -> None:
    write_recording(run("x", fork={"parent": 7, "at": "one", "override": []}), tmp_path / "x.json")
    write_recording(run("y", fork="z"), tmp_path / "y.json")
    assert lines(tmp_path) == ["x.json None 3", "y.json None 3"]


def test_no_folder_is_an_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none", write_recording(run("f"), tmp_path / "f.json")):
        with pytest.raises(StashError) as caught:
            lineage(path)
        assert caught.value.code is ErrorCode.NOT_FOUND


def test_a_fork_written_by_us_opens(tmp_path: Path) -> None:
    family(tmp_path)
    assert open_recording(tmp_path / "c.json").notes == ()
