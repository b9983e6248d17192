"""Runs of LangSmith: lines, an array, ``{runs: […]}``, children inside their parents, or a body sent to be ingested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.langchain_messages import langchain_answer, langchain_message, usage_of_langchain
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.shapes import object_of, word
from stashdbg_core.formats.sink import ABSENT, RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.span_records import Trace, records, traces_of
from stashdbg_core.formats.spans import LLM, SPAN, TOOL, Span, write_spans
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.session.usage import usage_of

_NOT_HELD = "the run does not hold it"
_TYPES = {"llm": LLM, "chat_model": LLM, "embedding": LLM, "tool": TOOL}
_KNOWN_TYPES = frozenset({*_TYPES, "chain", "retriever", "prompt", "parser"})
_DEPTH = 1000


def _detect(head: Head) -> bool:
    if any(map(_is_run, head.lines[:5])) or _is_run(head.first):
        return True
    top = head.top or {}
    if ("post" in top and "patch" in top) or "runs" in top or "data" in top:
        return b'"run_type"' in head.data and (b'"trace_id"' in head.data or b'"dotted_order"' in head.data)
    return _is_run(top)


def _is_run(node: Any) -> bool:
    return isinstance(node, Mapping) and "run_type" in node and ("dotted_order" in node or "trace_id" in node)


def _traces(source: ForeignSource, sink: RunSink | None) -> list[Trace]:
    """Return the runs of a file by trace; what is told of a run twice is put together."""
    merged: dict[str, dict[str, Any]] = {}
    for node in _nodes(source, sink):
        known = merged.setdefault(str(node.get("id")), {})
        known.update({key: value for key, value in node.items() if value not in (None, {}, []) or key not in known})
    nodes = sorted(merged.values(), key=lambda node: str(node.get("dotted_order") or node.get("start_time") or ""))
    return traces_of(nodes, _trace_of, lambda node: str(node.get("name") or "trace"))


def _nodes(source: ForeignSource, sink: RunSink | None) -> Iterator[dict[str, Any]]:
    for record in records(source, sink):
        lists = [record[name] for name in ("post", "patch", "runs", "data") if isinstance(record.get(name), list)]
        for listed in lists if lists and "run_type" not in record else [[record]]:
            yield from _flat(listed)


def _flat(listed: Sequence[Json], trace: Json = None, parent: Json = None, depth: int = 0) -> Iterator[dict[str, Any]]:
    for node in listed:
        if not isinstance(node, dict):
            continue
        own = {key: value for key, value in node.items() if key != "child_runs"}
        if trace is not None:
            own.setdefault("trace_id", trace)
        if parent is not None and own.get("parent_run_id") is None:
            own["parent_run_id"] = parent
        yield own
        inner = node.get("child_runs")
        if isinstance(inner, list) and depth < _DEPTH:
            yield from _flat(inner, own.get("trace_id") or node.get("id"), node.get("id"), depth + 1)


def _trace_of(node: Mapping[str, Any]) -> str:
    return str(node.get("trace_id") or node.get("id"))


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    return [
        RunSummary(
            label_of(trace.title), epoch_ms(trace.nodes[0].get("start_time")), len(trace.nodes), _first_words(trace)
        )
        for trace in _traces(source, None)
    ]


def _first_words(trace: Trace) -> str:
    error = trace.nodes[0].get("error")
    return label_of(f"error: {error}") if error else ""


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    trace = _traces(source, sink)[run]
    sink.identify(trace.id)
    sink.title(trace.title)
    sink.meta(
        trace=trace.id,
        project=trace.nodes[0].get("session_name"),
        metadata=object_of(trace.nodes[0].get("extra")).get("metadata"),
    )
    counts = write_spans([_span(node, sink) for node in trace.nodes], sink, no_content=_NOT_HELD)
    if counts.without_content:
        sink.note(
            "no-content", f"{counts.without_content} of {counts.calls} calls have no inputs or outputs in the export"
        )


def _span(node: Mapping[str, Any], sink: RunSink) -> Span:
    kind, name = str(node.get("run_type")), str(node.get("name") or "?")
    if kind not in _KNOWN_TYPES:
        sink.unknown(f"run type {kind}")
    span = Span(
        str(node.get("id") or ""),
        name,
        _TYPES.get(kind, SPAN),
        name,
        parent=str(node.get("parent_run_id") or ""),
        started=epoch_ms(node.get("start_time")),
        ended=epoch_ms(node.get("end_time")),
    )
    error, outputs = node.get("error"), node.get("outputs")
    span.running = span.ended is None and not error and not outputs
    if span.channel == LLM:
        _read_model_call(node, span)
    elif span.channel == TOOL:
        _read_tool_call(node, span)
    else:
        span.input, span.value = _there(node.get("inputs")), _there(outputs)
    if error:
        came = span.value if span.value not in (ABSENT, None, {}) and span.channel != LLM else ABSENT
        span.failed, span.value = True, _failure(error, came)
    return span


def _read_model_call(node: Mapping[str, Any], span: Span) -> None:
    inputs, extra = object_of(node.get("inputs")), object_of(node.get("extra"))
    metadata = object_of(extra.get("metadata"))
    parameters = object_of(extra.get("invocation_params")) or object_of(metadata.get("ls_invocation_params"))
    listed = inputs.get("messages")
    if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], list) and _is_batch(listed[0]):
        listed = listed[0]
    if isinstance(listed, list):
        span.messages = [with_media(langchain_message(message)) for message in listed]
    elif isinstance(inputs.get("prompts"), list):
        span.messages = [{"role": "user", "content": prompt} for prompt in inputs["prompts"]]
    elif inputs:
        span.input = inputs
    rest = {key: value for key, value in inputs.items() if key not in ("messages", "prompts") and value is not None}
    span.request = {**parameters, **rest} if span.messages is not None else {}
    answer = with_media(langchain_answer(node.get("outputs")))
    if isinstance(answer, dict) and answer:
        usage = usage_of_langchain(answer.get("usage_metadata"))
        span.value = (
            {**answer, "usage": usage} if usage and usage_of({"usage": answer.get("usage")}) is None else answer
        )
    model = answer.get("model") if isinstance(answer, dict) else None
    asked = (parameters.get("model"), inputs.get("model"), metadata.get("ls_model_name"))
    span.key = next((found for found in (model, *asked) if isinstance(found, str) and found), span.name)


def _is_batch(inner: list[Json]) -> bool:
    """Tell whether a list within the list of messages is a batch's one prompt, and no pair of role and text."""
    return not (len(inner) == 2 and all(isinstance(item, str) for item in inner))


def _read_tool_call(node: Mapping[str, Any], span: Span) -> None:
    given = node.get("inputs")
    if isinstance(given, dict) and given.keys() == {"input"}:
        given = parsed(given["input"])[0]
    span.input = _there(given)
    span.call_id = word(object_of(node.get("extra")).get("tool_call_id"))
    came = node.get("outputs")
    if isinstance(came, dict) and came.keys() == {"output"}:
        came = came["output"]
    message = langchain_message(came)
    if isinstance(message, dict) and message.get("role") == "tool":
        span.call_id = span.call_id or word(message.get("tool_call_id"))
        span.failed = message.get("status") == "error"
        came = parsed(message.get("content"))[0]
        if span.failed:
            came = {"message": came}
    span.value = with_media(came) if came not in (None, {}) else ABSENT


def _failure(error: Json, came: Json) -> dict[str, Json]:
    """Return an error's text, the traceback that is glued to it apart."""
    text = error if isinstance(error, str) else str(error)
    head, found, trace = text.partition("Traceback (most recent call last):")
    failure: dict[str, Json] = {"message": head.strip() or text}
    if found and head.strip():
        failure["traceback"] = found + trace
    return failure if came is ABSENT else {**failure, "output": came}


def _there(node: Json) -> Json:
    return ABSENT if node in (None, {}) else node


FORMAT = Format(
    "langsmith",
    "LangSmith runs",
    _detect,
    _runs,
    _read,
    exact=("tool inputs and results", "answers of models", "order, times and nesting"),
    inferred=("the prompt of a model called with text: LangChain's rendering of the messages",),
    missing=("what the export left out",),
)
