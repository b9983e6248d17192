"""OpenTelemetry spans: three dialects of one agent's run read alike, from every carrier they come in."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.formats.opening import explain, read_foreign, run_summaries
from stashdbg_core.formats.readers.otel.attributes import any_value, hex_id, parsed, unflatten
from stashdbg_core.model import Recording
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.usage import usage_of_event
from tests.formats.conftest import imported

DIALECTS = ("genai.jsonl", "openinference.jsonl", "openllmetry.jsonl", "console.json")
TRACE = "5b8efff798038103d269b633813fc60c"


def _attributes(held: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", bool: "boolValue", float: "doubleValue"}
    return [
        {"key": key, "value": {"intValue": str(value)} if type(value) is int else {kinds[type(value)]: value}}
        for key, value in held.items()
    ]


def span(number: int, name: str, parent: int | None = None, start: int = 0, **more: Any) -> dict[str, Any]:
    """Return an OTLP span that begins so many milliseconds after a fixed moment and takes one."""
    nanoseconds = 1_796_024_448_000_000_000 + start * 1_000_000
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        **({} if parent is None else {"parentSpanId": f"{parent:016x}"}),
        "name": name,
        "startTimeUnixNano": str(nanoseconds),
        "endTimeUnixNano": str(nanoseconds + 1_000_000),
        **{key: _attributes(value) if key == "attributes" else value for key, value in more.items()},
    }


def otlp(*spans: dict[str, Any], **more: Any) -> bytes:
    """Return an OTLP export request."""
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}], **more}).encode()


def whole(path: Path) -> list[Recording]:
    return [imported(path, run) for run in range(len(run_summaries(path)))]


def counted(recordings: list[Recording]) -> dict[tuple[str, str], int]:
    return dict(Counter((event.channel, event.outcome) for one in recordings for event in one.events))


def told(recordings: list[Recording]) -> list[Any]:
    """Return what every call says, whichever dialect it was said in."""
    found: list[Any] = []
    for one in recordings:
        for event in one.events:
            said: Any = None
            if event.channel == "llm":
                talk = conversation_of(one, event)
                assert talk is not None
                said = [
                    (
                        m.role,
                        m.text,
                        [(c.name, c.id, json.loads(c.arguments), c.result and c.result.text) for c in m.tool_calls],
                    )
                    for m in talk.messages
                ]
            elif event.channel == "tool" and event.input_ref is not None:
                value = one.blobs.tree(event.ref)
                said = (one.blobs.tree(event.input_ref), value if event.outcome == "return" else value["type"])
            usage = usage_of_event(one, event)
            found.append((event.channel, event.key, event.outcome, event.thread, event.parent is None, said, usage))
    return found


@pytest.mark.parametrize("name", DIALECTS)
def test_each_dialect_gives_the_same_calls(formats_data: Path, name: str) -> None:
    recordings = whole(formats_data / "otel" / name)
    assert counted(recordings) == {
        ("agent", "return"): 1, ("agent", "throw"): 1, ("llm", "return"): 3, ("llm", "throw"): 1,
        ("tool", "return"): 2, ("tool", "throw"): 1,
    }  # fmt: skip
    assert told(recordings) == told(whole(formats_data / "otel" / "genai.jsonl"))


def test_calls_read_as_a_chat_in_the_lane_of_their_agent(formats_data: Path) -> None:
    recording = imported(formats_data / "otel" / "genai.jsonl")
    first = recording.events[1]
    assert (first.channel, first.key, first.thread, first.parent) == ("llm", "gpt-4o-mini-2024-07-18", "weather", 0)
    assert [event.at for event in recording.events] == sorted(event.at or 0 for event in recording.events)
    assert all(event.ms is not None for event in recording.events)
    failed = next(event for event in recording.events if event.outcome == "throw")
    assert recording.blobs.tree(failed.ref)["type"] == "KeyError"
    assert "Traceback" in recording.blobs.tree(failed.ref)["stacktrace"]
    assert recording.meta["source"]["conversation"] == "conv_1"


def test_samples_open_with_the_counts_they_have(shared_samples: Path | None) -> None:
    expected = {("agent", "return"): 2, ("agent", "throw"): 1, ("llm", "return"): 6, ("llm", "throw"): 1,
                ("tool", "return"): 4, ("tool", "throw"): 2}  # fmt: skip
    table: list[tuple[str, dict[tuple[str, str], int]]] = [
        *((f"generated/{name}", expected)
          for name in ("otlp_genai.jsonl", "otlp_openinference.jsonl", "otlp_openllmetry.jsonl", "console_spans.json",
                       "console_spans.jsonl")),
        *((f"visualstudio-copilot/sample-{n}.jsonl", {("agent", "return"): a, ("tool", "return"): t})
          for n, a, t in ((1, 1, 3), (2, 1, 3), (3, 1, 2), (4, 2, 3))),
        *((f"any-agent/{name}_trace.json", {("agent", "return"): 1, ("llm", "return"): m, ("tool", "return"): t})
          for name, m, t in (("GOOGLE", 3, 3), ("LANGCHAIN", 4, 2), ("LLAMA_INDEX", 5, 3), ("OPENAI", 3, 2),
                             ("SMOLAGENTS", 3, 3))),
        ("opentelemetry-proto-example-trace.json", {("span", "return"): 1}),
    ]  # fmt: skip
    for name, counts in table if shared_samples is not None else ():
        assert shared_samples is not None
        assert counted(whole(shared_samples / "otel-genai" / name)) == counts, name


def test_spans_come_in_any_order_and_a_parent_goes_first() -> None:
    recording = read_foreign(
        otlp(
            span(
                3,
                "execute_tool b",
                2,
                30,
                attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "b"},
            ),
            span(
                4,
                "execute_tool late",
                9,
                5,
                attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "late"},
            ),
            span(
                2,
                "invoke_agent inner",
                1,
                20,
                attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "inner"},
            ),
            span(
                1,
                "invoke_agent outer",
                None,
                25,
                attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "outer"},
            ),
            span(
                5, "GET", 1, 26, attributes={"http.request.method": "GET", "url.full": "https://example.com/a?token=1"}
            ),
            span(6, "loop", 6, 27),
        )
    )
    assert [(e.channel, e.key, e.thread, e.parent) for e in recording.events] == [
        ("tool", "late", None, None),
        ("agent", "outer", None, None),
        ("agent", "inner", "outer", 1),
        ("http", "GET example.com/a", "outer", 1),
        ("span", "loop", None, None),
        ("tool", "b", "inner", 2),
    ]
    assert [note.kind for note in recording.notes] == ["parent-missing", "no-content"]


def test_of_two_spans_that_saw_one_call_the_inner_is_the_call() -> None:
    asks = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    said = {"gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hi"}]}])}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    recording = read_foreign(
        otlp(
            span(1, "wrapper", attributes={**asks, **said}),
            span(2, "router", 1, 1),
            span(3, "chat m", 2, 2, attributes=asks),
            span(4, "chat m", None, 5, attributes=asks),
            span(5, "invoke_agent a", 4, 6, attributes=agent),
            span(6, "chat m", 5, 7, attributes=asks),
        )
    )
    assert [(e.channel, e.key) for e in recording.events] == [
        ("span", "wrapper"), ("span", "router"), ("llm", "m"), ("llm", "m"), ("agent", "a"), ("llm", "m"),
    ]  # fmt: skip
    talk = conversation_of(recording, recording.events[2])
    assert talk is not None and [m.text for m in talk.messages] == ["hi"]


def test_a_call_without_content_says_which_variable_to_set() -> None:
    recording = read_foreign(
        otlp(span(1, "chat m", attributes={"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}))
    )
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in recording.notes[0].message
    assert explain(recording).cut_events == 1


def test_a_trace_of_no_model_says_so() -> None:
    recording = read_foreign(otlp(span(1, "GET /", attributes={"my.attribute": "kept"})))
    assert [note.kind for note in recording.notes] == ["no-genai"]
    given = recording.events[0].input_ref
    assert given is not None and recording.blobs.tree(given) == {"my.attribute": "kept"}


def test_log_records_and_span_events_are_content() -> None:
    asks = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
    event = {"name": "gen_ai.user.message", "attributes": _attributes({"content": "hi"})}
    choice = {
        "traceId": TRACE, "spanId": f"{1:016x}", "eventName": "gen_ai.choice",
        "body": {"kvlistValue": {"values": [
            {"key": "finish_reason", "value": {"stringValue": "stop"}},
            {"key": "message", "value": {"kvlistValue": {"values": [
                {"key": "content", "value": {"stringValue": "hello"}}]}}},
        ]}},
    }  # fmt: skip
    logs = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [choice]}]}]}).encode()
    recording = read_foreign(logs + b"\n" + otlp(span(1, "chat m", attributes=asks, events=[event])) + b"\n")
    talk = conversation_of(recording, recording.events[0])
    assert talk is not None and [(m.role, m.text) for m in talk.messages] == [("user", "hi"), ("assistant", "hello")]


def test_numbered_prompts_of_old_openllmetry_are_a_chat() -> None:
    held = {
        "llm.request.type": "chat", "gen_ai.request.model": "m",
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "hi",
        "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls",
        "gen_ai.completion.0.tool_calls.0.id": "c1", "gen_ai.completion.0.tool_calls.0.name": "look",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"at":1}', "gen_ai.usage.prompt_tokens": 3,
        "gen_ai.usage.completion_tokens": 2,
    }  # fmt: skip
    recording = read_foreign(otlp(span(1, "openai.chat", attributes=held)))
    event = recording.events[0]
    talk, usage = conversation_of(recording, event), usage_of_event(recording, event)
    assert talk is not None and usage is not None
    assert [(m.role, m.text, [(c.name, c.arguments) for c in m.tool_calls]) for m in talk.messages] == [
        ("user", "hi", []), ("assistant", "", [("look", '{"at":1}')]),
    ]  # fmt: skip
    assert (usage.input, usage.output) == (3, 2)


def test_the_ai_sdk_is_a_dialect_too() -> None:
    prompt = [{"role": "user", "content": [{"type": "text", "text": "weather?"}]}]
    calls = [{"toolCallId": "c1", "toolName": "look", "input": '{"at":"Oslo"}'}]
    model = {"ai.model.id": "gpt", "ai.prompt.messages": json.dumps(prompt), "ai.response.toolCalls": json.dumps(calls)}
    tool = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "look", "ai.toolCall.id": "c1",
            "ai.toolCall.args": '{"at":"Oslo"}', "ai.toolCall.result": '{"c":4}'}  # fmt: skip
    recording = read_foreign(
        otlp(
            span(1, "ai.generateText", attributes={"ai.operationId": "ai.generateText", **model}),
            span(2, "do", 1, 1, attributes={"ai.operationId": "ai.generateText.doGenerate", **model}),
            span(3, "tool", 1, 2, attributes=tool),
        )
    )
    assert [(e.channel, e.key, e.call_id) for e in recording.events] == [
        ("span", "ai.generateText", None), ("llm", "gpt", None), ("tool", "look", "c1"),
    ]  # fmt: skip
    talk = conversation_of(recording, recording.events[1])
    assert talk is not None and talk.messages[-1].tool_calls[0].name == "look"


def test_cut_and_odd_attributes_are_marked_and_kept() -> None:
    whole_text = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "a long prompt"}]}])
    held = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": whole_text[:-8]}
    recording = read_foreign(otlp(span(1, "chat m", attributes=held, status={"code": "STATUS_CODE_ERROR"})))
    event = recording.events[0]
    assert event.outcome == "throw" and b"ends early" in event.extra["cut"]
    given = event.input_ref
    assert given is not None and "a long" in json.dumps(recording.blobs.tree(given))


def test_traces_and_conversations_are_runs(tmp_path: Path) -> None:
    def of(number: int, trace: str, conversation: str | None) -> bytes:
        held: dict[str, Any] = {} if conversation is None else {"gen_ai.conversation.id": conversation}
        return otlp({**span(number, "chat", None, number, attributes=held), "traceId": trace * 32})

    damaged = b'{"resourceSpans": [\n'
    lines = [
        of(1, "a", "talk"),
        of(2, "b", "talk"),
        damaged,
        of(3, "c", None),
        of(4, "c", None),
        of(5, "d", "x"),
        of(6, "d", "y"),
    ]
    path = tmp_path / "spans.jsonl"
    path.write_bytes(b"\n".join(line.rstrip() for line in lines) + b'\n{"resourceSpans": [{"sco')
    runs = run_summaries(path)
    assert [(run.title, run.events) for run in runs] == [("chat", 2), ("chat", 2), ("chat", 1), ("chat", 1)]
    recordings = whole(path)
    assert [len(one.events) for one in recordings] == [2, 2, 1, 1]
    assert len({one.id for one in recordings}) == 4
    assert recordings[0].meta["source"]["damagedLines"] == 1


def test_ids_and_values_are_read_in_every_spelling() -> None:
    raw = bytes(range(1, 17))
    assert hex_id(raw.hex(), 32) == hex_id("0x" + raw.hex().upper(), 32) == hex_id(int.from_bytes(raw), 32) == raw.hex()
    assert hex_id(base64.b64encode(raw).decode(), 32) == raw.hex()
    assert [hex_id(odd, 16) for odd in ("", "0" * 16, None, 0, "not hex!")] == ["", "", "", "", "not hex!"]
    assert any_value({"intValue": "9007199254740993"}) == 9007199254740993
    assert any_value({"arrayValue": {"values": [{"boolValue": True}, {}]}}) == [True, None]
    assert any_value({"kvlistValue": {"values": [{"key": "a", "value": {"doubleValue": 0.5}}]}}) == {"a": 0.5}
    assert parsed('{"a":1}') == ({"a": 1}, None) and parsed("plain [text") == ("plain [text", None)
    assert parsed('["cut') == ('["cut', "its JSON ends early at the source")
    flat = {"m.10.t": "k", "m.2.t": "b", "m.2.c.0.x": 1, "n": 0}
    assert unflatten(flat, "m") == [{"t": "b", "c": [{"x": 1}]}, {"t": "k"}]
    assert unflatten(flat, "nothing") is None


def test_hostile_spans_cost_little() -> None:
    ring = [span(n, "s", (n + 1) % 3000 + 1, 3000 - n) for n in range(1, 3001)]
    assert len(read_foreign(otlp(*ring)).events) == 3000
    deep: Any = {"stringValue": "x"}
    for _ in range(150):
        deep = {"arrayValue": {"values": [deep]}}
    odd = {
        **span(1, "s"),
        "attributes": [{"key": "deep", "value": deep}, {"key": 3}, None],
        "events": [None],
        "status": 7,
    }
    assert len(read_foreign(otlp(odd, span(1, "twice"))).events) == 1


def test_pictures_are_binary_content_and_not_text() -> None:
    picture = base64.b64encode(bytes(range(90))).decode()
    parts = [{"type": "blob", "modality": "image", "mime_type": "image/png", "content": picture}]
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}}
    given = [{"role": "user", "parts": parts}, {"role": "user", "content": [url]}]
    held = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(given)}
    recording = read_foreign(otlp(span(1, "chat m", attributes=held)))
    ref = recording.events[0].input_ref
    assert ref is not None
    messages = recording.blobs.tree(ref)["messages"]
    expected = {"mime": "image/png", "bytes": 90, "data": {"$stash": "bytes", "base64": picture}}
    for found in (messages[0]["content"][0]["source"], messages[1]["content"][0]["image_url"]["url"]):
        assert {key: found[key] for key in expected} == expected
    talk = conversation_of(recording, recording.events[0])
    assert talk is not None and [m.text for m in talk.messages[:2]] == ["[image]", "[image_url]"]


ODD: list[Any] = [
    {"resourceSpans": [{"scopeSpans": [None, {"spans": [7, {"traceId": {}, "name": []}]}, {"scope": 1}]}, 3]},
    {"spans": [{"name": "x", "context": {"trace_id": "0x1", "span_id": "0x2"}, "parent": 3, "status": []}]},
    {
        "trace": {"id": 1, "scores": 7},
        "observations": [{"type": {}}, {"id": "a", "type": "TOOL", "metadata": "[", "name": 3}],
    },
    [{"run_type": [], "trace_id": {}, "id": 7, "inputs": [], "outputs": 3, "extra": None, "child_runs": [None]}],
    {"object": "trace.span", "span_data": [], "trace_id": [], "error": 5, "id": None},
    {
        "version": 2,
        "status": 1,
        "eval": None,
        "plan": 0,
        "samples": [{"id": [], "epoch": {}, "events": [{"event": []}]}],
    },
]


@pytest.mark.parametrize("tree", ODD, ids=lambda tree: json.dumps(tree)[:30])
def test_odd_shapes_open_as_far_as_they_go(tree: Any) -> None:
    assert len(read_foreign(json.dumps(tree).encode(), run=0).events) > 0
