"""Traces of Langfuse: what its page downloads and what it exports, whichever framework they came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stashdbg_core.formats.opening import explain, read_foreign
from stashdbg_core.model import Recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import counts, imported

MOMENT = "2026-08-22T09:38:{:02}.000Z"


def seen(identity: str, kind: str, parent: str | None = None, second: int = 0, **more: Any) -> dict[str, Any]:
    return {"id": identity, "traceId": "t1", "projectId": "p", "parentObservationId": parent, "type": kind,
            "name": identity, "startTime": MOMENT.format(second), "endTime": MOMENT.format(second + 1),
            "level": "DEFAULT", **more}  # fmt: skip


def download(*observations: dict[str, Any]) -> Recording:
    trace = {"id": "t1", "name": "trace", "sessionId": "s1", "scores": [{"name": "ok", "value": 1, "id": "x"}]}
    return read_foreign(json.dumps({"trace": trace, "observations": observations}).encode())


OBSERVATIONS = [
    seen("look", "TOOL", "agent", 3, input='{"at": "Oslo"}', output={"c": 4}),
    seen("model", "GENERATION", "agent", 2, model="gpt-5", input=[{"role": "user", "content": "weather?"}],
         output='{"role": "assistant", "content": "cold"}', modelParameters={"temperature": 0, "system": None},
         usageDetails={"input": 7, "output": 2, "total": 9, "input_cache_read": 3}),
    seen("bad", "TOOL", "agent", 4, level="ERROR", statusMessage="no such city", input={"at": "X"}),
    seen("agent", "AGENT", None, 1),
    seen("Web-Search", "SPAN", "agent", 5, input="{'q': 1}",
         output={"type": "tool", "tool_call_id": "c9", "content": "[1]"}),
]  # fmt: skip


def test_observations_are_a_run_whatever_their_order() -> None:
    recording = download(*OBSERVATIONS)
    assert [(e.channel, e.key, e.outcome, e.thread, e.call_id) for e in recording.events] == [
        ("agent", "agent", "return", None, None), ("llm", "gpt-5", "return", "agent", None),
        ("tool", "look", "return", "agent", None), ("tool", "bad", "throw", "agent", None),
        ("tool", "Web-Search", "return", "agent", "c9"),
    ]  # fmt: skip
    talk, usage = conversation_of(recording, recording.events[1]), usage_of_event(recording, recording.events[1])
    assert talk is not None and usage is not None
    assert [(m.role, m.text) for m in talk.messages] == [("user", "weather?"), ("assistant", "cold")]
    assert (usage.input, usage.output, usage.cached) == (10, 2, 3)
    assert recording.blobs.tree(recording.events[3].ref) == {"message": "no such city"}
    assert recording.blobs.tree(recording.events[4].ref) == [1]
    assert recording.meta["source"]["scores"] == [{"name": "ok", "value": 1}]


def test_exported_lines_in_snake_case_are_the_same() -> None:
    names = {"traceId": "trace_id", "projectId": "project_id", "parentObservationId": "parent_observation_id",
             "startTime": "start_time", "endTime": "end_time", "usageDetails": "usage_details",
             "statusMessage": "status_message", "modelParameters": "model_parameters"}  # fmt: skip
    snake = [{names.get(key, key): value for key, value in one.items()} for one in OBSERVATIONS]
    recording = read_foreign(b"\n".join(json.dumps(one).encode() for one in snake))
    assert [(e.channel, e.key, e.outcome, e.thread) for e in recording.events] == [
        (e.channel, e.key, e.outcome, e.thread) for e in download(*OBSERVATIONS).events
    ]


def test_prompts_and_answers_of_other_frameworks_are_chats() -> None:
    cases: list[tuple[Any, Any, list[tuple[str, str, list[str]]]]] = [
        ('{"prompt": "hi", "system": "be kind"}', '[{"toolCallId": "c", "toolName": "look", "input": "{}"}]',
         [("system", "be kind", []), ("user", "hi", []), ("assistant", "", ["look"])]),
        ({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "config": {}},
         {"content": {"parts": [{"function_call": {"name": "look", "args": {}}}], "role": "model"}},
         [("user", "hi", []), ("assistant", "", ["look"])]),
        ([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
         [{"role": "assistant", "finish_reason": "stop",
           "parts": [{"type": "tool_call", "id": "c", "name": "look", "arguments": {}}]}],
         [("user", "hi", []), ("assistant", "", ["look"])]),
        ("hi", "hello", [("user", "hi", []), ("assistant", "hello", [])]),
    ]  # fmt: skip
    for given, came, expected in cases:
        recording = download(seen("m", "GENERATION", input=given, output=came, model="m"))
        talk = conversation_of(recording, recording.events[0])
        assert talk is not None
        assert [(m.role, m.text, [c.name for c in m.tool_calls]) for m in talk.messages] == expected


def test_plain_spans_are_told_apart_by_the_attributes_they_were_made_from() -> None:
    recording = download(
        seen("joker run", "SPAN", metadata={"attributes": {"gen_ai.agent.name": "joker"}}),
        seen(
            "running tool: pun",
            "TOOL",
            "joker run",
            1,
            input={},
            metadata={"attributes": {"gen_ai.tool.call.id": "c1"}},
        ),
        seen("running tool: pun", "TOOL", "joker run", 2, input={}, endTime=None),
        seen("x", "NOVEL", "joker run", 3),
    )
    assert [(e.channel, e.key, e.thread) for e in recording.events][:2] == [
        ("agent", "joker", None),
        ("tool", "pun", "joker"),
    ]
    assert explain(recording).unknown == {"observation type NOVEL": 1}


def test_samples_have_the_counts_they_have(shared_samples: Path | None) -> None:
    table = {"claude-agent-2025-12-22.trace.json": (4, 2, 0), "google-adk-2025-08-28.trace.json": (2, 1, 1),
             "langgraph-python-2025-08-22.trace.json": (2, 1, 0), "pydantic-ai-tools-2025-12-04.trace.json": (4, 3, 3),
             "seeder-langgraph-2025-08-22.json": (2, 1, 0),
             "vercel-aisdk-2025-11-17.trace.json": (1, 1, 0)}  # fmt: skip
    for name, expected in table.items() if shared_samples is not None else ():
        assert shared_samples is not None
        found = counts(imported(shared_samples / "langfuse" / name))
        assert (found["llm"], found["tool"], found.get("agent", 0)) == expected, name
