"""A recording written as OpenTelemetry spans and read back: the same calls, in a file that is OTLP JSON."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run
from stashdbg_core.formats.opening import read_foreign, run_summaries
from stashdbg_core.formats.otlp_export import otlp_chunks
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from stashdbg_core.store.writer import decode_recording
from tests.cli.conftest import recording_tree

VALUES = ("stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue")
SPAN_FIELDS = {"traceId", "spanId", "parentSpanId", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
               "attributes", "events", "status"}  # fmt: skip


def check_value(node: Any) -> None:
    assert isinstance(node, dict) and len(node) == 1
    kind, value = next(iter(node.items()))
    assert kind in VALUES
    if kind == "arrayValue":
        for item in value["values"]:
            check_value(item)
    assert kind != "intValue" or re.fullmatch(r"-?\d+", value)


def check_attributes(listed: Any) -> dict[str, Any]:
    assert isinstance(listed, list)
    for pair in listed:
        assert set(pair) == {"key", "value"} and isinstance(pair["key"], str)
        check_value(pair["value"])
    names = [pair["key"] for pair in listed]
    assert len(names) == len(set(names))
    return {pair["key"]: next(iter(pair["value"].values())) for pair in listed}


def checked(data: bytes) -> list[dict[str, Any]]:
    """Return the spans of a file that keeps to the OTLP JSON encoding."""
    tree = json.loads(data)
    assert set(tree) == {"resourceSpans"} and len(tree["resourceSpans"]) == 1
    group = tree["resourceSpans"][0]
    assert set(group) == {"resource", "scopeSpans"}
    assert check_attributes(group["resource"]["attributes"])["service.name"] == "stashdbg"
    scoped = group["scopeSpans"][0]
    assert set(scoped) == {"scope", "schemaUrl", "spans"}
    spans: list[dict[str, Any]] = scoped["spans"]
    for span in spans:
        assert set(span) <= SPAN_FIELDS
        assert re.fullmatch("[0-9a-f]{32}", span["traceId"]) and re.fullmatch("[0-9a-f]{16}", span["spanId"])
        assert re.fullmatch("[0-9a-f]{16}", span.get("parentSpanId", "0" * 16))
        assert span["name"] and span["kind"] in (1, 3) and span["status"].get("code", 0) in (0, 2)
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])
        check_attributes(span["attributes"])
        for event in span.get("events", ()):
            assert set(event) == {"timeUnixNano", "name", "attributes"}
            check_attributes(event["attributes"])
    assert len({span["spanId"] for span in spans}) == len(spans)
    return spans


def said(recording: Recording, event: RecordedEvent) -> Any:
    if event.channel != "llm" or event.input_ref is None:
        given = None if event.input_ref is None else recording.blobs.tree(event.input_ref)
        return given, recording.blobs.tree(event.ref)
    talk = conversation_of(recording, event)
    if talk is None:
        return recording.blobs.tree(event.input_ref)
    asked = [
        [(c.name, c.id, json.loads(c.arguments or "null"), c.result and c.result.text) for c in m.tool_calls]
        for m in talk.messages
    ]
    return [(m.role, m.text, m.thinking, m.call_id) for m in talk.messages], asked, usage_of_event(recording, event)


def calls(recording: Recording) -> list[Any]:
    return [
        (
            e.channel,
            e.key,
            e.ordinal,
            e.outcome,
            e.thread,
            e.parent,
            e.call_id,
            e.label,
            e.at and round(e.at, 3),
            e.ms,
            said(recording, e),
        )
        for e in recording.events
    ]


def exported(recording: Recording) -> bytes:
    return b"".join(otlp_chunks(recording))


@pytest.mark.parametrize("name", ["otel/genai.jsonl", "otel/openinference.jsonl", "openai_agents/trace.jsonl"])
def test_what_was_exported_comes_back_as_the_same_calls(formats_data: Path, name: str) -> None:
    path = formats_data / name
    for number in range(len(run_summaries(path))):
        recording = read_foreign(path, run=number)
        data = exported(recording)
        checked(data)
        assert data == exported(recording)
        assert calls(read_foreign(data)) == calls(recording)


CALLS: list[dict[str, Any]] = [
    {"channel": "user", "key": "prompt", "value": "weather?", "label": "weather?", "at": 1_760_000_000_000},
    {"channel": "llm", "key": "claude-x", "at": 1_760_000_000_100.5, "ms": 12.25, "callId": "r1",
     "input": {"kwargs": {"model": "claude-x", "system": "be kind", "max_tokens": 9, "tools": [{"name": "look"}],
                          "messages": [{"role": "user", "content": "weather?"}]}},
     "value": {"role": "assistant", "stop_reason": "tool_use", "usage": {"input_tokens": 4, "output_tokens": 2},
               "content": [{"type": "thinking", "thinking": "hm"},
                           {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "Oslo"}}]}},
    {"channel": "tool", "key": "look", "input": {"at": "Oslo"}, "value": '{"looks": "like JSON"}', "callId": "c1",
     "parent": 1},
    {"channel": "tool", "key": "look", "input": None, "value": 3.5, "thread": "worker", "parent": 1, "ms": 0,
     "at": 1_760_000_000_200},
    {"channel": "llm", "key": "m", "input": "no chat", "value": {"odd": True}, "thread": "worker", "parent": 3},
    {"channel": "tool", "key": "boom", "outcome": "throw", "value": {"type": "ValueError", "message": "no \ud83d"}},
    {"channel": "tool", "key": "wait", "outcome": "throw", "value": {"$stash": "pending"}, "at": 1_759_999_999_000},
    {"channel": "agent", "key": "helper", "value": None, "thread": "worker"},
    {"channel": "clock", "key": "now", "value": 1_760_000_000.5, "thread": "helper", "parent": 7},
]  # fmt: skip


def test_a_recording_of_ours_comes_back_with_lanes_waits_and_odd_values() -> None:
    recording = decode_recording(json.dumps(recording_tree(CALLS)))
    data = exported(recording)
    spans = checked(data)
    assert [span["name"] for span in spans] == [
        "prompt", "chat claude-x", "execute_tool look", "execute_tool look", "chat m", "execute_tool boom",
        "execute_tool wait", "invoke_agent helper", "now", "invoke_agent worker", "invoke_agent worker",
    ]  # fmt: skip
    assert calls(read_foreign(data)) == calls(recording)


def test_a_model_call_is_told_in_the_words_of_the_conventions() -> None:
    spans = checked(exported(decode_recording(json.dumps(recording_tree(CALLS)))))
    held = check_attributes(spans[1]["attributes"])
    assert {name: held[name] for name in held if name.startswith("gen_ai.") and "messages" not in name} == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "claude-x",
        "gen_ai.request.max_tokens": "9", "gen_ai.tool.definitions": '[{"name":"look"}]',
        "gen_ai.response.model": "claude-x", "gen_ai.usage.input_tokens": "4",
        "gen_ai.response.finish_reasons": {"values": [{"stringValue": "tool_use"}]},
        "gen_ai.usage.output_tokens": "2",
    }  # fmt: skip
    assert json.loads(held["gen_ai.input.messages"]) == [
        {"role": "system", "parts": [{"type": "text", "content": "be kind"}]},
        {"role": "user", "parts": [{"type": "text", "content": "weather?"}]},
    ]
    assert json.loads(held["gen_ai.output.messages"]) == [
        {"role": "assistant", "finish_reason": "tool_use", "parts": [
            {"type": "reasoning", "content": "hm"},
            {"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "Oslo"}}]}
    ]  # fmt: skip
    failed = spans[5]
    assert failed["status"] == {"code": 2, "message": "ValueError: no \ud83d"}
    assert check_attributes(failed["events"][0]["attributes"])["exception.type"] == "ValueError"


def test_an_empty_recording_is_an_empty_trace() -> None:
    assert checked(exported(decode_recording(json.dumps(recording_tree([]))))) == []


def test_the_command_writes_it(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(recording_tree(CALLS)))
    target = tmp_path / "spans.json"
    assert run(["export", str(path), "--otlp", "-o", str(target)]) == 0
    assert capfdbinary.readouterr().out == f"{target}\n".encode()
    assert run(["export", str(path), "--otlp"]) == 0
    assert capfdbinary.readouterr().out == target.read_bytes()
    assert len(checked(target.read_bytes())) == 11
