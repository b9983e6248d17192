"""Files of other tools under every command: one run or several, piped, growing, large, and turned into recordings."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.formats import conversion
from stashdbg_core.formats.convert_process import main, make_room
from stashdbg_core.formats.converted import cache_folder, conversion_key
from stashdbg_core.formats.opening import explain
from stashdbg_core.formats.source import Cancelled
from stashdbg_core.opening.files import head_of, open_all, open_one, recording_paths, runs_of
from stashdbg_core.session.debugger import Debugger
from stashdbg_core.store.open import open_recording

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def stashdbg(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run the command line in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    for name, folder in (("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: str | Path) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def prompt(number: int, **more: Any) -> dict[str, Any]:
    """A prompt in a Claude Code session."""
    said = {"role": "user", "content": f"prompt {number}"}
    moment = f"2026-11-30T07:{number // 60 % 60:02d}:{number % 60:02d}Z"
    return {"type": "user", "sessionId": "s-1", "uuid": f"u{number}", "timestamp": moment, "message": said, **more}


def written(path: Path, *records: Any) -> Path:
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def span(trace: str, name: str, **more: Any) -> dict[str, Any]:
    """A span of an OpenAI Agents trace."""
    data = {"type": "function", "name": name, "input": "{}", "output": "done"}
    times = {"started_at": "2026-11-30T07:00:00Z", "ended_at": "2026-11-30T07:00:01Z"}
    facts = {"object": "trace.span", "id": f"span_{name}", "trace_id": trace, "parent_id": None, "error": None}
    return {**facts, **times, "span_data": data, **more}


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """A file of two runs."""
    first, second = ({"object": "trace", "id": f"trace_{name}", "workflow_name": f"flow {name}"} for name in "ab")
    return written(
        tmp_path / "traces.jsonl", first, span("trace_a", "f"), second, span("trace_b", "g"), span("trace_b", "h")
    )


def test_a_session_opens_under_every_command(stashdbg: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "s.jsonl", *map(prompt, range(3)))
    code, out, err = stashdbg(file)
    assert (code, err, out.count("prompt")) == (0, "", 6)
    assert json.loads(stashdbg("stats", "--json", file)[1])["channels"] == {"user": {"events": 3, "throws": 0}}
    assert "prompt 1" in stashdbg("search", file, "prompt 1")[1]
    assert stashdbg("diff", "--text", file, file)[0] == 0
    assert stashdbg("fork", file, "--at", "1", "--set", '"other"')[0] == 0
    assert len(open_recording(tmp_path / "s-fork.json").events) == 2
    for words in (["seal", file], ["export", "--pytest", file]):
        code, out, err = stashdbg(*words)
        assert (code, out) == (64, "")
        assert "this is a Claude Code session; write one with stashdbg convert first" in err


def test_several_runs_are_listed_and_one_is_named(stashdbg: Run, several: Path, tmp_path: Path) -> None:
    code, out, err = stashdbg("show", several)
    assert (code, out) == (64, "")
    assert err == "stashdbg: traces.jsonl holds 2 runs: 1 flow a; 2 flow b; say which with --run N\n"
    by_option, by_name = stashdbg("show", several, "--run", "2"), stashdbg(several / "2")
    assert by_option == by_name
    assert by_option[1].count("tool") == 2
    for wrong in ("3", "0"):
        assert stashdbg("stats", "--run", wrong, several)[0] == 64
    assert stashdbg(several / "x")[0] == 64
    assert recording_paths(several) == (several / "1", several / "2")
    assert [found.title for found in runs_of(several)] == ["flow a", "flow b"]
    assert open_one(several / "2").path == several / "2"
    assert stashdbg("fork", several, "--run", "2", "--at", "1")[0] == 0
    assert (tmp_path / "traces-2-fork.json").is_file()


def test_convert_writes_one_run_or_all_of_them(stashdbg: Run, several: Path, tmp_path: Path) -> None:
    assert stashdbg("convert", several, "-o", "out.json")[0] == 64
    assert stashdbg("convert", several, "--run", "1", "-o", "one.json")[1] == "one.json\n"
    code, out, _ = stashdbg("convert", several, "--all-runs", "-o", "all.json", "--json", "--explain")
    reports = json.loads(out)["recordings"]
    assert code == 0
    assert [(found["file"], found["events"]) for found in reports] == [("all-1.json", 1), ("all-2.json", 2)]
    assert reports[0]["explain"]["format"] == "openai-agents"
    assert stashdbg("convert", several, "--all-runs", "--run", "1", "-o", "x.json")[0] == 64
    native, foreign = open_recording(tmp_path / "all-2.json"), open_one(several / "2")
    assert list(native.events) == list(foreign.events)
    assert explain(native) == explain(foreign)
    assert stashdbg("verify", "one.json")[0] == stashdbg("verify", several, "--run", "1")[0] != 0


def test_explain_says_how_far_a_file_can_be_trusted(stashdbg: Run, tmp_path: Path) -> None:
    file = written(tmp_path / "s.jsonl", prompt(0), {"type": "from-the-future", "sessionId": "s-1"}, prompt(1))
    with file.open("ab") as more:
        more.write(b"no json\n")
    for words in (["show", file, "--explain"], [file, "--explain"]):
        code, out, _ = stashdbg(*words)
        assert code == 0
        assert out.startswith("Claude Code session  s.jsonl\nexact     ")
        assert "1 line, left out" in out
        assert "from-the-future" in out
        assert max(map(len, out.splitlines())) <= 80
    found = json.loads(stashdbg("show", "--explain", "--json", file)[1])
    assert (found["format"], found["damagedLines"], sum(found["unknown"].values())) == ("claude-code", 1, 1)
    demo = Path(__file__).parents[2] / "stashdbg" / "data" / "demo.json"
    ours = json.loads(stashdbg("show", "--explain", "--json", demo)[1])
    assert ours["format"] is None


def test_standard_input_and_pipes_are_told_by_content_too(several: Path) -> None:
    line = '$STASHDBG show <(cat "$0") --run 2; $STASHDBG - < "$0"'
    paths = os.pathsep.join(path for path in sys.path if path)
    done = subprocess.run(
        ["bash", "-c", line, str(several)], capture_output=True, text=True, check=False, timeout=60,
        env={**os.environ, "PYTHONPATH": paths, "STASHDBG": f"{sys.executable} -m stashdbg"},
    )  # fmt: skip
    assert done.stdout.count("tool") == 2
    assert "standard input holds 2 runs" in done.stderr
    assert done.returncode == 64


def test_what_no_format_is_keeps_its_one_line_refusal(stashdbg: Run, tmp_path: Path) -> None:
    for text in ("", "# text\n", '{"a":1}\n{"b":2}\n', "[1]"):
        (tmp_path / "x").write_text(text)
        code, out, err = stashdbg("x")
        assert (code, out, err.count("\n")) == (65, "", 1)
        assert "not a version-1 recording" in err


def test_a_file_that_grows_is_followed_and_half_a_line_waits(tmp_path: Path) -> None:
    file = written(tmp_path / "s.jsonl", *map(prompt, range(2)))
    session = Debugger.open(open_one(file), tmp_path / "notes")
    session.to_seq(1)
    assert session.refresh() == 0
    line = json.dumps(prompt(2)).encode() + b"\n"
    with file.open("ab") as more:
        more.write(line[:50])
    assert session.refresh() == 0
    assert session.recording.meta["source"]["damagedLines"] == 0
    with file.open("ab") as more:
        more.write(line[50:])
    assert session.refresh() == 1
    assert (session.count, session.event.seq) == (3, 1)


def test_one_run_of_a_file_that_grows_is_followed(several: Path, tmp_path: Path) -> None:
    session = Debugger.open(open_one(several / "1"), tmp_path / "notes")
    with several.open("ab") as more:
        more.write(json.dumps(span("trace_a", "later")).encode() + b"\n")
    assert session.refresh() == 1


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that counts as large, in a place with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(conversion, "LARGE", 1000)
    monkeypatch.setattr(conversion, "HEAD", 4000)
    return written(tmp_path / "s.jsonl", *map(prompt, range(400)))


def test_a_large_file_shows_its_head_and_is_converted_once(large: Path) -> None:
    head = head_of(large)
    assert head is not None
    assert 0 < len(head.events) < 30
    assert [note.kind for note in head.notes] == ["head"]
    seen: list[tuple[int, int]] = []
    first = open_one(large, progress=lambda done, total: seen.append((done, total)))
    assert (len(first.events), first.path, first.id) == (400, large, head.id)
    assert list(first.events)[: len(head.events) - 1] == list(head.events)[:-1]
    assert all(done <= total == large.stat().st_size for done, total in seen)
    kept = list(cache_folder().iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in kept] == [0o600]
    assert stat.S_IMODE(cache_folder().stat().st_mode) == 0o700
    assert head_of(large) is None
    inode = kept[0].stat().st_ino
    assert list(open_one(large).events) == list(first.events)
    assert kept[0].stat().st_ino == inode
    session = Debugger(first)
    assert session.refresh() == 0
    with large.open("ab") as more:
        more.write(json.dumps(prompt(400)).encode() + b"\n")
    assert session.refresh() == 1
    assert len(list(cache_folder().iterdir())) == 2


def test_a_file_beside_a_large_one_makes_its_recording_stale(large: Path) -> None:
    source = conversion.FileSource(large)
    before = conversion_key(source, 0)
    assert before == conversion_key(source, 0) != conversion_key(source, 1)
    (large.with_suffix("") / "subagents").mkdir(parents=True)
    (large.with_suffix("") / "subagents" / "agent-1.jsonl").write_text("{}\n")
    assert conversion_key(source, 0) != before


def test_a_conversion_can_be_stopped_and_leaves_nothing(large: Path) -> None:
    with pytest.raises(Cancelled):
        open_one(large, cancelled=lambda: True)
    assert list(cache_folder().iterdir()) == []


def test_what_goes_wrong_in_the_process_is_said_as_anywhere_else(
    large: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = cache_folder() / "x.json"
    out.parent.mkdir(parents=True)
    assert main([str(large), "0", str(out), "size=10"]) == 65
    code, message, hint = json.loads(capfdbinary.readouterr().out.removeprefix(b"!"))
    assert code == ErrorCode.INVALID_RECORDING
    assert "limit" in message
    assert "--limit" in hint
    large.write_bytes(b"nothing any more\n" * 1000)
    with pytest.raises(StashError, match="not a version-1 recording"):
        open_all(large)


def test_the_cache_is_bounded_and_stale_halves_go(tmp_path: Path) -> None:
    now = time.time()
    for number in range(20):
        (tmp_path / f"{number}.json").write_text("x")
        os.utime(tmp_path / f"{number}.json", (now - number, now - number))
    for name, age in (("a-1.json.journal", 10), ("b-2.json.journal", 10_000)):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (now - age, now - age))
    make_room(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"{number}.json" for number in range(16)} | {"a-1.json.journal"}
