"""Files that several processes change: every change counts, and one that is stopped holds nobody up."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stashdbg_core.formats.recent import RecentFiles
from stashdbg_core.programs.runs import trust
from stashdbg_core.store import state_file


def test_changes_take_turns(tmp_path: Path) -> None:
    file = tmp_path / "state" / "count.json"

    def count(times: int) -> None:
        for _ in range(times):
            with state_file.changing(file):
                known = json.loads(file.read_text()) if file.exists() else 0
                file.write_text(json.dumps(known + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, [25] * 4))
    assert json.loads(file.read_text()) == 100
    assert list(file.parent.iterdir()) == [file]
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_one_that_is_stopped_meanwhile_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_file, "PATIENCE", 0.1)
    recent = RecentFiles(tmp_path / "recent.json")
    with state_file.changing(tmp_path / "recent.json"):
        assert recent.add(tmp_path / "run.json", "in spite of it")
    assert [file.title for file in recent.read()] == ["in spite of it"]


def test_recordings_made_at_the_same_moment_are_all_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    runs = [tmp_path / f"run-{number}.json" for number in range(12)]
    for run in runs:
        run.write_text(run.name)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(trust.remember, runs))
    assert all(map(trust.was_recorded_here, runs))
