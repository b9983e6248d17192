"""What there is to open is found in the usual folders and what was opened before is kept; nothing else is looked at."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from stashdbg.cli.app import run
from stashdbg_core.formats.format import RunSummary
from stashdbg_core.formats.recent import KEPT, RecentFiles
from stashdbg_core.formats.session_finder import MOST_ENTRIES, find_sessions, matching
from stashdbg_core.session.choices import choices_of_runs, choices_of_sessions, narrowed

KEY = "sk-ant-api03-" + "a1B2" * 24
RECORDING = '{"version":1,"id":"x","events":[],"blobs":{},"meta":{}}'


def said(text: str) -> str:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"


def put(path: Path, text: str = "{}\n", age: float = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1_796_000_000 - age, 1_796_000_000 - age))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with a session of every tool, each older than the one before."""
    home = tmp_path / "home"
    inside = [
        ".claude/projects/-work-a/0a.jsonl", ".codex/sessions/2026/11/30/rollout-1.jsonl",
        ".codex/archived_sessions/rollout-2.jsonl.zst", ".gemini/tmp/p/chats/session-1.jsonl",
        ".copilot/session-state/1/events.jsonl", ".pi/agent/sessions/--work--/1.jsonl",
        ".local/share/opencode/opencode.db",
    ]  # fmt: skip
    for age, name in enumerate(inside):
        put(home / name, said(f"do {name}"), age)
    for name in (".claude/projects/-work-a/0a/subagents/agent-1.jsonl", ".claude/history.jsonl", ".codex/auth.json"):
        put(home / name)
    put(tmp_path / "here" / "logs" / "x.eval", "PK", 10)
    put(tmp_path / "here" / "run.json", RECORDING, 11)
    put(tmp_path / "here" / "run.seal.json", '{"stash":"seal","version":1}', 12)
    put(tmp_path / "here" / "package.json", '{"version":"1.0.0","name":"x"}')
    return home


def test_sessions_of_every_tool_are_found_the_newest_first(home: Path) -> None:
    found = find_sessions(home, {}, home.parent / "here")
    assert [session.tool for session in found] == [
        "Claude Code", "Codex", "Codex", "Gemini CLI", "Copilot CLI", "pi", "opencode", "Inspect", "stashdbg"
    ]  # fmt: skip
    assert found[0].title == "do .claude/projects/-work-a/0a.jsonl"
    assert found[0].to_json()["size"] == found[0].path.stat().st_size
    moved = {"CLAUDE_CONFIG_DIR": str(home / "elsewhere"), "CODEX_HOME": str(home / "codex")}
    put(home / "elsewhere" / "projects" / "b" / "1.jsonl")
    assert [session.tool for session in find_sessions(home, moved, home)][:1] == ["Claude Code"]
    assert "Codex" not in {session.tool for session in find_sessions(home, moved, home)}


def test_links_are_not_followed_and_unreadable_folders_are_left_out(home: Path) -> None:
    projects, outside = home / ".claude" / "projects", home.parent / "outside"
    put(outside / "1.jsonl")
    (projects / "link").symlink_to(outside)
    (projects / "-work-a" / "link.jsonl").symlink_to(outside / "1.jsonl")
    (projects / "loop").symlink_to(projects)
    assert len(find_sessions(home, {}, home)) == 7
    assert find_sessions(home / "none", {}, home / "none") == []
    assert MOST_ENTRIES < 100_000


def test_titles_are_what_a_person_said_with_secrets_masked(home: Path) -> None:
    first = [
        {"type": "file-history-snapshot"},
        {"type": "user", "isMeta": True, "message": {"role": "user", "content": "caveat"}},
        {"type": "user", "message": {"role": "user", "content": "<command-name>/clear</command-name>"}},
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": f"use {KEY}\x1b[2J now"}]}},
    ]
    put(home / ".claude" / "projects" / "-work-a" / "0a.jsonl", "".join(json.dumps(line) + "\n" for line in first))
    codex = {"type": "event_msg", "payload": {"type": "user_message", "message": "from codex"}}
    put(home / ".codex" / "archived_sessions" / "rollout-2.jsonl.zst", json.dumps(codex) + "\n")
    titles = [session.title for session in find_sessions(home, {}, home)]
    assert "use [REDACTED:anthropic-key#1]…" in titles
    assert "from codex" in titles


def test_what_was_opened_is_kept_privately_once_and_without_an_end(home: Path) -> None:
    recent = RecentFiles(home / "state" / "stashdbg" / "recent.json")
    assert recent.read() == []
    for number in range(KEPT + 20):
        recent.add(put(home / f"{number}.json", RECORDING), f"run {number}")
    recent.add(home / "60.json", "again")
    kept = recent.read()
    assert (len(kept), kept[0].title, kept[0].path) == (KEPT, "again", str(home / "60.json"))
    assert len({entry.path for entry in kept}) == KEPT
    assert recent.path is not None
    assert stat.S_IMODE(recent.path.stat().st_mode) == 0o600
    (home / "119.json").unlink()
    found = find_sessions(home / "none", {}, home / "none", recent)
    assert (found[0].title, found[0].opened, len(found)) == ("again", True, KEPT - 1)
    for damaged in ('{"a":1}', "[[", '[{"path":1}]', ""):
        recent.path.write_text(damaged)
        assert recent.read() == []
    assert not RecentFiles(None).add(home, "x")


def test_typing_narrows_down_by_words_in_any_order(home: Path) -> None:
    found = find_sessions(home, {}, home.parent / "here")
    assert [session.tool for session in matching(found, "ROLLOUT codex")] == ["Codex", "Codex"]
    assert matching(found, "") == found
    choices = choices_of_sessions(found, home)
    assert [choice.place for choice in narrowed(choices, "gemini")] == ["~/.gemini/tmp/p/chats/session-1.jsonl"]
    runs = [RunSummary("first", 1_796_000_000_000.0, 3, "ok"), RunSummary("second")]
    assert [(choice.title, choice.facts, choice.path) for choice in choices_of_runs(Path("t.jsonl"), runs)] == [
        ("1  first", "3 events", Path("t.jsonl/1")), ("2  second", "", Path("t.jsonl/2"))
    ]  # fmt: skip


def test_recent_lists_what_the_screen_offers(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stashdbg(*words: str) -> tuple[int, str, str]:
        code = run(["recent", *words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    _in(home, monkeypatch)
    code, out, _ = stashdbg()
    assert (code, out.count("\n"), out.splitlines()[1].strip()) == (
        0, 18, str(home / ".claude/projects/-work-a/0a.jsonl")
    )  # fmt: skip
    assert [found["tool"] for found in json.loads(stashdbg("--json", "codex")[1])["sessions"]] == ["Codex", "Codex"]
    assert stashdbg("nowhere")[1:] == ("", "none of 9 has these words\n")
    _in(home / "none", monkeypatch)
    assert "stashdbg demo opens a run" in stashdbg()[2]
    assert run(["open"]) == 64


def _in(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = home.parent / "here" if home.is_dir() else home
    here.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(here)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, folder in (("HOME", home), ("XDG_STATE_HOME", home / "state")):
        monkeypatch.setenv(name, str(folder))


def test_a_journal_that_was_opened_is_listed_as_the_recording_it_became(home: Path) -> None:
    recent = RecentFiles(home / "state" / "recent.json")
    done, growing = put(home / "done.json", RECORDING), put(home / "growing.json.journal", RECORDING)
    for path in (done, home / "done.json.journal", growing):
        recent.add(path, path.name)
    found = find_sessions(home / "none", {}, home / "none", recent)
    assert sorted((session.path, session.title) for session in found) == [
        (done, "done.json.journal"), (growing, "growing.json.journal")
    ]  # fmt: skip
