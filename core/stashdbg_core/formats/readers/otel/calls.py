"""One OpenTelemetry span read as a call, whichever dialect says what it was."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from stashdbg_core.canonical import Json
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.otel.facts import Attributes, Facts
from stashdbg_core.formats.readers.otel.genai import genai_facts
from stashdbg_core.formats.readers.otel.openinference import openinference_facts
from stashdbg_core.formats.readers.otel.openllmetry import openllmetry_facts
from stashdbg_core.formats.readers.otel.own import as_exported
from stashdbg_core.formats.readers.otel.spans import OtelSpan
from stashdbg_core.formats.readers.otel.vercel import vercel_facts
from stashdbg_core.formats.sink import ABSENT
from stashdbg_core.formats.spans import AGENT, LLM, SPAN, TOOL, Span
from stashdbg_core.session.usage import usage_of

_SAMPLED = "the SDK's limits dropped attributes"
_GENAI = ("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.", "mcp.")


def is_genai(span: OtelSpan) -> bool:
    """Tell whether a span speaks of a model, a tool or an agent."""
    return any(name.startswith(_GENAI) for name in span.attributes)


def call_of(span: OtelSpan) -> Span:
    """Return a span as a call; one of no kind known here stands on the channel ``span`` with all it holds."""
    a = Attributes(span.attributes)
    facts = facts_of(span, a)
    channel, key = facts.channel, facts.key
    if channel is None:
        channel, key = _other(span, facts)
    call = Span(
        id=_id(span.trace, span.id),
        name=span.name,
        channel=channel,
        key=key or _asked_model(facts) or span.name or "?",
        parent=_id(span.trace, span.parent) if span.parent else "",
        started=span.started,
        ended=span.ended,
        took=span.took,
        running=span.ended is None,
        call_id=facts.call_id,
    )
    kind = a.text("error.type")
    call.failed = span.failed or kind is not None
    if channel == AGENT and span.attributes.get("gen_ai.operation.name") != "create_agent":
        call.agent = call.key
    _give_content(call, facts, span)
    if call.failed:
        call.value = error_of(span, kind, call.value)
    call.cut = a.cut or (_SAMPLED if span.dropped else None)
    rest = {**a.rest(), **({"otel.scope": span.scope} if span.scope else {})}
    if channel == SPAN and call.input is ABSENT and rest:
        call.input = rest
    elif rest:
        call.extra["attributes"] = rest
    as_exported(span, call)
    return call


def facts_of(span: OtelSpan, a: Attributes | None = None) -> Facts:
    """Return what the dialects say of a span."""
    a = a or Attributes(span.attributes)
    facts = genai_facts(a, span.name, span.events)
    facts.merge(openinference_facts(a, span.name))
    facts.merge(openllmetry_facts(a, span.name))
    facts.merge(vercel_facts(a, span.name))
    return facts


def error_of(span: OtelSpan, kind: str | None, came: Json = ABSENT) -> Json:
    """Return why a span failed: its exception, else its status; what came out all the same stands beside it."""
    raised = next((event.attributes for event in span.events if event.name == "exception"), {})
    error: dict[str, Json] = {
        "type": raised.get("exception.type") or kind,
        "message": raised.get("exception.message") or span.status or None,
        "stacktrace": raised.get("exception.stacktrace"),
    }
    if raised and span.status and span.status not in str(error["message"]):
        error["status"] = span.status
    error = {name: value for name, value in error.items() if value not in (None, "")}
    if came is not ABSENT:
        error["output"] = came
    return error or {"message": "failed, the source does not say why"}


def _give_content(call: Span, facts: Facts, span: OtelSpan) -> None:
    if call.channel == LLM:
        call.messages = None if facts.messages is None else [with_media(message) for message in facts.messages]
        call.request = {name: value for name, value in facts.request.items() if name != "messages"}
        call.input = with_media(facts.input)
        call.value = _answer(with_media(facts.output), facts)
        return
    call.input, call.value = with_media(facts.input), with_media(facts.output)
    if call.channel not in (TOOL, AGENT) and facts.messages is not None and call.input is ABSENT:
        call.input = {"messages": facts.messages}
    if call.channel != SPAN:
        return
    told = [{"name": event.name, **event.attributes} for event in span.events if event.name != "exception"]
    if told and call.value is ABSENT:
        call.value = {"events": told[:100]}


def _answer(output: Json, facts: Facts) -> Json:
    """Return what the model answered, with the tokens, model and id that stand elsewhere in the span."""
    if not isinstance(output, dict):
        if output is ABSENT:
            return (
                {"role": "assistant", "content": None, **facts.answer, "usage": facts.usage} if facts.usage else ABSENT
            )
        return output
    answer: dict[str, Any] = dict(output)
    for name, value in facts.answer.items():
        if name != "stop_reason" or "choices" not in answer:
            answer.setdefault(name, value)
    if facts.usage and usage_of(answer) is None:
        answer["usage"] = facts.usage
    return answer


def _other(span: OtelSpan, facts: Facts) -> tuple[str, str | None]:
    """Return channel and key of a span that no dialect calls a call of a model, a tool or an agent."""
    held = span.attributes
    method = held.get("mcp.method.name")
    if isinstance(method, str):
        return "mcp", method
    verb = held.get("http.request.method", held.get("http.method"))
    if isinstance(verb, str):
        url = next((held[n] for n in ("url.full", "http.url") if isinstance(held.get(n), str)), "")
        try:
            parts = urlsplit(url)
            place = (parts.hostname or "") + parts.path
        except ValueError:
            place = ""
        host, path = (
            held.get("server.address", ""),
            held.get("url.path", held.get("http.target", held.get("http.route", ""))),
        )
        return "http", f"{verb} {place or f'{host}{path}'}".strip()
    return SPAN, facts.key if facts.key and facts.channel else span.name


def _asked_model(facts: Facts) -> str | None:
    model = facts.request.get("model") if facts.channel == LLM else None
    return model if isinstance(model, str) else None


def _id(trace: str, span: str) -> str:
    return f"{trace}:{span}"
