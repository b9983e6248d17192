"""Choosing what to open: recent files and sessions nearby, the runs of a file, and large files that come bit by bit."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from time import monotonic

import pytest

from stashdbg_core.formats import conversion, convert_process
from stashdbg_core.formats.recent import RecentFiles
from stashdbg_core.formats.source import Cancelled
from stashdbg_tui.app import StashApp
from stashdbg_tui.screens.main import MainScreen
from stashdbg_tui.screens.pick import PickScreen


def prompt(number: int, text: str = "prompt") -> str:
    said = {"role": "user", "content": f"{text} {number}"}
    return json.dumps({"type": "user", "sessionId": "s", "uuid": f"u{number}", "message": said}) + "\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and the current one."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sessions(home: Path, *texts: str) -> list[Path]:
    folder = home / ".claude" / "projects" / "-work"
    folder.mkdir(parents=True)
    paths = [folder / f"{number}.jsonl" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(prompt(0, text) + prompt(1, text))
    return paths


def test_without_a_file_sessions_are_offered_and_typing_finds_one(home, drive):
    paths = sessions(home, "fix the parser", "write \x1b[31mdocs", "\u202emirror")

    async def test(driver):
        assert isinstance(driver.app.screen, PickScreen)
        assert "fix the parser 0" in driver.text()
        assert "Claude Code" in driver.text()
        assert "3 to choose from" in driver.status
        assert "\x1b" not in driver.text()
        assert "\u202e" not in driver.text()
        await driver.type("docs q")
        assert "none of 3 has these words" in driver.status
        await driver.press("escape")
        await driver.type("docs")
        assert "1 of 3" in driver.status
        await driver.press("enter")
        assert driver.screen.session.recording.path == paths[1]
        await driver.press("ctrl+o")
        assert isinstance(driver.app.screen, PickScreen)
        await driver.press("escape")
        assert driver.screen.session.count == 2

    drive(test)


def test_a_folder_is_chosen_from_and_comes_back(home, drive):
    for number, name in enumerate(("sub/day.json", "night.json")):
        path = home / "runs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        meta = {"command": {"argv": ["python", name]}}
        path.write_text(json.dumps({"version": 1, "id": name, "events": [], "blobs": {}, "meta": meta}))
        os.utime(path, (1_796_000_000 + number, 1_796_000_000 + number))

    async def test(driver):
        assert isinstance(driver.app.screen, PickScreen)
        assert "python night.json" in driver.text()
        assert "0 events" in driver.text()
        await driver.press("down", "enter")
        assert driver.screen.session.recording.id == "sub/day.json"
        await driver.press("ctrl+o")
        assert isinstance(driver.app.screen, PickScreen)
        assert "python night.json" in driver.text()

    drive(test, folder=home / "runs")


def test_a_folder_without_runs_says_so(home, drive):
    (home / "runs").mkdir()

    async def test(driver):
        assert "nothing to open in this folder" in driver.text()
        await driver.press("escape")

    assert drive(test, folder=home / "runs")._exit


def test_nothing_to_offer_says_what_to_do_and_escape_leaves(home, drive):
    async def test(driver):
        text = driver.text()
        assert "nothing to open yet" in text
        assert "stashdbg FILE" in text
        assert "stashdbg demo" in text
        await driver.press("enter", "down", "pagedown", "escape")

    assert drive(test)._exit


def test_what_was_opened_comes_first_and_a_file_that_cannot_be_opened_brings_the_list_back(home, drive):
    good, bad = sessions(home, "good", "bad")
    recent = RecentFiles(home / "recent.json")
    bad.write_text("nothing of the kind\n")
    recent.add(bad, "opened before")

    async def test(driver):
        assert driver.app.screen.listing.chosen.title == "opened before"
        await driver.press("enter")
        assert isinstance(driver.app.screen, PickScreen)
        assert "1.jsonl" in driver.status
        assert "not" in driver.status
        await driver.type("good")
        await driver.press("enter")
        assert driver.screen.session.recording.path == good
        assert [entry.path for entry in recent.read()] == [str(good), str(bad)]

    drive(test, recent=recent.path)


def test_the_runs_of_a_file_are_offered_and_one_can_be_opened_after_another(home, drive):
    path = home / "traces.jsonl"
    lines = []
    for name in "ab":
        lines.append({"object": "trace", "id": f"trace_{name}", "workflow_name": f"flow {name}"})
        lines.append(
            {"object": "trace.span", "id": f"span_{name}", "trace_id": f"trace_{name}", "parent_id": None,
             "started_at": "2026-11-30T07:00:00Z", "ended_at": "2026-11-30T07:00:01Z",
             "span_data": {"type": "function", "name": f"tool_{name}", "input": "{}", "output": "1"}}
        )  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    async def test(driver):
        assert isinstance(driver.app.screen, PickScreen)
        assert "Runs in traces.jsonl" in driver.text() and "an outcome" in driver.text()
        assert "1  flow a" in driver.text()
        await driver.press("down", "enter")
        assert driver.screen.session.recording.path == path / "2"
        assert "tool_b" in driver.text()
        driver.app.open_file(path)
        await driver.settle()
        await driver.press("enter")
        assert driver.screen.session.recording.path == path / "1"

    drive(test, paths=[path])


@pytest.fixture
def large(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large."""
    monkeypatch.setattr(conversion, "LARGE", 1000)
    monkeypatch.setattr(conversion, "HEAD", 3000)
    path = home / "large.jsonl"
    path.write_text("".join(map(prompt, range(500))))
    return path


def test_a_large_file_shows_its_head_and_then_the_rest_under_the_same_cursor(large, drive, monkeypatch):
    seen = []
    show = MainScreen.show_recording

    def watched(self, recording, **options):
        seen.append(len(recording.events))
        show(self, recording, **options)

    monkeypatch.setattr(MainScreen, "show_recording", watched)

    async def test(driver):
        assert driver.screen.session.count == 500
        assert 0 < seen[0] < 100
        await driver.press("F")
        assert "following the file" in driver.status
        with large.open("a") as file:
            file.write(prompt(500))
        for _ in range(200):
            await driver.pilot.pause(0.1)
            if driver.screen.session.count == 501:
                break
        assert driver.screen.session.count == 501
        assert driver.position == 500
        assert driver.screen.status.progress == "following"

    drive(test, paths=[large])


def test_reading_a_large_file_can_be_stopped(large, monkeypatch):
    """Drives the app itself: a driver would wait until the reading is over."""
    stopped = []

    def endless(source, run, limits, *, progress, cancelled):
        deadline = monotonic() + 20
        while not cancelled() and monotonic() < deadline:
            progress(1, 4)
        stopped.append(cancelled())
        raise Cancelled

    monkeypatch.setattr(convert_process, "convert_in_process", endless)

    async def main():
        app = StashApp([large])
        async with app.run_test(size=(80, 24)) as pilot:
            async with asyncio.timeout(20):
                while "25%" not in str(app.main_screen.status.progress):
                    await pilot.pause()
                await pilot.press("escape")
                await app.workers.wait_for_complete()
                await pilot.pause()
            return app.main_screen.session.count, app.main_screen.status.progress, app._exit

    count, progress, left = asyncio.run(main())
    assert (0 < count < 500, progress, left, stopped) == (True, "only the beginning was read", False, [True])
