"""``notes`` and ``export --markdown``: kept beside the recording, which stays as it is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "state"


def test_a_note_is_written_and_read_and_the_recording_untouched(recording: Path, stashdbg: Callable) -> None:
    before = recording.read_bytes()
    assert "nothing is marked" in stashdbg("notes", recording).err
    ran = stashdbg("notes", recording, "--add", "2", "why this?\nsecond line")
    assert ran.out == "event 2\n  why this?\n  second line\n"
    tree = json.loads(stashdbg("notes", recording, "--json").out)
    assert tree["notes"] == [{"seq": 2, "text": "why this?\nsecond line"}]
    assert set(tree) == {"id", "bookmarks", "notes", "breakpoints", "watches", "columns"}
    assert [
        e["seq"] for e in json.loads(stashdbg("show", recording, "--filter", "is:noted", "--json").out)["events"]
    ] == [2]
    assert stashdbg("notes", recording, "--drop", "2").out == ""
    assert "event 2 has no note" in stashdbg("notes", recording, "--drop", "2").err
    assert recording.read_bytes() == before


def test_a_note_takes_the_name_of_a_call(recording: Path, stashdbg: Callable) -> None:
    assert stashdbg("notes", recording, "--add", "tool:search:1", "slow").out == "event 2\n  slow\n"
    assert stashdbg("notes", recording, "--drop", "tool:search:1").out == ""


@pytest.mark.parametrize("words", [("--add", "99", "x"), ("--add", "1", " "), ("--add", "x", "y")])
def test_a_note_needs_an_event_and_a_text(recording: Path, stashdbg: Callable, words: tuple[str, ...]) -> None:
    ran = stashdbg("notes", recording, *words)
    assert (ran.code, ran.out) == (64, "")


def test_a_damaged_notebook_is_named(recording: Path, stashdbg: Callable, state: Path) -> None:
    stashdbg("notes", recording, "--add", "2", "x")
    (file,) = state.rglob("*.json")
    file.write_text("{")
    assert "cannot be read" in stashdbg("notes", recording).err
    ran = stashdbg("notes", recording, "--add", "2", "y")
    assert (ran.code, file.read_text()) == (66, "{")


def test_the_notebook_is_exported_as_markdown(recording: Path, stashdbg: Callable, tmp_path: Path) -> None:
    stashdbg("notes", recording, "--add", "2", "no answer: why?")
    out = stashdbg("export", recording, "--markdown").out
    assert out.startswith("# Notes on `run.json`\n")
    assert "## Event 2: `tool search` threw" in out
    assert "no answer: why?" in out
    target = tmp_path / "notes.md"
    assert stashdbg("export", recording, "--markdown", "-o", target).out == f"{target}\n"
    assert target.read_text() == out
    assert stashdbg("export", recording, "--markdown", "--flat").code == 64


def test_stats_tell_tokens_where_calls_do(make: Callable[..., Path], stashdbg: Callable) -> None:
    usage = {"prompt_tokens": 1200, "completion_tokens": 34}
    path = make([{"channel": "llm", "key": "chat", "value": {"usage": usage}}, {"key": "k", "value": 1}])
    assert json.loads(stashdbg("stats", path, "--json").out)["usage"]["inputTokens"] == 1200
    assert "1,200" in stashdbg("stats", path).out
    assert json.loads(stashdbg("stats", make([{"key": "k", "value": 1}]), "--json").out)["usage"] is None
