"""The carriers of OpenTelemetry spans: OTLP JSON, whole or in lines, and what SDKs dump of their spans.

Each yields the same ``OtelSpan``. Log records that belong to a span come as ``OtelSpan.events`` of a span that has
nothing else; ``joined`` puts them together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.otel.attributes import attributes_of, hex_id
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.times import epoch_ms

TRACE_DIGITS, SPAN_DIGITS = 32, 16
_KNOWN = frozenset(
    {"traceid", "spanid", "parentspanid", "parentid", "name", "kind", "flags", "tracestate", "context", "parent"}
    | {"starttimeunixnano", "endtimeunixnano", "starttime", "endtime", "status", "attributes", "events", "links"}
    | {"droppedattributescount", "droppedeventscount", "droppedlinkscount"}
    | {"resource", "instrumentationscope", "instrumentationinfo"}
)
"""Fields of a span in any carrier, in lower case and without underscores."""


@dataclass(slots=True)
class OtelEvent:
    """Something that happened within a span: an event of it, or a log record that names it."""

    name: str
    attributes: dict[str, Json]


@dataclass(slots=True)
class OtelSpan:
    """A span as its tracer wrote it."""

    trace: str
    id: str
    parent: str = ""
    name: str = ""
    started: float | None = None
    ended: float | None = None
    took: float | None = None
    """Milliseconds, exact."""
    failed: bool = False
    status: str = ""
    """The message of its status."""
    attributes: dict[str, Json] = field(default_factory=dict)
    events: list[OtelEvent] = field(default_factory=list)
    resource: Mapping[str, Json] = field(default_factory=dict)
    scope: str = ""
    is_log: bool = False
    """It is a log record alone; the span it belongs to stands elsewhere."""
    dropped: int = 0
    """Attributes and events that the SDK's limits dropped."""
    unknown: tuple[str, ...] = ()
    """Fields that no version known here has."""


def is_span_dump(node: Json) -> bool:
    """Tell whether an object is a span as an SDK's ``to_json`` writes it."""
    context = node.get("context") if isinstance(node, dict) else None
    return isinstance(context, dict) and "trace_id" in context and "span_id" in context and "name" in node


def spans_of(document: Json) -> Iterator[OtelSpan]:
    """Yield the spans and log records of one JSON document; nothing for one that holds none."""
    if isinstance(document, list):
        for item in document:
            yield from spans_of(item)
    elif is_span_dump(document):
        yield _dumped(document)
    elif isinstance(document, dict):
        yield from _exported(document)
        inner = document.get("spans")
        for item in inner if isinstance(inner, list) else ():
            if is_span_dump(item):
                yield _dumped(item)


def documents(text: str) -> Iterator[tuple[int, Json, str | None]]:
    """Yield the JSON values that stand one after the other in a text, each with its offset, and what is wrong with one.

    Whatever stands between them, such as a line that a program printed, is passed over.
    """
    decoder = json.JSONDecoder()
    at = 0
    while True:
        starts = [found for found in (text.find("{", at), text.find("[", at)) if found >= 0]
        if not starts:
            return
        start = min(starts)
        try:
            value, at = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            at = _next_start(text, start)
            yield start, None, f"is no whole JSON ({getattr(error, 'msg', 'nested too deep')})"
            continue
        yield start, value, None


def joined(spans: Iterable[OtelSpan]) -> list[OtelSpan]:
    """Return the spans alone, each with the log records that name it; the first of several with one id counts."""
    found: dict[tuple[str, str], OtelSpan] = {}
    logs: list[OtelSpan] = []
    for span in spans:
        if span.is_log:
            logs.append(span)
        elif not span.id:
            found[span.trace, f"#{len(found)}"] = span
        else:
            found.setdefault((span.trace, span.id), span)
    for log in logs:
        owner = found.get((log.trace, log.id))
        if owner is not None:
            owner.events.extend(log.events)
    return list(found.values())


def _next_start(text: str, start: int) -> int:
    """Return where to look on after a value that does not parse: the next line that starts an object."""
    found = text.find("\n{", start + 1)
    return len(text) if found < 0 else found + 1


def _exported(document: Mapping[str, Any]) -> Iterator[OtelSpan]:
    """Yield what an OTLP export request holds."""
    for group in _list(document, "resourceSpans", "resource_spans"):
        resource = attributes_of(_dict(group, "resource").get("attributes"))
        for scoped in _list(group, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            scope = _dict(scoped, "scope", "instrumentationLibrary").get("name")
            for span in _list(scoped, "spans"):
                if isinstance(span, dict):
                    yield _span(span, resource, scope if isinstance(scope, str) else "")
    for group in _list(document, "resourceLogs", "resource_logs"):
        for scoped in _list(group, "scopeLogs", "scope_logs"):
            for record in _list(scoped, "logRecords", "log_records"):
                if isinstance(record, dict):
                    yield _log(record)


def _span(node: Mapping[str, Any], resource: Mapping[str, Json], scope: str) -> OtelSpan:
    fields = {name.replace("_", "").lower(): value for name, value in node.items()}
    status = object_of(fields.get("status"))
    return OtelSpan(
        trace=hex_id(fields.get("traceid"), TRACE_DIGITS),
        id=hex_id(fields.get("spanid"), SPAN_DIGITS),
        parent=hex_id(fields.get("parentspanid"), SPAN_DIGITS),
        name=_text(fields.get("name")),
        started=_moment(fields.get("starttimeunixnano")),
        ended=_moment(fields.get("endtimeunixnano")),
        took=_took(fields.get("starttimeunixnano"), fields.get("endtimeunixnano")),
        failed=status.get("code") in (2, "2", "STATUS_CODE_ERROR", "ERROR"),
        status=_text(status.get("message")),
        attributes=attributes_of(fields.get("attributes")),
        events=_events(fields.get("events")),
        resource=resource,
        scope=scope,
        dropped=_count(fields.get("droppedattributescount")) + _count(fields.get("droppedeventscount")),
        unknown=tuple(name for name in fields if name not in _KNOWN),
    )


def _log(node: Mapping[str, Any]) -> OtelSpan:
    fields = {name.replace("_", "").lower(): value for name, value in node.items()}
    attributes = attributes_of(fields.get("attributes"))
    body = attributes_of([{"key": "body", "value": fields.get("body")}]).get("body")
    if isinstance(body, dict):
        attributes = {**body, **attributes}
    elif body is not None:
        attributes.setdefault("body", body)
    name = _text(fields.get("eventname")) or _text(attributes.get("event.name"))
    return OtelSpan(
        trace=hex_id(fields.get("traceid"), TRACE_DIGITS),
        id=hex_id(fields.get("spanid"), SPAN_DIGITS),
        name=name,
        events=[OtelEvent(name, attributes)],
        is_log=True,
    )


def _dumped(node: Mapping[str, Any]) -> OtelSpan:
    """Return a span that an SDK dumped: plain attributes, ISO times or nanoseconds, ids hex or integer."""
    context = _dict(node, "context")
    parent = node.get("parent_id")
    if parent is None:
        parent = _dict(node, "parent").get("span_id")
    status = _dict(node, "status")
    fields = [name for name in node if name.replace("_", "").lower() not in _KNOWN]
    return OtelSpan(
        trace=hex_id(context.get("trace_id"), TRACE_DIGITS),
        id=hex_id(context.get("span_id"), SPAN_DIGITS),
        parent=hex_id(parent, SPAN_DIGITS),
        name=_text(node.get("name")),
        started=epoch_ms(node.get("start_time")),
        ended=epoch_ms(node.get("end_time")),
        failed=_text(status.get("status_code")).upper().removeprefix("STATUSCODE.") == "ERROR",
        status=_text(status.get("description")),
        attributes=attributes_of(node.get("attributes")),
        events=_events(node.get("events")),
        resource=attributes_of(_dict(node, "resource").get("attributes")),
        unknown=tuple(fields),
    )


def _events(node: Json) -> list[OtelEvent]:
    return [
        OtelEvent(_text(item.get("name")), attributes_of(item.get("attributes")))
        for item in (node if isinstance(node, list) else ())
        if isinstance(item, dict)
    ]


def _moment(node: Json) -> float | None:
    found = epoch_ms(node)
    return found if found else None


def _took(start: Json, end: Json) -> float | None:
    """Return the milliseconds between two times in nanoseconds, which a float of either could not tell to the last."""
    found = []
    for node in (start, end):
        text = str(node)
        if type(node) not in (int, str) or not (text.isascii() and text.isdigit() and 0 < len(text) <= 20):
            return None
        found.append(int(text))
    return (found[1] - found[0]) / 1e6 if 0 < found[0] <= found[1] else None


def _count(node: Json) -> int:
    return node if type(node) is int else 0


def _text(node: Json) -> str:
    return node if isinstance(node, str) else ""


def _dict(node: Json, *names: str) -> Mapping[str, Any]:
    if not isinstance(node, dict):
        return {}
    return next((node[name] for name in names if isinstance(node.get(name), dict)), {})


def _list(node: Json, *names: str) -> list[Any]:
    if not isinstance(node, dict):
        return []
    return next((node[name] for name in names if isinstance(node.get(name), list)), [])
