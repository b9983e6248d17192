"""Sessions of opencode: an export, an answer of its server and its database are the same run."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.diff import diff_recordings
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.model import Recording
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import counts, imported

TABLES = """
CREATE TABLE session (id TEXT, title TEXT, directory TEXT, version TEXT, parent_id TEXT, revert TEXT, time_created);
CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
"""
NOW = 1_796_056_092_715


def user(*parts: dict[str, Any], name: str = "msg_1", **info: Any) -> dict[str, Any]:
    return {
        "info": {"id": name, "sessionID": "ses_1", "role": "user", "time": {"created": NOW}, **info},
        "parts": list(parts),
    }


def reply(*parts: dict[str, Any], name: str = "msg_2", **info: Any) -> dict[str, Any]:
    told = {
        "id": name,
        "sessionID": "ses_1",
        "role": "assistant",
        "modelID": "m",
        "time": {"created": NOW + 10},
        **info,
    }
    return {"info": told, "parts": list(parts)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def tool(status: str, **state: Any) -> dict[str, Any]:
    return {
        "type": "tool",
        "tool": "bash",
        "callID": "c1",
        "state": {"status": status, "input": {"command": "ls"}, **state},
    }


def finish(**more: Any) -> dict[str, Any]:
    tokens = {"input": 6, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 0}}
    return {"type": "step-finish", "reason": "stop", "cost": 0.5, "tokens": tokens, **more}


def export(*messages: dict[str, Any], **info: Any) -> bytes:
    told = {"id": "ses_1", "projectID": "p", "directory": "/d", "title": "T", "time": {"created": NOW}, **info}
    return json.dumps({"info": told, "messages": list(messages)}).encode()


def value(recording: Recording, seq: int) -> Any:
    return recording.blobs.tree(recording.events[seq].ref)


def test_an_export_is_prompts_answers_and_tools(formats_data: Path) -> None:
    recording = imported(formats_data / "opencode" / "export.json")
    assert counts(recording) == {"user": 1, "llm": 4, "tool": 3, "throws": 1, "pending": 0}
    assert [(e.channel, e.key, e.ms, e.label) for e in recording.events][1:5] == [
        ("llm", "mock-1", 2812.0, "Let me count."),
        ("tool", "bash", 10_918.0, "bash: echo three bikes"),
        ("llm", "mock-1", 916.0, "→ read"),
        ("tool", "read", 49.0, "read: /home/dev/shop/missing.txt"),
    ]
    assert value(recording, 4) == {"error": "File not found: /home/dev/shop/missing.txt"}
    used = [usage_of_event(recording, event) for event in recording.events if event.channel == "llm"]
    assert [(usage.input, usage.output, usage.cached) for usage in used if usage] == [
        (100, 7, 40), (101, 7, 40), (102, 7, 40), (103, 7, 40),
    ]  # fmt: skip
    assert recording.id == "opencode-ses_dd2b6f2c6ffe7WzwLsTURYapSj"
    assert explain(recording).unknown == {}


def test_the_database_and_the_server_tell_the_same_as_the_export(formats_data: Path, tmp_path: Path) -> None:
    path = formats_data / "opencode" / "export.json"
    tree = json.loads(path.read_bytes())
    info, messages = tree["info"], tree["messages"]
    with sqlite3.connect(tmp_path / "opencode.db") as made:
        made.executescript(TABLES)
        facts = (info["title"], info["directory"], info["version"])
        for name, parent, created in ((info["id"], None, NOW), ("ses_child", info["id"], NOW - 1)):
            made.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, NULL, ?)", (name, *facts, parent, created))
        for message in reversed(messages):
            told = message["info"]
            made.execute("INSERT INTO message VALUES (?, ?, ?)", (told["id"], info["id"], json.dumps(told)))
            for part in reversed(message["parts"]):
                row = (part["id"], told["id"], info["id"], json.dumps(part))
                made.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)
    made.close()
    exported = imported(path)
    assert [run.detail for run in run_summaries(tmp_path / "opencode.db")] == [
        "/home/dev/shop", "sub-agent, /home/dev/shop",
    ]  # fmt: skip
    assert diff_recordings(exported, read_foreign(tmp_path / "opencode.db", run=0)).same
    assert diff_recordings(exported, read_foreign(json.dumps(messages).encode())).same


def test_each_step_of_an_answer_is_a_model_call() -> None:
    done = tool("completed", output="a", metadata={"output": "a", "exit": 0}, time={"start": NOW + 20, "end": NOW + 30})
    recording = read_foreign(export(
        user(text("go"), text("reminder", synthetic=True), {"type": "file", "mime": "text/plain", "url": "file:///a"}),
        reply({"type": "step-start"}, {"type": "reasoning", "text": "hm"}, done, finish(),
              {"type": "patch", "hash": "h", "files": ["/d/a"]}, {"type": "step-start"}, text("done"), finish()),
    ))  # fmt: skip
    assert [(e.channel, e.key) for e in recording.events] == [
        ("user", "prompt"), ("llm", "m"), ("tool", "bash"), ("llm", "m"), ("state", "patch"),
    ]  # fmt: skip
    assert value(recording, 1)["content"][0] == {"type": "thinking", "thinking": "hm"}
    assert (value(recording, 1)["cost"], value(recording, 1)["stop_reason"]) == (0.5, "stop")
    assert value(recording, 2) == {"content": "a", "metadata": {"exit": 0}}
    given = recording.events[3].input_ref
    assert given is not None
    assert [said["role"] for said in recording.blobs.tree(given)["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize("status", ["pending", "running"])
def test_a_tool_that_never_ended_is_pending(status: str) -> None:
    recording = read_foreign(export(user(text("go")), reply(tool(status, time={"start": NOW}))))
    assert counts(recording) == {"user": 1, "llm": 1, "tool": 1, "throws": 0, "pending": 1}
    assert "cut" in recording.events[1].extra


def test_errors_and_retries_are_throws() -> None:
    error = {"name": "MessageAbortedError", "data": {"message": "aborted"}}
    retry = {
        "type": "retry",
        "attempt": 1,
        "error": {"name": "APIError", "data": {"message": "busy"}},
        "time": {"created": NOW},
    }
    recording = read_foreign(export(user(text("go")), reply(retry, text("I "), error=error)))
    assert [(e.channel, e.outcome, e.label) for e in recording.events][1:] == [
        ("note", "throw", "retry 1: busy"), ("llm", "throw", "I"),
    ]  # fmt: skip
    assert value(recording, 2)["error"] == error


def test_after_a_compaction_prompts_begin_with_its_summary_and_what_was_undone_is_abandoned() -> None:
    recording = read_foreign(export(
        user(text("go")), reply(text("long"), finish()),
        user({"type": "compaction", "auto": True}, name="msg_3"),
        reply(text("short"), finish(), name="msg_4", summary=True),
        user(text("on"), name="msg_5"), reply(text("yes"), finish(), name="msg_6"),
        revert={"messageID": "msg_5"},
    ))  # fmt: skip
    assert [(e.channel, "abandoned" in e.extra) for e in recording.events] == [
        ("user", False), ("llm", False), ("note", False), ("llm", False), ("user", True), ("llm", True),
    ]  # fmt: skip
    given = recording.events[-1].input_ref
    assert given is not None
    said = recording.blobs.tree(given)["messages"]
    assert [part["content"] for part in said] == [
        "What did we do so far?", [{"type": "text", "text": "short"}], [{"type": "text", "text": "on"}],
    ]  # fmt: skip


def test_parts_that_are_not_known_are_kept_and_counted() -> None:
    odd = {"info": {"role": "robot"}, "parts": []}
    recording = read_foreign(export(user(text("go"), {"type": "hologram"}), reply({"type": "dance"}, finish()), odd))
    assert explain(recording).unknown == {"part type hologram": 1, "part type dance": 1, "message role robot": 1}
    assert [e.key for e in recording.events if e.channel == "state"] == ["part hologram", "part dance", "message robot"]
