"""Traces of the OpenAI Agents SDK: what its tracing processor exports, a line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import counts, imported


def node(kind: str, identity: str = "span_1", **more: Any) -> dict[str, Any]:
    data = {"type": kind, **more.pop("data", {})}
    moment = "2026-11-30T07:41:55+00:00"
    return {"object": "trace.span", "id": identity, "trace_id": "trace_1", "parent_id": None, "started_at": moment,
            "ended_at": moment, "span_data": data, "error": None, **more}  # fmt: skip


def lines(*nodes: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in nodes)


def test_a_trace_is_a_run_of_calls_in_agents_lanes(formats_data: Path) -> None:
    path = formats_data / "openai_agents" / "trace.jsonl"
    assert [(run.title, run.events) for run in run_summaries(path)] == [("Agent workflow", 11), ("Agent workflow", 4)]
    recording = imported(path)
    found = counts(recording)
    assert (found["llm"], found["tool"], found["agent"], found["throws"]) == (3, 3, 1, 1)
    call = next(event for event in recording.events if event.channel == "llm")
    talk, usage = conversation_of(recording, call), usage_of_event(recording, call)
    assert talk is not None and usage is not None and (call.key, call.thread) == ("gpt-4o-mini", "weather")
    assert [m.role for m in talk.messages] == ["system", "user", "assistant"]
    assert [c.name for c in talk.messages[2].tool_calls] == ["get_weather", "get_weather"] and usage.input == 90
    failed = next(event for event in recording.events if event.outcome == "throw")
    assert recording.blobs.tree(failed.ref)["output"] == "An error occurred while running the tool. Please try again."


def test_a_failed_run_says_why(formats_data: Path) -> None:
    recording = imported(formats_data / "openai_agents" / "trace.jsonl", 1)
    failed = [event for event in recording.events if event.outcome == "throw"]
    assert [event.channel for event in failed] == ["agent", "llm"]
    assert "Rate limit reached" in recording.blobs.tree(failed[1].ref)["message"]


def test_responses_and_spans_of_every_type_open() -> None:
    data = {"response_id": "resp_1", "input": "hi", "response": {"id": "resp_1", "model": "gpt-5", "output": [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}]}}  # fmt: skip
    recording = read_foreign(
        lines(
            node("response", "s1", data=data),
            node("response", "s2", data={"response_id": "resp_2"}),
            node(
                "function",
                "s3",
                data={"name": "read", "input": "not json", "mcp_data": {"server": "files"}},
                ended_at=None,
            ),
            node("handoff", "s4", data={"from_agent": "a", "to_agent": "b"}),
            node("novel", "s5", data={"name": "x"}),
        )
    )
    assert [(e.channel, e.key, e.call_id) for e in recording.events] == [
        ("llm", "gpt-5", "resp_1"), ("llm", "responses", "resp_2"), ("tool", "files/read", None),
        ("span", "handoff", None), ("span", "novel x", None),
    ]  # fmt: skip
    talk = conversation_of(recording, recording.events[0])
    assert talk is not None and [m.text for m in talk.messages] == ["hi", "hello"]
    found = explain(recording)
    assert found.unknown == {"span type novel": 1} and (found.cut_events, found.pending) == (1, 1)


def test_a_body_sent_to_be_ingested_is_the_same_trace() -> None:
    trace = {"object": "trace", "id": "trace_1", "workflow_name": "w"}
    body = json.dumps({"data": [trace, node("function", data={"name": "f", "input": "{}", "output": "1"})]}).encode()
    recording = read_foreign(body)
    assert recording.id == "openai-agents-1" and [event.key for event in recording.events] == ["f"]


def test_the_sample_has_the_counts_it_has(shared_samples: Path | None) -> None:
    for path in sorted((shared_samples / "openai-agents").glob("*.jsonl")) if shared_samples is not None else ():
        found = [counts(imported(path, run)) for run in range(2)]
        numbers = [(one["llm"], one.get("tool", 0), one["agent"], one["throws"]) for one in found]
        assert numbers == [(3, 3, 1, 1), (1, 0, 1, 2)]
