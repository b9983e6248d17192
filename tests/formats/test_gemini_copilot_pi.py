"""Sessions of the Gemini CLI, the Copilot CLI and pi."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.model import Recording
from stashdbg_core.session.summary import outcome_word
from tests.formats import transcripts as look
from tests.formats.transcripts import called, chat, main_counts, marked, of_channel, opened, value

DATA = Path(__file__).parent.parent / "data" / "formats"
SHARED = {
    "gemini-cli/session-2026-11-30T07-36-82299ccd.jsonl": (5, 5, 1),
    "gemini-cli/stream-json-stdout-v0.61.jsonl": (5, 5, 1),
    "gemini-cli/legacy-session-3KB.json": (4, 2, 0),
    "gemini-cli/v0.40-session-1KB.jsonl": (2, 1, 0),
    "copilot-cli/large-3KB.jsonl": (4, 2, 0),
    "copilot-cli/schema-coverage-12KB.jsonl": (3, 2, 2),
    "pi/large-session-v1-974KB.jsonl": (453, 373, 41),
}


def texts(recording: Recording, call: Any) -> list[str]:
    """Return the prompt of a model call, message by message."""
    found = chat(recording, call)
    return [message.text for message in found.messages[: -found.replies or None]]


def test_the_named_counts_are_met(shared_samples: Path | None) -> None:
    for name, counted in SHARED.items() if shared_samples is not None else ():
        recording = read_foreign(shared_samples / name)  # type: ignore[operator]
        assert main_counts(recording) == counted, name
        assert explain(recording).format == name.split("/")[0].replace(
            "gemini-cli", "gemini-cli" if "stream" not in name else "gemini-stream-json"
        )


# Gemini CLI


@pytest.fixture(scope="module")
def gemini() -> Recording:
    """A session written by the Gemini CLI against a mock model."""
    return read_foreign(DATA / "gemini_cli" / "session.jsonl")


def test_a_message_written_again_is_one_call_with_its_tools(gemini: Recording) -> None:
    first = of_channel(gemini, "llm")[0]
    listed, read = of_channel(gemini, "tool")[:2]

    assert main_counts(gemini) == (5, 5, 1)
    assert [block["type"] for block in value(gemini, first)["content"]] == ["thinking", "text", "tool_use", "tool_use"]
    assert (read.key, value(gemini, read)) == ("read_file", "def add(a, b):\n    return a - b\n")
    assert "Directory listing" in value(gemini, listed)["output"]
    assert value(gemini, of_channel(gemini, "tool")[2]) == {"error": "File not found: /home/dev/lab/gwork/missing.txt"}
    used = look.total_usage(gemini)
    assert (used.input, used.cached, used.output) == (5500, 2500, 200)


def test_tool_results_stand_once_in_the_prompt(gemini: Recording) -> None:
    last = chat(gemini, of_channel(gemini, "llm")[-1])
    asked = [call for message in last.messages for call in message.tool_calls]

    assert [call.name for call in asked] == ["list_directory", "read_file", "read_file", "replace", "run_shell_command"]
    assert [call.result is not None and call.result.is_error for call in asked] == [False, False, True, False, False]
    assert not [message for message in last.messages if message.role == "tool"]
    assert [e.label for e in of_channel(gemini, "user")] == ["Fix the add function in app.py"]


def message(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": name, "timestamp": "2026-01-01T00:00:00Z", "type": kind, "content": content, **more}


HEADER = {"sessionId": "g-1", "projectHash": "p", "startTime": "2026-01-01T00:00:00Z", "kind": "main"}


def test_rewinding_and_replacing_change_the_prompts_and_no_event_is_lost(tmp_path: Path) -> None:
    again = [message("u9", "user", "<session_context>new"), message("g1", "gemini", "one")]
    records = [
        HEADER, message("u1", "user", "first"), message("g1", "gemini", "one"),
        message("u2", "user", "wrong"), message("g2", "gemini", "two"),
        {"$rewindTo": "u2"}, message("u3", "user", "right"), message("g3", "gemini", "three"),
        {"$set": {"messages": again}}, message("u4", "user", "last"), message("g4", "gemini", "four"),
        message("i1", "error", "quota"), message("d1", "dream", "x"),
    ]  # fmt: skip
    recording = opened(tmp_path / "s.jsonl", records)
    calls = of_channel(recording, "llm")

    assert [e.label for e in calls] == ["one", "two", "three", "four"]
    assert texts(recording, calls[2]) == ["first", "one", "right"]
    assert texts(recording, calls[3]) == ["<session_context>new", "one", "last"]
    assert {e.label for e in recording.events if "abandoned" in e.extra} == {"wrong", "two"}
    assert [(e.key, e.outcome) for e in of_channel(recording, "note")] == [("rewind", "return"), ("error", "throw")]
    assert set(explain(recording).unknown) == {"message type dream"}


def test_documents_of_old_versions_and_calls_in_flight(tmp_path: Path) -> None:
    calls = [
        {"id": "c1", "name": "ls", "args": {}, "status": "executing"},
        {"id": "c2", "name": "rm", "args": {}, "status": "cancelled"},
    ]
    document = {
        **HEADER,
        "messages": [message("u1", "user", "Go"), message("g1", "gemini", "", toolCalls=calls, model="m"), 7],
    }
    (tmp_path / "session.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    recording = read_foreign(tmp_path / "session.json")

    assert [outcome_word(e) for e in of_channel(recording, "tool")] == ["pending", "threw"]
    assert recording.id == "gemini-cli-g-1"


def test_sub_agents_of_gemini_lie_in_a_folder_named_after_the_session(tmp_path: Path) -> None:
    look.written(
        tmp_path / "g-1" / "sub.jsonl",
        [{**HEADER, "sessionId": "sub", "kind": "subagent"}, message("x1", "gemini", "found")],
    )
    recording = opened(tmp_path / "session.jsonl", [HEADER, message("u1", "user", "Go"), message("g1", "gemini", "ok")])

    assert [e.label for e in recording.events if e.thread == "agent-sub"] == ["found"]
    assert recording.id == "gemini-cli-g-1"


def test_the_printed_stream(gemini: Recording) -> None:
    recording = read_foreign(DATA / "gemini_cli" / "stream.jsonl")

    assert main_counts(recording) == main_counts(gemini)
    assert [e.key for e in of_channel(recording, "tool")] == [e.key for e in of_channel(gemini, "tool")]
    assert len(marked(recording, "inferred")) == 5
    assert look.total_usage(recording).input == 5500
    assert value(recording, of_channel(recording, "tool")[2])["error"]["type"] == "file_not_found"


# Copilot CLI


@pytest.fixture(scope="module")
def copilot() -> Recording:
    """A session of the Copilot CLI."""
    return read_foreign(DATA / "copilot_cli" / "events.jsonl")


def test_copilots_calls_meet_their_ends_by_id(copilot: Recording) -> None:
    shell, task, inner = (called(copilot, name) for name in ("c1", "c2", "c3"))

    assert main_counts(copilot) == (2, 2, 1)
    assert (shell.label, value(copilot, shell), shell.ms) == ("shell: ls", "a.txt\nb.txt", 8000)
    assert (inner.thread, inner.parent, value(copilot, inner)) == ("agent-c2", task.seq, {"error": "denied"})
    agent = of_channel(copilot, "agent")[0]
    assert (agent.key, agent.parent, agent.outcome) == ("counter", task.seq, "return")


def test_copilots_prompts_are_what_the_model_saw(copilot: Recording) -> None:
    last = chat(copilot, called(copilot, "m3"))

    assert [m.text for m in last.messages] == [
        "You are Copilot.",
        "<now>09:00</now>\nList the files",
        "Two things at once.",
        "a.txt and b.txt",
    ]
    assert [call.result and call.result.text for call in last.messages[2].tool_calls] == ["a.txt\nb.txt", "no idea"]
    assert last.messages[2].thinking == "Easy."
    assert value(copilot, of_channel(copilot, "user")[0])["content"] == "List the files"
    assert look.total_usage(copilot).output == 23
    assert explain(copilot).unknown == {"record type session.novelty": 1}


# pi


@pytest.fixture(scope="module")
def pi() -> Recording:
    """A session of pi, version 3, with a branch and a compaction."""
    return read_foreign(DATA / "pi" / "session.jsonl")


def test_pis_calls_answers_and_usage(pi: Recording) -> None:
    first = of_channel(pi, "llm")[0]
    grep = called(pi, "t1")

    assert main_counts(pi) == (5, 2, 2)  # a call in an answer that was aborted never ran
    assert (grep.label, grep.outcome, value(pi, grep)) == (
        "bash: grep -rn old .",
        "throw",
        {"error": "grep: no matches"},
    )
    assert value(pi, called(pi, "t2")) == {"content": [{"type": "text", "text": "def old(): ..."}]}
    assert (first.key, value(pi, first)["stop_reason"]) == ("claude-sonnet-4-5", "toolUse")
    used = look.total_usage(pi)
    assert (used.input, used.output, used.cached) == (5 * 108, 35, 500)


def test_pis_branches_and_compactions_make_the_prompts(pi: Recording) -> None:
    calls = of_channel(pi, "llm")

    assert texts(pi, calls[3]) == [
        "Rename the function",
        "On it.",
        "Nothing to rename.",
        "The user nearly deleted a.py.",
        "Keep a.py",
    ]
    assert texts(pi, calls[4]) == ["a.py is kept.", "Keep a.py", "Kept.", "ls\na.py", "Thanks"]
    assert {e.label for e in pi.events if "abandoned" in e.extra} == {"Delete a.py", "Deleting."}
    assert value(pi, calls[2])["error"] == "Request was aborted"


def test_sessions_have_titles_for_a_picker() -> None:
    titles = [run_summaries(DATA / name)[0].title for name in ("copilot_cli/events.jsonl", "pi/session.jsonl")]
    assert titles == ["List the files", "Rename the function"]


WHOLE = {
    name: (DATA / name).read_bytes().splitlines()
    for name in ("gemini_cli/session.jsonl", "copilot_cli/events.jsonl", "pi/session.jsonl")
}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    name=st.sampled_from(sorted(WHOLE)),
    damage=st.dictionaries(st.integers(1, 30), st.tuples(st.integers(0, 400), st.binary(max_size=6)), max_size=4),
    cut=st.integers(0, 40),
)
def test_damage_never_stops_the_reading(name: str, damage: dict[int, tuple[int, bytes]], cut: int) -> None:
    lines = list(WHOLE[name])
    for number, (place, junk) in damage.items():
        if number < len(lines):
            at = min(place, len(lines[number]) - 1)
            lines[number] = (lines[number][:at] + junk + lines[number][at + 1 :]).replace(b"\n", b" ")
    data = b"\n".join(lines) + b"\n"
    data = data[: len(data) - cut] if cut else data
    try:
        recording = read_foreign(data)
    except StashError:
        assert damage
        return
    hit = set(damage) | ({len(lines) - 1} if cut else set())
    whole = [json.loads(line) for number, line in enumerate(WHOLE[name]) if number not in hit]
    if name.startswith("pi"):
        answers = [record for record in whole if record.get("message", {}).get("role") == "assistant"]
        assert len(of_channel(recording, "llm")) >= len(answers)
    elif name.startswith("copilot"):
        told = {record["data"]["messageId"] for record in whole if record["type"] == "assistant.message"}
        assert told <= {e.call_id for e in recording.events}
    else:
        told = {record["id"] for record in whole if record.get("type") == "gemini"}
        assert told <= {e.call_id for e in recording.events}
