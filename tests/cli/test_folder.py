"""A folder that is named in place of a file: what in it can be opened is listed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from stashdbg_core.opening.folder import is_folder_of_runs, runs_in_folder

KEY = "sk-ant-api03-" + "a1B2" * 24


def recording(id: str, events: int = 0, **meta: object) -> str:
    listed = [
        {"seq": n, "channel": "t", "key": "k", "ordinal": n, "outcome": "return", "ref": "r"} for n in range(events)
    ]
    return json.dumps({"version": 1, "id": id, "events": listed, "blobs": {"r": 1}, "meta": meta})


def prompt(text: str) -> str:
    said = {"role": "user", "content": text}
    return json.dumps({"type": "user", "sessionId": "s", "uuid": "u", "message": said}) + "\n"


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder of runs, each older than the one before, between files that are none."""
    folder = tmp_path / "runs"
    inside = {
        "night.json": recording("a", 3, command={"argv": ["python", "my agent.py"]}),
        "sub/day.json": recording("b", 1, title=f"with {KEY}"),
        "fix.jsonl": prompt("fix the parser"),
        "plain.json": recording("c"),
        "broken.json": '{"version":1,"id":"d","events":[',
        "package.json": '{"name":"x","version":"1.0.0"}',
        "night.seal.json": '{"stash":"seal","version":1}',
        "node_modules/x/run.json": recording("e"),
        "notes.txt": "hello",
    }
    for age, (name, text) in enumerate(inside.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_796_000_000 - age, 1_796_000_000 - age))
    return folder


def test_what_can_be_opened_is_found_the_newest_first(runs: Path) -> None:
    found = runs_in_folder(runs)
    assert [(session.path.name, session.tool, session.events) for session in found][:4] == [
        ("night.json", "stashdbg", 3), ("day.json", "stashdbg", 1), ("fix.jsonl", "Claude Code session", None),
        ("plain.json", "stashdbg", 0),
    ]  # fmt: skip
    assert [session.title for session in found][:4] == [
        "python 'my agent.py'", "with [REDACTED:anthropic-key#1]", "fix the parser", ""
    ]  # fmt: skip
    assert {session.path.name for session in found[4:]} <= {"broken.json"}


def test_without_a_screen_a_folder_is_listed(runs: Path, stashdbg: Callable) -> None:
    ran = stashdbg(runs)
    first, path = ran.out.splitlines()[:2]
    assert first.startswith("2026-")
    assert first.endswith("3 events  python 'my agent.py'")
    assert path == f"    {runs / 'night.json'}"
    told = json.loads(stashdbg(runs, "--json").out)["sessions"]
    assert (told[0]["path"], told[0]["events"], told[0]["tool"]) == (str(runs / "night.json"), 3, "stashdbg")
    empty = runs.parent / "empty"
    empty.mkdir()
    ran = stashdbg(empty)
    assert (ran.code, ran.out) == (66, "")
    assert "holds nothing that can be opened" in ran.err
    assert json.loads(stashdbg(empty, "--json").out) == {"sessions": []}


def test_a_folder_that_is_one_run_is_opened_as_that_run(tmp_path: Path) -> None:
    folder = tmp_path / "conversation"
    (folder / "events").mkdir(parents=True)
    assert is_folder_of_runs(folder)
    (folder / "base_state.json").write_text("{}")
    assert not is_folder_of_runs(folder)
    assert not is_folder_of_runs(folder / "base_state.json")
