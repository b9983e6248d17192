"""Recordings of agentfootprint: bare, packed, in an envelope, in the zip of a bug report."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import read_foreign, run_summaries
from stashdbg_core.formats.readers.agentfootprint.prompts import committed_calls
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import open_one, recording_paths
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import counts

Tree = dict[str, Any]


def event(kind: str, payload: Tree, *, stage: str = "s#0", path: tuple[str, ...] = (), run: str = "run-1") -> Tree:
    meta = {"wallClockMs": 1_790_000_000_000, "runtimeStageId": stage, "subflowPath": list(path), "runId": run}
    return {"type": f"agentfootprint.{kind}", "payload": payload, "meta": meta}


def injected(slot: str, text: str, **more: object) -> Tree:
    told = {"slot": slot, "rawContent": text, "contentSummary": text, **more}
    return event("context.injected", told, path=("sf-messages",))


def llm_start(count: int, stage: str, **more: Any) -> Tree:
    told = {"provider": "p", "model": "m", "messagesCount": count, "systemPromptChars": 8}
    return event("stream.llm_start", told, stage=stage, **more)


def llm_end(text: str, stage: str, calls: int = 0, **more: Any) -> Tree:
    usage = {"input": 10, "output": 2, "cacheRead": 5}
    told = {"content": text, "toolCallCount": calls, "usage": usage, "stopReason": "stop", "durationMs": 7}
    return event("stream.llm_end", told, stage=stage, **more)


CALL = {"id": "t1", "name": "price", "args": {"sku": "A"}}


def events() -> list[Tree]:
    """Return one turn of two model calls, a tool call between them, in the order in which the tool tells it."""
    return [
        event("agent.run_configured", {"agentId": "shop"}),
        event("agent.turn_start", {"turnIndex": 0, "userPrompt": "what is A?"}),
        injected("system-prompt", "be brief"),
        injected("messages", "what is A?", asRole="user"),
        llm_start(1, "call-llm#1"),
        event("stream.token", {"content": "loo"}, stage="call-llm#1"),
        llm_end("looking", "call-llm#1", 1),
        event("stream.tool_start", {"toolName": "price", "toolCallId": "t1", "args": {"sku": "A"}}),
        event("stream.tool_progress", {"toolCallId": "t1", "payload": 1}),
        event("stream.tool_end", {"toolCallId": "t1", "result": {"price": 42}, "durationMs": 3}),
        injected("messages", "what is A?", asRole="user"),
        injected("messages", "looking", asRole="assistant"),
        injected("messages", '{"price":42}', asRole="tool", sourceId="t1"),
        llm_start(3, "call-llm#2"),
        llm_end("42", "call-llm#2"),
        event("agent.turn_end", {"finalContent": "42", "totalInputTokens": 20, "durationMs": 30}),
    ]


def snapshot() -> Tree:
    asked = {"role": "assistant", "content": "looking", "toolCalls": [CALL]}
    result = {"role": "tool", "content": '{"price":42}', "toolCallId": "t1"}

    def commit(stage: str, verb: str, **written: object) -> Tree:
        trace = [{"path": name, "verb": verb} for name in written]
        return {"stageId": stage, "stage": stage, "overwrite": written, "updates": {}, "trace": trace}

    start = [{"role": "user", "content": "what is A?"}]
    log = [
        commit("seed", "set", userMessage="what is A?", history=start, llmLatestToolCalls=[]),
        commit("call-llm", "append", llmLatestToolCalls=[CALL]),
        commit("tool-calls", "append", history=[asked, result]),
        commit("call-llm", "set", llmLatestToolCalls=[], llmLatestContent="42"),
    ]
    return {"commitLog": log, "sharedState": {"x": 1}}


def recording(listed: list[Tree] | None = None, **snap: object) -> Tree:
    return {"snapshot": {**snapshot(), **snap}, "events": events() if listed is None else listed, "structure": {}}


def envelope(tree: Tree, **run: object) -> Tree:
    facts = {"runId": "run-1", "startedAt": "2026-01-01T00:00:00Z", "complete": True, "droppedEvents": 0, **run}
    return {"format": "agentfootprint.recording.v1", "producer": {}, "run": facts, "recording": tree}


def packed(tree: Tree) -> Tree:
    """Return a recording whose payloads are kept apart, the prompt's text apart from those."""
    tree = copy.deepcopy(tree)
    values: list[Any] = ["what is A?"]
    for told in tree["events"]:
        if told["payload"].get("rawContent") == "what is A?":
            told["payload"]["rawContent"] = {"$af:ref": 0}
        values.append(told["payload"])
        told["payload"] = {"$af:ref": len(values) - 1}
    return {"format": "agentfootprint.recording.packed.v1", "values": values, "recording": tree}


def archive(method: int = zipfile.ZIP_STORED, **files: Tree) -> bytes:
    manifest = {"manifestVersion": 2, "report": {"title": "Wrong"}, "redactedKeys": ["ssn"]}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as made:
        for name, tree in {"manifest.json": manifest, "environment.json": {"node": "v20"}, **files}.items():
            made.writestr(name, json.dumps(tree, indent=2) + "\n")
    return held.getvalue()


def read(tree: Tree | bytes, run: int | None = None) -> Recording:
    return read_foreign(tree if isinstance(tree, bytes) else json.dumps(tree).encode(), run=run)


def told(opened: Recording) -> list[object]:
    return [
        (e.channel, e.key, e.outcome, e.ref, e.input_ref, e.at, e.ms, e.label, e.thread, e.parent, e.call_id, e.extra)
        for e in opened.events
    ]


def value(opened: Recording, channel: str, at: int = -1) -> Any:
    return opened.blobs.tree([e for e in opened.events if e.channel == channel][at].ref)


def source(opened: Recording) -> Tree:
    facts = opened.meta["source"]
    assert isinstance(facts, dict)
    return facts


def test_a_turn_is_read_as_a_prompt_an_agent_and_the_calls_in_it() -> None:
    opened = read(recording())
    assert opened.id == "agentfootprint-run-1"
    assert opened.meta["title"] == "what is A?"
    assert counts(opened) == {
        "note": 2, "user": 1, "agent": 1, "state": 5, "llm": 2, "tool": 1, "throws": 0, "pending": 0,
    }  # fmt: skip
    agent = next(e for e in opened.events if e.channel == "agent")
    assert (agent.key, agent.ms, agent.label) == ("shop", 30, "42")
    assert {e.parent for e in opened.events if e.seq > agent.seq} == {agent.seq}
    assert {e.thread for e in opened.events} == {None}
    tool = next(e for e in opened.events if e.channel == "tool")
    assert (tool.key, tool.call_id, tool.ms, value(opened, "tool")) == ("price", "t1", 3, {"price": 42})


def test_prompts_are_whole_and_answers_name_the_tools_they_asked_for() -> None:
    opened = read(recording())
    first, last = (e for e in opened.events if e.channel == "llm")
    chat = conversation_of(opened, last)
    assert chat is not None
    assert [(m.role, m.text) for m in chat.messages] == [
        ("system", "be brief"), ("user", "what is A?"), ("assistant", "looking"), ("assistant", "42"),
    ]  # fmt: skip
    (asked,) = chat.messages[2].tool_calls
    assert (asked.name, asked.result and asked.result.text) == ("price", '{"price":42}')
    assert value(opened, "llm", 0)["content"][-1] == {
        "type": "tool_use", "id": "t1", "name": "price", "input": {"sku": "A"},
    }  # fmt: skip
    usage = usage_of_event(opened, first)
    assert usage is not None
    assert (usage.input, usage.output, usage.cached) == (15, 2, 5)
    assert "cut" not in first.extra
    assert "cut" not in last.extra


def test_a_prompt_comes_from_the_history_where_slots_do_not_have_it() -> None:
    bare = [e for e in events() if not e["type"].endswith("injected")]
    for tree in (recording(bare), {"events": bare, "snapshot": {"commitLog": []}}):
        opened = read(tree)
        last = [e for e in opened.events if e.channel == "llm"][-1]
        chat = conversation_of(opened, last)
        assert chat is not None
        if tree["snapshot"]["commitLog"]:
            assert len(chat.messages) == 3
            assert "system prompt" in str(last.extra["cut"])
        else:
            assert str(last.extra["cut"]).find("had 3 messages; 1 could be rebuilt") > 0
    assert [len(call.history) for call in committed_calls(snapshot())] == [1, 3]
    assert committed_calls({"commitLog": [None, {"trace": [1]}, {"trace": [{"path": "history"}]}]}) == []


def test_every_wrapping_gives_the_same_run() -> None:
    plain = told(read(recording()))
    both = {**recording(), "turnIndex": 0}
    conversation = {"id": "conv-1", "runIds": ["run-1"], "recordings": [recording()]}
    for tree in (
        envelope(recording()),
        packed(recording()),
        envelope(packed(recording())),
        both,
        archive(**{"envelope.json": envelope(recording())}),
        archive(**{"recording.json": recording()}),
        archive(**{"recording.json": packed(recording())}),
        archive(**{"conversations/conv-1.json": conversation}),
    ):
        opened = read(tree)
        assert told(opened) == plain
        assert opened.id == "agentfootprint-run-1"


def test_the_samples_hold_one_and_the_same_run(shared_samples: Path | None) -> None:
    folder = None if shared_samples is None else shared_samples / "agentfootprint"
    files = sorted(folder.glob("*.[jz]*")) if folder is not None else []
    opened = [open_one(path) for path in files]
    assert [told(one) for one in opened] == [told(one) for one in opened[:1]] * len(opened)
    assert [counts(one) for one in opened] == [
        {"note": 8, "user": 1, "agent": 1, "state": 16, "llm": 2, "tool": 1, "throws": 0, "pending": 0}
    ] * len(opened)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_report_with_a_bare_recording_is_not_taken_for_one_of_ours(tmp_path: Path, method: int) -> None:
    path = tmp_path / "report.zip"
    path.write_bytes(archive(method, **{"recording.json": recording()}))
    opened = open_one(path)
    assert opened.id == "agentfootprint-run-1"
    facts = source(opened)
    assert facts["report"] == {"title": "Wrong"}
    assert facts["environment"] == {"node": "v20"}
    assert facts["redactedKeys"] == ["ssn"]


def test_several_runs_of_a_file_are_several_runs(tmp_path: Path) -> None:
    second = [{**e, "meta": {**e["meta"], "runId": "run-2"}} for e in events()]
    second[1]["payload"] = {"userPrompt": "again"}
    one = recording([*events(), *second])
    assert [(r.title, r.detail) for r in run_summaries(json.dumps(one).encode())] == [
        ("what is A?", "2 model calls, 1 tool call"), ("again", "2 model calls, 1 tool call"),
    ]  # fmt: skip
    assert counts(read(one, 0)) == counts(read(one, 1))
    path = tmp_path / "report.zip"
    held = {"envelopes": [envelope(recording()), envelope(recording(second))]}
    path.write_bytes(archive(**{"conversations/conv-2.json": {"recordings": [one]}, "conversations/conv-1.json": held}))
    ids = [open_one(name).id for name in recording_paths(path)]
    assert ids == [f"agentfootprint-run-{number}" for number in ("1-1", "2-1", "1-2", "2-2")]


def test_lanes_are_the_subflows_in_which_a_model_is_called() -> None:
    inner = ("research",)
    listed = [
        event("agent.turn_start", {"userPrompt": "go"}, path=inner),
        event("context.evaluated", {}, path=("sf-llm", "research", "sf-slots")),
        llm_start(1, "research/call-llm#1", path=("research", "sf-llm-call")),
        llm_end("found", "research/call-llm#1", path=("research", "sf-llm-call")),
        event("agent.turn_end", {"finalContent": "found"}, path=("research", "final")),
        event("composition.exit", {}, path=("merge",)),
    ]
    opened = read({"events": listed, "snapshot": {}})
    assert [(e.channel, e.thread) for e in opened.events] == [
        ("user", "research"), ("agent", "research"), ("state", "research"), ("llm", "research"), ("note", None),
    ]  # fmt: skip


def test_failures_throw_and_what_has_no_end_is_pending_or_failed_with_the_run() -> None:
    listed = [
        event("agent.turn_start", {"userPrompt": "go"}),
        llm_start(1, "call-llm#1"),
        event("error.retried", {"attempt": 1, "lastError": "429"}, stage="call-llm#1"),
        llm_start(1, "call-llm#1"),
        llm_end("ok", "call-llm#1", 2),
        event("stream.tool_start", {"toolName": "a", "toolCallId": "t1", "args": {}}),
        event("stream.tool_start", {"toolName": "b", "toolCallId": "t2", "args": {}}),
        event("stream.tool_end", {"toolCallId": "t2", "result": "no such sku", "error": True}),
        event("stream.tool_end", {"toolCallId": "t9", "result": 1}),
    ]
    opened = read({"events": listed, "snapshot": {}})
    assert counts(opened) == {"user": 1, "agent": 1, "llm": 2, "note": 1, "tool": 3, "throws": 3, "pending": 2}
    failed, again = (opened.blobs.tree(e.ref) for e in opened.events if e.channel == "llm")
    assert failed == {"error": "429"}
    assert [block["name"] for block in again["content"][1:]] == ["a", "b"]
    assert value(opened, "tool", 1) == {"error": "no such sku"}
    cut = [e.key for e in opened.events if e.channel == "tool" and "cut" in e.extra]
    assert cut == ["unknown"]

    fatal = event("error.fatal", {"error": "boom", "stage": "call-llm", "scope": "run"})
    token = event("stream.token", {"content": "par"}, stage="call-llm#1")
    opened = read({"events": [*listed[:2], token, fatal], "snapshot": {}})
    assert value(opened, "llm") == {"error": "boom", "partial": "par"}
    assert counts(opened) == {"user": 1, "agent": 1, "llm": 1, "note": 1, "throws": 3, "pending": 0}


def test_drops_redactions_and_unknown_types_are_said() -> None:
    listed = events()
    listed[7]["payload"]["args"] = {"sku": "A", "apiKey": "[REDACTED]"}
    listed.insert(3, event("ontology.invented", {"why": "new"}))
    listed.insert(4, {"type": 7, "payload": [], "meta": None})
    log = [*snapshot()["commitLog"], {"redactedPaths": ["user\x1fssn"], "trace": []}]
    opened = read(envelope(recording(listed, commitLog=log), complete=False, droppedEvents=34))
    facts = source(opened)
    assert opened.meta["complete"] is False
    assert facts["unknown"] == {"event agentfootprint.ontology.invented": 1, "event 7": 1}
    assert facts["redactedKeys"] == ["apiKey", "user/ssn"]
    assert {note.kind for note in opened.notes} == {"dropped-events", "incomplete", "redacted"}
    tool = next(e for e in opened.events if e.channel == "tool")
    assert "apiKey" in str(tool.extra["cut"])
    assert [e.key for e in opened.events if e.label == "new"] == ["ontology.invented"]


def test_a_recording_without_events_shows_its_commits() -> None:
    opened = read(recording([]))
    assert [(e.channel, e.key) for e in opened.events] == [
        ("state", "seed"), ("state", "call-llm"), ("state", "tool-calls"), ("state", "call-llm"),
    ]  # fmt: skip


def bomb() -> Tree:
    values: list[Any] = ["x" * 1000, *([{"$af:ref": number}] * 50 for number in range(12))]
    event_ = event("agent.turn_start", {"userPrompt": {"$af:ref": 12}})
    return {"format": "agentfootprint.recording.packed.v1", "values": values, "recording": {"events": [event_]}}


def odd(ref: object, values: list[Any]) -> Tree:
    held = {"events": [event("agent.turn_start", {"userPrompt": {"$af:ref": ref}})]}
    return {"format": "agentfootprint.recording.packed.v1", "values": values, "recording": held}


@pytest.mark.parametrize(
    ("tree", "why"),
    [
        (bomb(), "grows beyond"),
        (odd(7, []), "not there"),
        (odd(True, ["x"]), "not there"),
        (odd([], ["x"]), "not there"),
        (odd(0, [[{"$af:ref": 1}], [{"$af:ref": 0}]]), "holds itself"),
        ({**envelope({}), "format": "agentfootprint.recording.v2"}, "recording.v2"),
        (envelope({}), "holds no run"),
        (envelope({"events": 7, "snapshot": "x"}), "holds no run"),
        (archive(**{"conversations/conv-1.json": {"envelopes": 1}}), "holds no run"),
        (archive(**{"envelope.json": envelope(recording())}).replace(b'"format"', b'"f\xffrmat"', 1), ""),
    ],
    ids=["bomb", "range", "bool", "list", "ring", "version", "empty", "shape", "conversation", "bytes"],
)
def test_what_cannot_be_read_is_refused_in_one_line(tree: Tree | bytes, why: str) -> None:
    with pytest.raises(StashError) as refused:
        read(tree)
    assert why in refused.value.message
    assert "\n" not in refused.value.message


def test_an_escape_is_taken_literally_and_values_may_refer_to_values() -> None:
    values = [{"$af:esc": {"$af:ref": {"$af:ref": 1}}}, "in"]
    opened = read(odd(0, values))
    assert value(opened, "user") == {"$af:ref": "in"}


def test_a_hostile_archive_costs_little() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("manifest.json", '{"manifestVersion": 2}')
        made.writestr("../../etc/passwd", "x")
        made.writestr("conversations/../../x.json", "{}")
        made.writestr("envelope.json", b"[" * 5_000_000)
    with pytest.raises(StashError):
        read(held.getvalue())
