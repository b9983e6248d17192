"""Traces of Langfuse: ``{trace, observations}`` as its page downloads it, and lines of observations as it exports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.genai_parts import message_of, reply_of_messages
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.langchain_messages import langchain_message
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.otel.attributes import attributes_of, parsed
from stashdbg_core.formats.readers.otel.calls import facts_of
from stashdbg_core.formats.readers.otel.facts import usage_facts
from stashdbg_core.formats.readers.otel.spans import OtelSpan
from stashdbg_core.formats.readers.otel.vercel import vercel_calls, vercel_message
from stashdbg_core.formats.sink import ABSENT, RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.span_records import Trace, records, traces_of
from stashdbg_core.formats.spans import AGENT, LLM, SPAN, TOOL, Span, write_spans
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.session.usage import usage_of

_NOT_HELD = "the download does not hold it"
_TYPES = {"GENERATION": LLM, "EMBEDDING": LLM, "TOOL": TOOL, "AGENT": AGENT}
_KNOWN_TYPES = frozenset({*_TYPES, "SPAN", "EVENT", "CHAIN", "RETRIEVER", "EVALUATOR", "GUARDRAIL"})
_SCORE = ("name", "value", "stringValue", "comment")
_CACHED = ("input_cache_read", "input_cached_tokens", "cache_read_input_tokens")
_HUMP = re.compile(r"_([a-z])")
_PREFIXES = ("execute_tool ", "running tool: ", "invoke_agent ")


def _detect(head: Head) -> bool:
    top = head.top
    if top is not None and "observations" in top and "trace" in top:
        return True
    return any(_is_observation(line) for line in head.lines[:5]) or _is_observation(head.first)


def _is_observation(node: Any) -> bool:
    if not isinstance(node, dict) or not isinstance(node.get("type"), str) or node["type"] not in _KNOWN_TYPES:
        return False
    told = {_HUMP.sub(lambda found: found.group(1).upper(), name) for name in node}
    return {"traceId", "startTime"} <= told and bool({"parentObservationId", "projectId"} & told)


def _traces(source: ForeignSource, sink: RunSink | None) -> list[Trace]:
    found: list[Trace] = []
    loose: list[dict[str, Any]] = []
    for record in records(source, sink):
        inner, told = record.get("observations"), record.get("trace")
        if isinstance(inner, list) and isinstance(told, dict):
            nodes = [_camel(node) for node in inner if isinstance(node, dict)]
            found.append(Trace(str(told.get("id")), str(told.get("name") or "trace"), nodes, told))
        elif _is_observation(record):
            loose.append(_camel(record))
    return found + traces_of(
        loose, lambda node: str(node.get("traceId")), lambda node: str(node.get("name") or "trace")
    )


def _camel(node: dict[str, Any]) -> dict[str, Any]:
    if "traceId" in node or "trace_id" not in node:
        return node
    return {_HUMP.sub(lambda found: found.group(1).upper(), name): value for name, value in node.items()}


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    summaries = []
    for trace in _traces(source, None):
        starts = [at for node in trace.nodes if (at := epoch_ms(node.get("startTime"))) is not None]
        summaries.append(RunSummary(label_of(trace.title), min(starts, default=None), len(trace.nodes)))
    return summaries


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    trace = _traces(source, sink)[run]
    told = trace.told
    sink.identify(trace.id)
    sink.title(trace.title)
    sink.meta(trace=trace.id, session=told.get("sessionId"), release=told.get("release"), tags=told.get("tags"))
    scores = told.get("scores")
    kept = [_score(score) for score in (scores if isinstance(scores, list) else ()) if isinstance(score, dict)]
    sink.meta(scores=kept or None)
    counts = write_spans([_span(node, sink) for node in trace.nodes], sink, no_content=_NOT_HELD)
    if counts.without_content:
        sink.note(
            "no-content",
            f"{counts.without_content} of {counts.calls} calls have no content: "
            "Langfuse leaves large ones out of a download",
        )


def _score(score: Mapping[str, Any]) -> dict[str, Json]:
    return {name: score[name] for name in _SCORE if score.get(name) is not None}


def _span(node: Mapping[str, Any], sink: RunSink) -> Span:
    kind, name = str(node.get("type")), str(node.get("name") or "?")
    if kind not in _KNOWN_TYPES:
        sink.unknown(f"observation type {kind}")
    metadata = parsed(node.get("metadata"))[0]
    attributes = attributes_of(metadata.get("attributes")) if isinstance(metadata, dict) else {}
    given, cut = parsed(node.get("input"))
    came, cut_too = parsed(node.get("output"))
    channel, key, call_id = _place(kind, name, attributes, came)
    span = Span(
        str(node.get("id") or ""),
        name,
        channel,
        key,
        parent=str(node.get("parentObservationId") or ""),
        started=epoch_ms(node.get("startTime")),
        ended=epoch_ms(node.get("endTime")),
        call_id=call_id,
        agent=key if channel == AGENT else None,
        cut=cut or cut_too,
    )
    span.running = span.ended is None and came is None and kind != "EVENT"
    if span.channel == LLM:
        span.key = node.get("model") or name
        _read_model_call(node, span, given, came)
    else:
        message = langchain_message(came)
        if span.channel == TOOL and isinstance(message, dict) and message.get("role") == "tool":
            span.call_id = span.call_id or message.get("tool_call_id")
            span.failed, came = message.get("status") == "error", parsed(message.get("content"))[0]
        span.input = ABSENT if given is None else with_media(given)
        span.value = ABSENT if came is None else with_media(came)
    if node.get("level") == "ERROR" or span.failed:
        output = {} if span.value in (ABSENT, None) else {"output": span.value}
        span.failed, span.value = True, {"message": node.get("statusMessage") or "failed", **output}
    if isinstance(metadata, dict) and metadata and len(str(metadata)) < 4000:
        span.extra["metadata"] = metadata
    return span


def _place(kind: str, name: str, attributes: dict[str, Json], came: Json) -> tuple[str, str, str | None]:
    """Return channel, key and call id; where the type says nothing, the attributes it was made from may."""
    facts = facts_of(OtelSpan("", "", name=name, attributes=attributes))
    channel = _TYPES.get(kind) or (facts.channel if facts.channel in (AGENT, TOOL) else None)
    if channel is None and isinstance(came, dict) and came.get("type") == "tool" and "tool_call_id" in came:
        channel = TOOL
    if channel not in (AGENT, TOOL):
        return channel or SPAN, name, None
    short = next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)
    if channel == AGENT:
        short = re.sub(r"^agent_run \[(.+)\]$", r"\1", short)
    key = facts.key if facts.channel == channel and facts.key not in (None, name, "agent") else short
    return channel, key or name, facts.call_id


def _read_model_call(node: Mapping[str, Any], span: Span, given: Json, came: Json) -> None:
    span.messages, span.request = _prompt(given)
    if span.messages is None and given is not None:
        span.input = with_media(given)
    parameters = node.get("modelParameters")
    parameters = parsed(parameters)[0]
    if isinstance(parameters, dict) and (given := {n: value for n, value in parameters.items() if value is not None}):
        span.request["parameters"] = given
    answer = with_media(_answer(came))
    usage = _usage(node.get("usageDetails"))
    if isinstance(answer, dict):
        if node.get("model"):
            answer = {"model": node["model"], **answer}
        span.value = {**answer, "usage": usage} if usage and usage_of(answer) is None else answer
    elif came is not None:
        span.value = came


def _prompt(given: Json) -> tuple[list[Json] | None, dict[str, Json]]:
    """Return the messages of a request in any of the shapes that tracers send, and what else it holds."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}], {}
    if isinstance(given, list) and given and all(isinstance(node, dict) for node in given):
        return [_message(node) for node in given], {}
    if not isinstance(given, dict):
        return None, {}
    if "role" in given and "content" in given:
        return [_message(given)], {}
    for name in ("messages", "contents", "input"):
        if isinstance(given.get(name), list):
            rest = {key: value for key, value in given.items() if key not in (name, "messages")}
            return [_message(node) for node in given[name]], rest
    if isinstance(given.get("prompt"), str):
        system = [{"role": "system", "content": given["system"]}] if given.get("system") else []
        rest = {key: value for key, value in given.items() if key not in ("prompt", "system")}
        return [*system, {"role": "user", "content": given["prompt"]}], rest
    return None, {}


def _message(node: Json) -> Json:
    return with_media(vercel_message(message_of(langchain_message(node))))


def _answer(came: Json) -> Json:
    if isinstance(came, str):
        return {"role": "assistant", "content": came}
    if isinstance(came, list):
        calls = vercel_calls(came)
        if calls is not None:
            return {"role": "assistant", "content": calls}
        if came and all(isinstance(node, dict) and "role" in node for node in came):
            return reply_of_messages([langchain_message(node) for node in came])
        return {"output": came}
    if isinstance(came, dict) and isinstance(came.get("content"), dict) and "parts" in came["content"]:
        rest = {name: value for name, value in came.items() if name not in ("content", "finish_reason")}
        return {"candidates": [{"content": came["content"], "finish_reason": came.get("finish_reason")}], **rest}
    return vercel_message(langchain_message(came))


def _usage(node: Json) -> dict[str, Json]:
    if not isinstance(node, dict):
        return {}
    counts = {name: count for name, count in node.items() if type(count) is int}
    cached = next((counts[name] for name in _CACHED if name in counts), 0)
    usage = usage_facts(input=counts.get("input"), output=counts.get("output"), total=counts.get("total"))
    return {**usage, "cache_read_input_tokens": cached} if cached and usage else usage


FORMAT = Format(
    "langfuse",
    "Langfuse trace",
    _detect,
    _runs,
    _read,
    exact=("inputs and outputs that the download holds", "order, times and nesting"),
    inferred=("tools and agents that were recorded as plain spans", "the lane of a call: the nearest agent around it"),
    missing=("large inputs and outputs, which a download may leave out",),
)
