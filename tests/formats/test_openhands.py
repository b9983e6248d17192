"""Conversations of OpenHands V1 in folders, and runs of V0 in arrays and lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.formats.folders import run_name
from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.formats.session_finder import find_sessions
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import open_one
from stashdbg_core.session.debugger import Debugger
from tests.formats import transcripts as look
from tests.formats.conftest import FORMATS_DATA, counts
from tests.formats.transcripts import called, chat, given, main_counts, marked, of_channel, value

DATA = FORMATS_DATA / "openhands"
SHARED = {
    ("v1-sdk-1.49/7165893f71b2423eb9c6a0d0b40590c0/base_state.json", 0): (3, 4, 1),
    ("v0-resolver-output-125KB.jsonl", 0): (4, 3, 0),
    ("v0-resolver-output-125KB.jsonl", 1): (22, 21, 0),
}


def test_the_named_counts_are_met(shared_samples: Path | None) -> None:
    for (name, run), counted in SHARED.items() if shared_samples is not None else ():
        recording = read_foreign(shared_samples / "openhands" / name, run=run)  # type: ignore[operator]
        assert main_counts(recording) == counted, name
        assert explain(recording).format == "openhands"


def recorded() -> list[dict[str, Any]]:
    """Return the events of a conversation that OpenHands' software agent SDK wrote."""
    return list(json.loads((DATA / "events.json").read_text()))


def conversation(folder: Path, events: list[dict[str, Any]], **state: Any) -> Path:
    """Write a conversation as the SDK does."""
    (folder / "events").mkdir(parents=True)
    known = json.loads((DATA / "base_state.json").read_text())
    (folder / "base_state.json").write_text(json.dumps({**known, "leaf_event_id": None, **state}))
    for number, one in enumerate(events):
        (folder / "events" / f"event-{number:05}-{number:08x}.json").write_text(json.dumps(one))
    return folder


def event(kind: str, name: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "id": name, "timestamp": "2026-11-30T08:00:00", "source": source, **more}


def said(name: str, text: str, source: str = "user", **more: Any) -> dict[str, Any]:
    role = "user" if source != "agent" else "assistant"
    message = {"role": role, "content": [{"type": "text", "text": text, "cache_prompt": False}]}
    return event("MessageEvent", name, source, llm_message=message, **more)


def action(name: str, response: str, tool: str = "terminal", **arguments: Any) -> dict[str, Any]:
    call = {"id": f"call-{name}", "name": tool, "arguments": json.dumps(arguments)}
    asked = {"tool_name": tool, "tool_call_id": f"call-{name}", "tool_call": call, "llm_response_id": response}
    return event("ActionEvent", name, thought=[{"type": "text", "text": ""}], action=None, **asked)


def result(name: str, of: str, text: str, kind: str = "ObservationEvent", **more: Any) -> dict[str, Any]:
    seen = {"content": [{"type": "text", "text": text}], "is_error": False}
    more = more or {"observation": seen}
    return event(kind, name, "environment", tool_call_id=f"call-{of}", tool_name="terminal", action_id=of, **more)


def texts(recording: Recording, seq: int) -> list[str]:
    """Return the prompt of a model call, message by message."""
    found = chat(recording, recording.events[seq])
    return [message.text for message in found.messages[: -found.replies or None]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return conversation(tmp_path / "7165", recorded())


# V1


def test_any_part_of_a_folder_opens_the_whole_conversation(folder: Path) -> None:
    parts = [folder, folder / "base_state.json", folder / "events", sorted((folder / "events").iterdir())[4]]
    opened = [open_one(part) for part in (*parts, folder / "1")]

    assert {recording.id for recording in opened} == {"openhands-7165893f-71b2-423e-b9c6-a0d0b40590c0"}
    assert {main_counts(recording) for recording in opened} == {(3, 4, 1)}
    assert {recording.path for recording in opened[:4]} == {folder / "base_state.json"}


def test_a_conversation_is_found_where_its_tool_keeps_it_and_followed_as_it_grows(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    folder = conversation(kept / "7165", recorded()[:4])
    home, here = tmp_path / "home", tmp_path / "here"
    here.mkdir()
    (found,) = find_sessions(home, {"OPENHANDS_CONVERSATIONS_DIR": str(kept)}, here)
    assert (found.tool, found.path, found.title) == (
        "OpenHands", folder / "base_state.json", "What is the weather in Paris and Atlantis?",
    )  # fmt: skip

    session = Debugger(open_one(folder))
    assert (session.refresh(), len(session.recording.events)) == (0, 4)
    for number, one in enumerate(recorded()[4:], 4):
        (folder / "events" / f"event-{number:05}-{number:08x}.json").write_text(json.dumps(one))
    state = json.loads((folder / "base_state.json").read_text())
    (folder / "base_state.json").write_text(json.dumps({**state, "leaf_event_id": recorded()[-1]["id"]}))
    assert (session.refresh(), len(session.recording.events)) == (4, 8)


def test_a_state_that_is_half_written_is_waited_for(tmp_path: Path) -> None:
    folder = conversation(tmp_path / "7165", recorded()[:4])
    session, state = Debugger(open_one(folder)), folder / "base_state.json"
    for number, one in enumerate(recorded()[4:], 4):
        (folder / "events" / f"event-{number:05}-{number:08x}.json").write_text(json.dumps(one))
    whole = json.dumps({**json.loads(state.read_text()), "leaf_event_id": recorded()[-1]["id"]})
    for half in ("", whole[:300]):
        state.write_text(half)
        assert (session.refresh(), session.count) == (0, 4)
    state.write_text(whole)
    assert (session.refresh(), session.count) == (4, 8)
    state.write_text(whole[:300])
    os.utime(state, (0, 0))  # nobody is writing it any more
    with pytest.raises(StashError, match="without a version"):
        session.refresh()


def test_calls_are_what_shares_a_response_with_its_latency_and_tokens(folder: Path) -> None:
    recording = open_one(folder)
    first, failed = of_channel(recording, "llm")[0], called(recording, "call_0_1")

    assert (first.key, first.call_id, round(first.ms or 0)) == ("openai/gpt-4o-mini", "chatcmpl-o0", 226)
    assert [block["type"] for block in value(recording, first)["content"]] == ["text", "tool_use", "tool_use"]
    assert failed.outcome == "throw" and "unknown city" in value(recording, failed)["error"]
    used = look.total_usage(recording)
    assert (used.input, used.output) == (600, 60)
    assert given(recording, first)["messages"][0] == {
        "role": "system", "content": [{"type": "text", "text": "You are an agent."}],
    }  # fmt: skip
    assert [tool["title"] for tool in given(recording, first)["tools"]] == ["get_weather"]
    asked = [
        call for message in chat(recording, of_channel(recording, "llm")[-1]).messages for call in message.tool_calls
    ]
    assert [call.result is not None and call.result.is_error for call in asked[:3]] == [False, True, False]


def test_the_zone_of_local_times_is_told_by_the_costs(tmp_path: Path) -> None:
    shifted = [{**one, "timestamp": one["timestamp"].replace("T07:", "T09:")} for one in recorded()]
    local, there = open_one(conversation(tmp_path / "a", shifted)), open_one(conversation(tmp_path / "b", recorded()))
    unknown = open_one(conversation(tmp_path / "c", recorded(), stats={"usage_to_metrics": {}}))

    assert [one.at for one in local.events] == [one.at for one in there.events]
    assert local.notes == () and [note.kind for note in unknown.notes] == ["no-zone"]


def test_a_branch_that_was_left_is_marked_and_no_later_prompt_holds_it(tmp_path: Path) -> None:
    events = [
        said("a", "do it"),
        {**action("b", "r1", command="rm"), "parent_id": "a"},
        {**result("c", "b", "gone"), "parent_id": "b"},
        {**said("d", "rather not", llm_response_id=None), "parent_id": "a"},
        {**said("e", "as you like", "agent", llm_response_id="r2"), "parent_id": "d"},
    ]
    recording = open_one(conversation(tmp_path / "x", events, leaf_event_id="e"))

    assert marked(recording, "abandoned") == [1, 2]
    assert texts(recording, of_channel(recording, "llm")[-1].seq) == ["do it", "rather not"]


def test_a_condensation_leaves_what_it_says_in_later_prompts(tmp_path: Path) -> None:
    events = [
        event("SystemPromptEvent", "s", system_prompt={"type": "text", "text": "S"}, tools=[]),
        said("a", "one"),
        said("b", "two", "agent", llm_response_id="r1"),
        said("c", "three"),
        event("Condensation", "d", "environment", forgotten_event_ids=["a", "b"], summary="so far", summary_offset=1),
        said("e", "four", "agent", llm_response_id="r2"),
    ]
    recording = open_one(conversation(tmp_path / "x", events))

    assert texts(recording, of_channel(recording, "llm")[-1].seq) == ["S", "so far", "three"]
    assert value(recording, of_channel(recording, "note")[0])["forgotten_events"] == 2
    assert [note.message for note in recording.notes if note.kind == "untold-calls"] == [
        "3 model calls were counted that no event tells of, such as those of titles"
    ]


def test_kinds_that_are_no_talk(tmp_path: Path) -> None:
    events = [
        said("a", "go"),
        said("b", "a hook says no", "environment"),
        action("c", "r1", command="ls"),
        result("d", "c", "", "UserRejectObservation", rejection_reason="never", rejection_source="hook"),
        event("HookExecutionEvent", "e", "hook", hook_event_type="PreToolUse", hook_command="x", success=False),
        event("ConversationErrorEvent", "f", "environment", code="LLMError", detail="no quota"),
        event("ConversationStateUpdateEvent", "g", "environment", key="execution_status", value="paused"),
        event("ConversationStateUpdateEvent", "h", "environment", key="full_state", value={"large": 1}),
        event("PauseEvent", "i", "user"),
        event("ACPToolCallEvent", "j", tool_call_id="t", title="Read x", tool_kind="read", status="in_progress"),
        event("ACPToolCallEvent", "k", tool_call_id="t", title="Read x", tool_kind="read", status="completed"),
        event("FutureEvent", "l", what=1),
        {**said("m", "broken"), "llm_message": 7},
    ]
    recording = open_one(conversation(tmp_path / "x", events))

    assert [(e.channel, e.key, e.outcome) for e in recording.events] == [
        ("user", "prompt", "return"), ("llm", "openai/gpt-4o-mini", "return"), ("tool", "terminal", "throw"),
        ("hook", "PreToolUse", "throw"), ("note", "error", "throw"), ("state", "execution_status", "return"),
        ("note", "pause", "return"), ("tool", "read", "return"), ("state", "event FutureEvent", "return"),
        ("state", "record MessageEvent", "return"),
    ]  # fmt: skip
    source = recording.meta["source"]
    assert source["unknown"] == {"event kind FutureEvent": 1, "shape of a record of type MessageEvent": 1}
    assert source["skipped"]["state updates of full_state"] == 1
    assert texts(recording, 1) == ["go", "a hook says no"]


def test_sub_agents_are_lanes_under_the_call_that_holds_their_prompt(tmp_path: Path) -> None:
    task = [said("a", "main"), action("b", "r1", "task", prompt="look around"), result("c", "b", "seen")]
    folder = conversation(tmp_path / "x", task)
    sub = [said("p", "look around"), said("q", "nothing here", "agent", llm_response_id="r9")]
    conversation(folder / "subagents" / "abcdef0123", sub)
    conversation(folder / "subagents" / "ffffffffff", [said("z", "who calls me")])
    recording = open_one(folder)

    found = [(e.channel, e.thread, e.parent) for e in recording.events]
    assert found == [
        ("user", None, None), ("llm", None, None), ("tool", None, None), ("user", "agent-abcdef01", 2),
        ("llm", "agent-abcdef01", 2), ("user", "agent-ffffffff", None),
    ]  # fmt: skip
    assert "unlinked-sub-agent" in {note.kind for note in recording.notes}


def test_events_are_read_by_number_and_what_is_wrong_with_them_is_said(folder: Path) -> None:
    names = sorted((folder / "events").iterdir())
    names[3].write_text("{")
    names[5].unlink()
    names[9].write_text('{"kind": "Obs')
    (folder / "events" / ".eventlog.lock").write_text("")
    recording = open_one(folder)

    assert [note.kind for note in recording.notes] == ["damaged-event", "unfinished-event", "missing-events"]
    assert counts(recording) == {"user": 1, "llm": 3, "tool": 3, "throws": 0, "pending": 1}


def test_no_link_leads_out_of_the_folder(tmp_path: Path, folder: Path) -> None:
    secret = conversation(tmp_path / "elsewhere", [said("a", "private")])
    event_file = next((secret / "events").iterdir())
    linked = tmp_path / "linked"
    (linked / "events").mkdir(parents=True)
    (linked / "events" / event_file.name).symlink_to(event_file)
    with pytest.raises(StashError, match="not a run"):
        open_one(linked)
    (linked / "base_state.json").write_text((folder / "base_state.json").read_text())
    assert len(open_one(linked).events) == 0


def test_events_without_a_state_are_read_and_that_is_said(folder: Path) -> None:
    (folder / "base_state.json").unlink()
    one = sorted((folder / "events").iterdir())[2]
    for part in (folder, folder / "events", one):
        recording = open_one(part)
        assert main_counts(recording) == (3, 4, 1)
        assert [note.kind for note in recording.notes] == ["no-state", "no-zone"]
    assert counts(read_foreign(one.read_bytes())) == {"llm": 1, "tool": 1, "throws": 0, "pending": 1}


def test_other_folders_are_refused_with_a_file_to_open(tmp_path: Path) -> None:
    with pytest.raises(StashError, match="is a folder, and not a run") as refused:
        open_one(tmp_path)
    assert refused.value.hint == "name the recording file itself"
    (tmp_path / "session.jsonl").write_text("{}")
    with pytest.raises(StashError) as refused:
        open_one(tmp_path)
    assert refused.value.hint == "open the file in it session.jsonl"


# V0


def test_a_trajectory_pairs_by_cause_and_takes_the_raw_answers() -> None:
    recording = read_foreign(DATA / "v0_trajectory.json")
    first, last = of_channel(recording, "llm")

    assert counts(recording) == {"user": 1, "note": 2, "state": 2, "llm": 2, "tool": 2, "throws": 1, "pending": 0}
    assert value(recording, first)["id"] == "chatcmpl-1" and first.key == "gpt-4o-2024-08-06"
    assert value(recording, called(recording, "call_1"))["content"] == "a.txt"
    assert called(recording, "call_2").outcome == "throw"
    assert texts(recording, last.seq)[:2] == ["You are OpenHands.", "List the files."]
    asked = [call for message in chat(recording, last).messages for call in message.tool_calls]
    assert [call.result is not None for call in asked] == [True, True, False]
    used = look.total_usage(recording)
    assert (used.input, used.output) == (200, 40)
    assert first.at == 1_749_999_961_000.0  # 17:06:01 of the zone two hours east


def test_runs_of_an_evaluation_and_of_the_resolver() -> None:
    path = DATA / "v0_output.jsonl"
    assert [run.title for run in run_summaries(path)] == ["org__repo-1", "org/repo#5 Add a licence"]
    pairs, flat = read_foreign(path, run=0), read_foreign(path, run=1)

    assert [(e.channel, e.key, e.outcome) for e in pairs.events] == [
        ("user", "prompt", "return"), ("llm", "m-1", "return"), ("tool", "run", "return"), ("llm", "m-1", "return"),
        ("tool", "run", "throw"), ("score", "result", "return"),
    ]  # fmt: skip
    assert marked(pairs, "inferred") == [1, 3] and marked(flat, "inferred") == [1, 2, 3]
    assert main_counts(flat) == (2, 1, 0)


def test_histories_of_either_version_and_of_neither(tmp_path: Path) -> None:
    path = tmp_path / "output.jsonl"
    base = {"instance_id": "i", "metrics": {"accumulated_cost": 1}, "metadata": {"agent_class": "A"}}
    histories = [recorded(), None, [7, {"id": 1}, {"action": "run", "args": 3}]]
    path.write_text("".join(json.dumps({**base, "history": history, "error": "E"}) + "\n" for history in histories))

    assert [run.detail for run in run_summaries(path)] == ["error: E"] * 3
    assert main_counts(read_foreign(path, run=0)) == (3, 4, 2)
    assert [e.key for e in read_foreign(path, run=1).events] == ["error"]
    assert explain(read_foreign(path, run=2)).format == "openhands"


def test_a_run_that_is_a_folder_is_called_by_the_folder() -> None:
    assert run_name(Path("conversations/0f3a/base_state.json")) == "0f3a"
    assert run_name(Path("conversations/0f3a/run.json")) == "run.json"
    assert run_name(Path("base_state.json")) == "base_state.json"
