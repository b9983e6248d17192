"""Large files of other tools that are still being written are followed, each state as if the file were read whole."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.formats import conversion, opening
from stashdbg_core.formats.converted import cache_folder
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import follow_one
from stashdbg_core.session.debugger import Debugger

SESSION = "0b1f7a52-0000-4000-8000-000000000001"
SECRET = "sk-ant-api03-" + "Ab1" * 31


def record(kind: str, content: Any, uuid: int, parent: int | None = None, **message: Any) -> bytes:
    """Return a line of a session of Claude Code."""
    line = {
        "type": kind, "sessionId": SESSION, "uuid": f"u{uuid}", "parentUuid": None if parent is None else f"u{parent}",
        "timestamp": f"2026-01-01T00:{uuid // 60:02}:{uuid % 60:02}.000Z", "version": "2.1.0", "cwd": "/w",
        "message": {"role": kind, "content": content, **message},
    }  # fmt: skip
    return json.dumps(line).encode() + b"\n"


def turn(number: int) -> list[bytes]:
    """Return a prompt, an answer in two pieces that calls a tool, and the tool's result."""
    first, said = number * 4, {"id": f"msg_{number}", "model": "claude-x", "stop_reason": "tool_use"}
    call = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {"command": f"echo {number}"}}
    result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": f"output {number} " * 200}
    return [
        record("user", f"prompt {number}", first, first - 1 if number else None),
        record("assistant", [{"type": "text", "text": f"thinking about {number}"}], first + 1, first, **said),
        record("assistant", [call], first + 2, first + 1, **said),
        record("user", [result], first + 3, first + 2),
    ]


class Followed:
    """A file that is followed by a session, and the means to write it."""

    def __init__(self, path: Path, notes: Path) -> None:
        self.path = path
        self.session = Debugger.open(opening.read_foreign(path), notes)
        self.session.follow()

    def write(self, *parts: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(parts))

    def until(self, size: int) -> Recording:
        """Return the recording when the file is read up to a size."""
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            live = self.session._live
            if live is not None:
                live.wait(0.1)
            before = self.session.recording
            self.session.refresh()
            recording = self.session.recording
            if recording is not before and recording.events.identity[2] == size:  # type: ignore[attr-defined]
                return recording
        raise AssertionError("the file was not read on")


@pytest.fixture
def followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Followed]:
    """A session of three turns that counts as large and is followed; nothing of it is left in the cache after that."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(conversion, "LARGE", 1000)
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_bytes(b"".join(line for number in range(3) for line in turn(number)))
    kept = Followed(path, tmp_path / "notes")
    yield kept
    kept.session.unfollow()
    assert [file.name for file in cache_folder().iterdir() if file.name.startswith("follow")] == []


def told(recording: Recording) -> tuple[object, ...]:
    """Return all that a recording tells."""
    events = [(event.replaced(), event.extra) for event in recording.events]
    values = [recording.blobs.get(event.ref) for event in recording.events]
    inputs = [recording.blobs.get(event.input_ref) for event in recording.events if event.input_ref]
    notes = [(note.kind, note.message, note.seq) for note in recording.notes]
    return recording.id, events, values, inputs, dict(recording.meta), notes


def read_whole(path: Path) -> tuple[object, ...]:
    return told(opening.read_foreign(path))


def test_each_state_is_what_reading_the_whole_file_gives(followed: Followed) -> None:
    path = followed.path
    assert told(followed.until(path.stat().st_size)) == read_whole(path)
    for line in (*turn(3), b"".join(turn(4))):
        followed.write(line)
        recording = followed.until(path.stat().st_size)
        assert told(recording) == read_whole(path)
    assert [event.key for event in recording.events[-3:]] == ["prompt", "claude-x", "Bash"]
    assert (recording.path, followed.session.count) == (path, 15)
    # What comes late changes what was told before: the user goes back, the title and a lane of a new file beside it.
    agents = path.with_suffix("") / "subagents"
    agents.mkdir(parents=True)
    agent = turn(9)[0].replace(b'"uuid"', b'"isSidechain": true, "agentId": "a1", "uuid"')
    (agents / "agent-a1.jsonl").write_bytes(agent)
    back = record("user", f"another prompt, with {SECRET}", 40, 11)
    title = json.dumps({"type": "custom-title", "customTitle": "named", "sessionId": SESSION}).encode() + b"\n"
    followed.write(back, title)
    recording = followed.until(path.stat().st_size)
    assert told(recording) == read_whole(path)
    assert "abandoned" in recording.events[9].extra
    assert recording.meta["title"] == "named"
    assert {event.thread for event in recording.events} == {None, "agent-a1"}
    assert SECRET not in json.dumps(recording.blobs.get(recording.events[-2].ref))


def test_half_a_line_waits_for_its_rest(followed: Followed) -> None:
    path, (line, *_) = followed.path, turn(3)
    followed.write(line[:60])
    recording = followed.until(path.stat().st_size)
    assert (len(recording.events), recording.meta["source"]["damagedLines"]) == (9, 0)
    assert [note.kind for note in recording.notes] == ["unfinished-line"]
    followed.write(line[60:-1])
    assert len(followed.until(path.stat().st_size).events) == 10
    followed.write(b"\n")
    recording = followed.until(path.stat().st_size)
    assert told(recording) == read_whole(path)
    assert (len(recording.events), recording.notes) == (10, ())


def test_a_file_that_is_cut_or_replaced_is_followed_from_its_start(followed: Followed) -> None:
    path = followed.path
    followed.until(path.stat().st_size)
    os.truncate(path, sum(map(len, turn(0))))
    assert told(followed.until(path.stat().st_size)) == read_whole(path)
    assert followed.session.count == 3
    other = path.with_suffix(".new")
    other.write_bytes(b"".join(turn(5) + turn(6)))
    os.replace(other, path)
    assert told(followed.until(path.stat().st_size)) == read_whole(path)
    followed.write(*turn(7))
    assert told(followed.until(path.stat().st_size)) == read_whole(path)
    path.unlink()
    with pytest.raises(StashError) as failure:
        followed.until(0)
    assert failure.value.code == ErrorCode.NOT_FOUND
    assert followed.session.count == 9


def test_one_document_is_not_followed_however_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversion, "LARGE", 1000)
    path = tmp_path / "session.json"
    messages = [{"id": str(number), "type": "user", "content": "x" * 100} for number in range(20)]
    path.write_text(json.dumps({"sessionId": "s", "projectHash": "p", "messages": messages}, indent=1))
    with pytest.raises(StashError, match="not followed"):
        follow_one(path)
