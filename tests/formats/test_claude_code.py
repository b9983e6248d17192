"""Sessions and streams of Claude Code.

Counts named for a session file are those of its own lane; the files of its sub-agents are further lanes of the same
recording. In sessions of old versions the sub-agents stand in the file itself, and count.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import detect, explain, read_foreign, run_summaries
from stashdbg_core.formats.readers.claude.lines import added, is_markup, tool_key
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.session.summary import outcome_word
from tests.formats import transcripts as look
from tests.formats.transcripts import called, chat, main_counts, marked, of_channel, opened, value

SESSION = "3f0c2a11-0000-4000-8000-00000000a001"
SHARED = {
    "4d5611e5-241a-462a-8d15-5122611a9569.jsonl": (1512, 139, 150, 5),
    "fe5e1c67-inline-sidechain-774KB-v1.0.98.jsonl": (438, 170, 167, 23),
    "subagent-237KB-v2.1.38.jsonl": (96, 12, 16, 0),
    "1af7fc5e-small-v1.0.98.jsonl": (29, 7, 12, 1),
    "b3a7bd3c-5a10-4e7b-8ff0-7fc0cd6d1093.jsonl": (13, 2, 4, 0),
}


@pytest.fixture(scope="module")
def folder() -> Path:
    """Fixtures of our own."""
    return Path(__file__).parent.parent / "data" / "formats" / "claude_code"


@pytest.fixture(scope="module")
def session(folder: Path) -> Any:
    """A session with a sub-agent, parallel calls, a compaction and a call in flight."""
    return read_foreign(folder / f"{SESSION}.jsonl")


def line(uuid: str, parent: str | None, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("id", uuid), "model": "m", "usage": {"input_tokens": 1, "output_tokens": 1}}
    return {
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "isSidechain": False,
        "timestamp": "2026-01-01T00:00:00Z", "message": message, **more,
    }  # fmt: skip


def use(call_id: str, name: str = "Bash", **inputs: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": inputs}


def result(call_id: str, content: Any = "ok", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def test_the_named_counts_are_met(shared_samples: Path | None) -> None:
    for name, (lines, *counted) in SHARED.items() if shared_samples is not None else ():
        path = shared_samples / "claude-code" / name  # type: ignore[operator]
        recording = read_foreign(path)
        events = recording.events if "inline" in name else [e for e in recording.events if e.thread is None]

        assert len(path.read_bytes().splitlines()) == lines
        assert look.tuple_counts(events) == tuple(counted), name
        assert not marked(recording, "abandoned"), name
        assert not [event for event in recording.events if outcome_word(event) == "pending"], name


def test_every_shared_sample_opens_and_says_what_it_met(shared_samples: Path | None) -> None:
    folders = ("claude-code", "edge") if shared_samples is not None else ()
    paths = [path for name in folders for path in (shared_samples / name).rglob("*.json*")]  # type: ignore[operator]
    for path in paths:
        if path.name.endswith(".meta.json") or not path.stat().st_size or path.suffix == ".zst":
            continue
        recording = read_foreign(path)
        told = explain(recording)

        assert len(recording.events), path.name
        assert told.format in ("claude-code", "claude-stream-json")
        assert told.damaged_lines == ("garbage" in path.name), path.name
        kinds = {note.kind for note in recording.notes}
        assert ("unfinished-line" in kinds) == ("partial" in path.name)
        assert ("not-utf8" in kinds) == ("non-utf8" in path.name)
        if "drift" in path.name:
            assert set(told.unknown) == {"record type tool_use", "record type tool_result"}
            assert [event.key for event in of_channel(recording, "state")] == ["record tool_use", "record tool_result"]


def test_an_answer_told_in_pieces_is_one_call_with_the_usage_of_its_last_line(session: Any) -> None:
    first = called(session, "msg_1")
    answer = value(session, first)

    assert [block["type"] for block in answer["content"]] == ["thinking", "tool_use", "tool_use", "tool_use"]
    assert (answer["stop_reason"], answer["usage"]["output_tokens"]) == ("tool_use", 120)
    assert (first.key, first.label) == ("claude-opus-4-6", "→ Bash, Read, mcp__tracker__find_issue")
    assert look.total_usage(session).output == 120 + 44 + 60 + 15 + 9 + 8 + 12 + 14


def test_calls_and_results_meet_by_id(session: Any) -> None:
    tests, read, issue = (called(session, name) for name in ("toolu_1", "toolu_2", "toolu_3"))

    assert [event.label for event in (tests, read, issue)] == [
        "Bash: pytest -q tests/test_cart.py",
        "Read: /home/dev/shop/cart.py",
        "tracker/find_issue: cart total",
    ]
    assert (tests.outcome, value(session, tests)["error"][:11]) == ("throw", "Exit code 1")
    assert value(session, read).startswith("     1→def total")  # what the tool itself returned adds nothing
    assert look.given(session, tests)["description"] == "Run the cart test"
    assert tests.ms == 5000 and issue.key == "tracker/find_issue"
    assert main_counts(session) == (6, 7, 2)


def test_a_model_call_is_given_the_whole_prompt(session: Any) -> None:
    second = chat(session, called(session, "msg_2"))
    asked = second.messages[2]

    assert [message.role for message in second.messages] == ["user", "user", "assistant", "assistant"]
    assert second.messages[1].text.endswith("Why does the cart test fail?\n[image]")
    assert asked.thinking == "Look at the test and the code."
    assert [(call.name, call.result and call.result.text[:11]) for call in asked.tool_calls] == [
        ("Bash", "Exit code 1"),
        ("Read", "     1→def "),
        ("mcp__tracker__find_issue", "#12 cart to"),
    ]
    assert asked.tool_calls[0].result is not None and asked.tool_calls[0].result.is_error


def test_a_compaction_begins_the_prompts_anew(session: Any) -> None:
    note = next(event for event in of_channel(session, "note") if event.key == "compaction")
    after = chat(session, called(session, "msg_5"))

    assert note.label == "conversation compacted (manual, 1200 tokens before)"
    assert [message.text for message in after.messages[:2]] == [
        "This session is being continued. The cart total was fixed.",
        "Add a test for an empty cart",
    ]


def test_prompts_are_what_a_person_wrote(session: Any) -> None:
    prompts = of_channel(session, "user")

    assert [event.label for event in prompts] == ["Why does the cart test fail?", "Add a test for an empty cart"]
    source = value(session, prompts[0])["content"][2]["source"]
    assert source["media_type"] == "image/png"
    assert (source["data"]["mime"], source["data"]["bytes"]) == ("image/png", 32)
    assert source["data"]["data"]["$stash"] == "bytes"


def test_what_only_the_tool_itself_says_is_kept_beside_the_result(session: Any) -> None:
    edit, task = value(session, called(session, "toolu_5")), value(session, called(session, "toolu_4"))

    assert list(edit["toolUseResult"]) == ["structuredPatch"]
    assert session.meta["source"]["skipped"]["files as they were before an edit"] == 1
    assert task["toolUseResult"]["agentId"] == "a1b2c3" and "content" not in task["toolUseResult"]
    assert value(session, called(session, "toolu_6"))["fullOutput"] == "line 1\nline 2\nline 3\n"


def test_a_sub_agents_file_is_a_lane_under_its_call(session: Any) -> None:
    task = called(session, "toolu_4")
    lane = [event for event in session.events if event.thread == "agent-a1b2c3"]

    assert [(event.channel, event.parent) for event in lane] == [(c, task.seq) for c in ("user", "llm", "tool", "llm")]
    assert [message.text for message in chat(session, lane[1]).messages] == ["Find every caller of total()", ""]
    assert task.ms == 4200
    assert session.events[task.seq + 1] == lane[0]


def test_a_call_in_flight_is_pending_and_no_failure(session: Any) -> None:
    last = called(session, "toolu_7")

    assert outcome_word(last) == "pending"
    assert explain(session).pending == 1


def test_failures_of_the_run_are_notes_that_threw(session: Any) -> None:
    overloaded = next(event for event in of_channel(session, "note") if event.key == "api_error")

    assert (overloaded.outcome, overloaded.label) == ("throw", "api_error: Overloaded")
    assert value(session, overloaded)["retryAttempt"] == 1


def test_the_run_is_named_and_known_by_its_own_id(session: Any, folder: Path) -> None:
    assert session.id == f"claude-code-{SESSION}"
    assert session.meta["title"] == "Fix the cart total"
    assert session.meta["source"]["cwd"] == "/home/dev/shop"
    assert run_summaries(folder / f"{SESSION}.jsonl")[0].title == "Why does the cart test fail?"


def test_side_chains_of_old_versions_are_lanes_though_they_interleave(folder: Path) -> None:
    recording = read_foreign(folder / "inline_sidechains.jsonl")
    files, lines = called(recording, "toolu_i1"), called(recording, "toolu_i2")
    lanes = {name: [e for e in recording.events if e.thread == name] for name in ("agent-1", "agent-2")}

    assert look.tuple_counts(recording.events) == (6, 4, 1)
    assert {event.parent for event in lanes["agent-1"]} == {lines.seq}
    assert {event.parent for event in lanes["agent-2"]} == {files.seq}
    assert [event.label for event in lanes["agent-2"]] == [
        "Count the files", "→ Bash", "Bash: ls | wc -l", "4 files",
    ]  # fmt: skip
    assert main_counts(recording) == (2, 2, 0)


def test_progress_is_the_trace_of_a_sub_agent_without_a_file(tmp_path: Path) -> None:
    def progress(message: dict[str, Any]) -> dict[str, Any]:
        data = {"type": "agent_progress", "agentId": "q9", "message": message}
        return {"type": "progress", "data": data, "parentToolUseID": "t1", "uuid": message["uuid"] + "p"}

    told = line("x2", "x1", "assistant", [use("t2", command="ls")])
    records = [
        line("u1", None, "user", "Go"),
        line("a1", "u1", "assistant", [use("t1", "Task", prompt="Look", description="d")]),
        progress(line("x1", None, "user", "Look")),
        progress(told),
        progress(told),
        progress(line("x3", "x2", "user", [result("t2", "a.py")])),
        line("r1", "a1", "user", [result("t1", "found a.py")], toolUseResult={"agentId": "q9", "status": "completed"}),
    ]
    recording = opened(tmp_path / "s.jsonl", records)
    lane = [event for event in recording.events if event.thread == "agent-q9"]

    assert [event.channel for event in lane] == ["user", "llm", "tool"]
    assert {event.parent for event in lane} == {called(recording, "t1").seq}
    assert value(recording, called(recording, "t2")) == "a.py"


def test_results_that_are_late_repeated_or_of_no_call(tmp_path: Path) -> None:
    records = [
        line("u1", None, "user", "Go"),
        line("a1", "u1", "assistant", [use("t1", command="slow"), use("t2", command="fast")]),
        line("r2", "a1", "user", [result("t2", "fast")]),
        line("a2", "r2", "assistant", "Meanwhile"),
        line("r1", "a2", "user", [result("t1", "slow")]),
        line("r1b", "a2", "user", [result("t1", "again")]),
        line("r1", "a2", "user", [result("t1", "slow")]),
        line("r9", "a2", "user", [result("t9", "whose?")]),
        line("a3", "r9", "assistant", "Done"),
    ]
    recording = opened(tmp_path / "s.jsonl", records)

    assert [value(recording, called(recording, name)) for name in ("t1", "t2", "t9")] == ["slow", "fast", "whose?"]
    assert [event.label for event in of_channel(recording, "tool")][:2] == ["Bash: slow", "Bash: fast"]
    assert [note.kind for note in recording.notes] == ["repeated-result"]
    assert marked(recording, "cut") == [called(recording, "t9").seq]
    assert recording.meta["source"]["skipped"] == {"repeated records": 1}
    assert len(look.given(recording, called(recording, "a3"))["messages"]) == 7


def test_a_branch_left_with_rewind_is_marked_and_in_no_later_prompt(tmp_path: Path) -> None:
    records = [
        line("u1", None, "user", "Start"),
        line("a1", "u1", "assistant", "Ready"),
        line("u2", "a1", "user", "Wrong way"),
        line("a2", "u2", "assistant", [use("t1", command="rm x")]),
        line("r1", "a2", "user", [result("t1")]),
        line("u3", "a1", "user", "Right way"),
        line("a3", "u3", "assistant", "Good"),
    ]
    recording = opened(tmp_path / "s.jsonl", records)
    wrong = [event.seq for event in recording.events if event.label in ("Wrong way", "→ Bash", "Bash: rm x")]

    assert marked(recording, "abandoned") == [*wrong, wrong[-1] + 1]  # and the note that says so
    assert [m.text for m in chat(recording, called(recording, "a3")).messages] == [
        "Start",
        "Ready",
        "Right way",
        "Good",
    ]
    assert "abandoned-branch" in {note.kind for note in recording.notes}

    kept = opened(tmp_path / "kept.jsonl", [*records, {"type": "last-prompt", "sessionId": "s-1", "leafUuid": "r1"}])
    assert {event.label for event in kept.events if "abandoned" in event.extra} == {"Right way", "Good"}


def test_a_failed_request_is_a_model_call_that_threw_and_a_synthetic_answer_is_none(tmp_path: Path) -> None:
    failed = line("a1", "u1", "assistant", [{"type": "text", "text": "API Error: 500"}], isApiErrorMessage=True)
    synthetic = line("a2", "u2", "assistant", [{"type": "text", "text": "No response requested."}])
    synthetic["message"]["model"] = "<synthetic>"
    recording = opened(
        tmp_path / "s.jsonl", [line("u1", None, "user", "Go"), failed, line("u2", "a1", "user", "On"), synthetic]
    )

    (call,) = of_channel(recording, "llm")
    assert (call.outcome, value(recording, call)) == ("throw", {"error": "API Error: 500"})


def test_drift_is_kept_and_counted(tmp_path: Path) -> None:
    odd = {**line("a1", "u1", "assistant", "Hi"), "mood": "fine"}
    recording = opened(
        tmp_path / "s.jsonl",
        [line("u1", None, "user", "Go"), odd, {"type": "dream", "uuid": "d", "sessionId": "s-1"},
         {"type": "system", "subtype": "weather", "sessionId": "s-1"}, {"type": ["x"], "sessionId": "s-1"}],
    )  # fmt: skip
    told = explain(recording)

    assert set(told.unknown) == {
        "field assistant.mood", "record type dream", "system record weather", "shape of a record of type ?",
    }  # fmt: skip
    assert value(recording, called(recording, "a1"))["record"] == {"mood": "fine"}
    assert [event.key for event in of_channel(recording, "state")] == ["record dream", "system weather", "record ?"]


def test_a_line_too_long_costs_that_line(tmp_path: Path) -> None:
    path = look.written(tmp_path / "s.jsonl", [line("u1", None, "user", "Go")])
    with path.open("ab") as file:
        file.write(b'{"type":"user","sessionId":"s-1","x":"' + b"x" * (17 << 20) + b'"}\n')
        file.write(json.dumps(line("a1", "u1", "assistant", "y" * (3 << 20))).encode() + b"\n")
    recording = read_foreign(path)

    assert explain(recording).damaged_lines == 1
    assert len(value(recording, called(recording, "a1"))["content"][0]["text"]) == 3 << 20


def test_streams_as_lines_and_as_an_array_are_the_same(folder: Path, tmp_path: Path) -> None:
    array = folder / "action.json"
    lines = look.written(tmp_path / "stream.jsonl", json.loads(array.read_bytes()))
    recordings = [read_foreign(path) for path in (array, lines)]

    for recording in recordings:
        agent = [event for event in recording.events if event.thread == "agent-t1"]
        assert main_counts(recording) == (2, 1, 0)
        assert [(event.channel, event.parent) for event in agent] == [("user", 1), ("llm", 1), ("tool", 1)]
        assert agent[2].outcome == "throw"
        assert look.total_usage(recording).output == 20 + 4 + 6  # the sum in the result record is not added
        assert recording.id == "claude-stream-json-st-1"
    assert [event.label for event in recordings[0].events] == [event.label for event in recordings[1].events]


def test_what_is_not_a_session_is_not_taken_for_one() -> None:
    for text in (
        b'{"sessionId":"x","projectHash":"y"}\n',
        b'{"type":"user","uuid":"u"}\n',
        b'{"role":"user","content":"x"}\n',
    ):
        found = detect(ForeignSource(text))
        assert found is None or not found.name.startswith("claude")


def test_small_facts() -> None:
    assert [tool_key(name) for name in ("Bash", "mcp__a__b", "mcp__a__b__c", None)] == [
        "Bash",
        "a/b",
        "a/b__c",
        "unknown",
    ]
    assert is_markup("<command-name>/clear</command-name>\n<command-args></command-args>")
    assert is_markup([{"type": "text", "text": "<local-command-stdout>x</local-command-stdout>"}])
    assert not is_markup("<command-name>/x</command-name> and then this")
    assert not is_markup("<div>")
    assert not is_markup("")
    assert added({"stdout": "a", "stderr": "", "interrupted": False}, "a", {}) is None
    assert added({"stdout": "a", "stderr": "b"}, "a", {}) == {"stderr": "b"}
    assert added({"type": "image", "file": {"base64": "x"}}, "", {}) is None
    assert added("Error: gone", "gone", {}) is None


LINES = (
    (Path(__file__).parent.parent / "data" / "formats" / "claude_code" / "inline_sidechains.jsonl")
    .read_bytes()
    .splitlines()
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    damage=st.dictionaries(
        st.integers(0, len(LINES) - 1), st.tuples(st.integers(0, 400), st.binary(max_size=6)), max_size=5
    ),
    cut=st.integers(0, 60),
)
def test_damage_costs_no_more_than_the_lines_it_hits(damage: dict[int, tuple[int, bytes]], cut: int) -> None:
    lines = list(LINES)
    for number, (place, junk) in damage.items():
        at = min(place, len(lines[number]) - 1)
        lines[number] = (lines[number][:at] + junk + lines[number][at + 1 :]).replace(b"\n", b" ")
    data = b"\n".join(lines)
    data = data[: len(data) - cut] if cut else data + b"\n"
    whole = set(range(len(LINES) - (cut > 0))) - set(damage)
    try:
        recording = read_foreign(data)
    except StashError:
        assert len(whole) < 2
        return
    answered = {
        record["message"]["id"]
        for record in (json.loads(LINES[number]) for number in whole)
        if record.get("type") == "assistant"
    }
    assert answered <= {event.call_id for event in recording.events}
