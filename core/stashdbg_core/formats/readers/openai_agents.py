"""Traces of the OpenAI Agents SDK: lines of ``trace`` and ``trace.span`` objects, or a body sent to be ingested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import ABSENT, RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.span_records import Trace, records, traces_of
from stashdbg_core.formats.spans import AGENT, LLM, SPAN, TOOL, Span, write_spans
from stashdbg_core.formats.times import epoch_ms

_OBJECTS = ("trace", "trace.span")


def _detect(head: Head) -> bool:
    return any(map(_is_ours, head.lines[:5])) or _is_ours(head.first) or _in_data(head)


def _is_ours(node: Any) -> bool:
    if not isinstance(node, dict) or node.get("object") not in _OBJECTS:
        return False
    return "workflow_name" in node or "span_data" in node


def _in_data(head: Head) -> bool:
    listed = (head.top or {}).get("data")
    if listed is ... and b'"trace.span"' in head.data:
        return b'"span_data"' in head.data
    return isinstance(listed, list) and any(map(_is_ours, listed))


def _traces(source: ForeignSource, sink: RunSink | None) -> list[Trace]:
    return traces_of(_nodes(source, sink), _trace_of, lambda node: str(node.get("workflow_name") or "trace"))


def _nodes(source: ForeignSource, sink: RunSink | None) -> Iterator[dict[str, Any]]:
    for record in records(source, sink):
        inner = record.get("data")
        for node in inner if isinstance(inner, list) and "object" not in record else (record,):
            if isinstance(node, dict) and node.get("object") in _OBJECTS:
                yield node


def _trace_of(node: Mapping[str, Any]) -> str:
    return str(node.get("id") if node.get("object") == "trace" else node.get("trace_id"))


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    return [
        RunSummary(
            label_of(trace.title), _started(trace), sum(node.get("object") == "trace.span" for node in trace.nodes)
        )
        for trace in _traces(source, None)
    ]


def _started(trace: Trace) -> float | None:
    found = [at for node in trace.nodes if (at := epoch_ms(node.get("started_at"))) is not None]
    return min(found, default=None)


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    trace = _traces(source, sink)[run]
    sink.identify(trace.id.removeprefix("trace_"))
    sink.title(trace.title)
    for node in trace.nodes:
        if node.get("object") == "trace":
            sink.meta(trace=trace.id, group=node.get("group_id"), metadata=node.get("metadata"))
    spans = [_span(node, sink) for node in trace.nodes if node.get("object") == "trace.span"]
    counts = write_spans(spans, sink, no_content=_NOT_HELD)
    if counts.without_content:
        sink.note(
            "no-content",
            f"{counts.without_content} of {counts.calls} calls have no content: the program left it out of its trace; "
            "set OPENAI_AGENTS_TRACE_INCLUDE_SENSITIVE_DATA=true there",
        )


_NOT_HELD = "the trace does not hold it"


def _span(node: Mapping[str, Any], sink: RunSink) -> Span:
    data = object_of(node.get("span_data"))
    kind = str(data.get("type") or "?")
    read = _KINDS.get(kind)
    if read is None:
        sink.unknown(f"span type {kind}")
        read = _other
    span = read(data)
    span.id, span.parent = str(node.get("id") or ""), str(node.get("parent_id") or "")
    span.started, span.ended = epoch_ms(node.get("started_at")), epoch_ms(node.get("ended_at"))
    span.running = span.ended is None
    error = node.get("error")
    if error:
        span.failed = True
        came = {} if span.value in (ABSENT, None) else {"output": span.value}
        span.value = {**_failure(error), **came}
    return span


def _failure(error: Json) -> dict[str, Json]:
    """Return an error with the cause, which stands apart from it, in its message."""
    if not isinstance(error, dict):
        return {"message": error}
    cause = _set(error.get("data")).get("error")
    message = error.get("message")
    if isinstance(message, str) and isinstance(cause, str) and cause not in message:
        return {**error, "message": f"{message}: {cause}"}
    return error


def _generation(data: Mapping[str, Any]) -> Span:
    given, came = data.get("input"), data.get("output")
    span = _named(LLM, data, data.get("model"))
    span.request = {"model": data.get("model"), **_set(data.get("model_config"))}
    if isinstance(given, list):
        span.messages = [with_media(message) for message in given]
    elif isinstance(given, str):
        span.messages = [{"role": "user", "content": given}]
    usage = data.get("usage")
    if isinstance(came, list) and came:
        span.value = _answer(came, data.get("model"), usage)
    elif came is not None:
        span.value = came
    return span


def _answer(came: list[Json], model: Json, usage: Json) -> Json:
    """Return what a generation put out: messages of a chat, or the items of a response."""
    rest = {name: value for name, value in (("model", model), ("usage", usage)) if value}
    if len(came) == 1 and isinstance(came[0], dict) and "role" in came[0] and came[0].get("type") is None:
        return {**came[0], **rest}
    return {"output": came, **rest}


def _response(data: Mapping[str, Any]) -> Span:
    """A call of the responses API; often nothing but its id is there."""
    response = object_of(data.get("response"))
    span = _named(LLM, data, response.get("model") or data.get("model"))
    if span.key == "response":
        span.key = "responses"
    span.call_id = data.get("response_id") or response.get("id")
    given = data.get("input")
    if isinstance(given, list | str) and given:
        span.messages = given if isinstance(given, list) else [{"role": "user", "content": given}]
    span.request = _set({name: response.get(name) for name in ("model", "instructions", "tools", "temperature")})
    if response:
        span.value = response
    elif data.get("usage"):
        span.value = {"id": span.call_id, "usage": data["usage"]}
    return span


def _function(data: Mapping[str, Any]) -> Span:
    server = _set(data.get("mcp_data")).get("server")
    span = _named(TOOL, data, data.get("name"))
    span.key = f"{server}/{span.key}" if isinstance(server, str) and server else span.key
    if data.get("input") is not None:
        span.input, span.cut = parsed(data["input"])
    if data.get("output") is not None:
        span.value = parsed(data["output"])[0]
    return span


def _agent(data: Mapping[str, Any]) -> Span:
    span = _named(AGENT, data, data.get("name"))
    span.agent = span.key
    span.input = _set({name: data.get(name) for name in ("tools", "handoffs", "output_type")}) or ABSENT
    return span


def _other(data: Mapping[str, Any]) -> Span:
    """A turn, a handoff, a guardrail, a list of tools, or the program's own."""
    kind, name = str(data.get("type") or "?"), data.get("name")
    span = _named(SPAN, data, name if kind == "custom" else " ".join(str(part) for part in (kind, name) if part))
    span.input = _set({key: value for key, value in data.items() if key not in ("type", "name")}) or ABSENT
    return span


def _named(channel: str, data: Mapping[str, Any], key: Json) -> Span:
    name = str(data.get("type") or "span")
    return Span("", name, channel, key if isinstance(key, str) and key else name)


def _set(node: Json) -> dict[str, Json]:
    """Return what is set of an object."""
    return (
        {name: value for name, value in node.items() if value not in (None, {}, [])} if isinstance(node, dict) else {}
    )


_KINDS: dict[str, Callable[[Mapping[str, Any]], Span]] = {
    "generation": _generation,
    "response": _response,
    "function": _function,
    "agent": _agent,
    **dict.fromkeys(
        ["custom", "handoff", "guardrail", "mcp_tools", "transcription", "speech", "speech_group", "task", "turn"],
        _other,
    ),
}

FORMAT = Format(
    "openai-agents",
    "OpenAI Agents SDK trace",
    _detect,
    _runs,
    _read,
    exact=("tool inputs and results", "prompts and answers of generations", "order, times and nesting"),
    inferred=("the lane of a call: the nearest agent around it",),
    missing=("what the trace redacts; of responses often all but the id",),
)
