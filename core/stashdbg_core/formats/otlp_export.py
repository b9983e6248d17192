"""A recording as OpenTelemetry spans in OTLP JSON, in the current GenAI conventions.

Ids are derived from the recording's id, so the same recording gives the same file. A call of a model is ``chat``, of a
tool ``execute_tool``, a lane ``invoke_agent``; everything else is a span of its own name. What the conventions have no
words for stands in attributes that begin with ``stashdbg.``, by which ``readers.otel.own`` reads the file back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.formats.otlp_messages import error_event, model_attributes
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.tags import PENDING, TAG

SCOPE = "stashdbg"
CONVENTIONS = "https://opentelemetry.io/schemas/1.37.0"
_INTERNAL, _CLIENT = 1, 3
_ERROR = 2
_PENDING: Json = {TAG: PENDING}


@dataclass(slots=True)
class _LaneSpan:
    """A lane that no event of the recording opens."""

    id: str
    name: str
    parent: str
    start: int
    end: int


def otlp_chunks(recording: Recording) -> Iterator[bytes]:
    """Yield the text of an OTLP JSON file, one span a line.

    Raises:
        StashError: The recording's file cannot be read any more.
    """
    trace = _digest(recording.id, 16)
    resource = {"attributes": _pairs({"service.name": "stashdbg", "stashdbg.recording.id": recording.id})}
    scope: dict[str, Json] = {"name": SCOPE}
    yield b'{"resourceSpans":[{"resource":%b,"scopeSpans":[{"scope":%b,"schemaUrl":"%b","spans":[' % (
        stored_form(resource),
        stored_form(scope),
        CONVENTIONS.encode(),
    )
    comma = b"\n"
    for span in _spans(recording, trace):
        yield comma + stored_form(span)
        comma = b",\n"
    yield b"]}]}]}\n"


def _spans(recording: Recording, trace: str) -> Iterator[dict[str, Json]]:
    lanes: dict[int, str | None] = {}
    made: dict[tuple[str, int | None], _LaneSpan] = {}
    for event in recording.events:
        inherited = lanes.get(event.parent) if event.parent is not None else None
        lanes[event.seq] = event.key if event.channel == "agent" else event.thread
        parent = "" if event.parent is None else _span_id(recording, event.parent)
        if event.thread is not None and event.thread != inherited:
            parent = _lane(recording, event, parent, made).id
        yield _span(recording, event, trace, parent)
    for lane in made.values():
        yield _lane_span(lane, trace)


def _lane(
    recording: Recording, event: RecordedEvent, parent: str, made: dict[tuple[str, int | None], _LaneSpan]
) -> _LaneSpan:
    """Return the span around the events of a lane, grown to hold this one."""
    name = event.thread or ""
    start, end = _times(event)
    lane = made.get((name, event.parent))
    if lane is None:
        identity = _digest(f"{recording.id}\0lane\0{name}\0{event.parent}", 8)
        lane = made[name, event.parent] = _LaneSpan(identity, name, parent, start, end)
    lane.start = min(lane.start, start) if lane.start and start else lane.start or start
    lane.end = max(lane.end, end)
    return lane


def _lane_span(lane: _LaneSpan, trace: str) -> dict[str, Json]:
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": lane.name, "stashdbg.lane": True}
    span = _frame(trace, lane.id, lane.parent, f"invoke_agent {lane.name}", _INTERNAL, (lane.start, lane.end))
    return {**span, "attributes": _pairs(attributes), "status": {}}


def _span(recording: Recording, event: RecordedEvent, trace: str, parent: str) -> dict[str, Json]:
    given = None if event.input_ref is None else _tree(recording, event.input_ref)
    value = _tree(recording, event.ref)
    failed = event.outcome == THROW
    pending = failed and value == _PENDING
    attributes: dict[str, Json] = {
        "stashdbg.channel": event.channel,
        "stashdbg.key": event.key,
        "stashdbg.seq": event.seq,
        "stashdbg.thread": event.thread or "",
        "stashdbg.label": event.label,
        "stashdbg.outcome": None if event.outcome in ("return", THROW) else event.outcome,
        "stashdbg.pending": True if pending else None,
        "stashdbg.ms": 0 if event.ms == 0 else None,
    }
    name, kind = event.key, _INTERNAL
    if event.channel == "llm":
        name, kind = f"chat {event.key}", _CLIENT
        attributes |= model_attributes(
            event.key, given, None if failed else value, has_input=event.input_ref is not None
        )
        attributes["stashdbg.call.id"] = event.call_id
    elif event.channel == "tool":
        name = f"execute_tool {event.key}"
        attributes |= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.key,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": event.call_id,
            "gen_ai.tool.call.arguments": None if event.input_ref is None else _content(given),
            "gen_ai.tool.call.result": None if failed else _content(value),
            "stashdbg.input": _text(given) if event.input_ref is not None and _is_scalar(given) else None,
            "stashdbg.value": _text(value) if not failed and _is_scalar(value) else None,
        }
    else:
        if event.channel == "agent":
            name = f"invoke_agent {event.key}"
            attributes |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": event.key}
        attributes["stashdbg.call.id"] = event.call_id
        attributes["stashdbg.input"] = None if event.input_ref is None else _text(given)
        attributes["stashdbg.value"] = None if failed else _text(value)
    span = _frame(trace, _span_id(recording, event.seq), parent, name, kind, _times(event))
    if failed and not pending:
        told = error_event(value)
        attributes |= {"stashdbg.value": _text(value), "error.type": told.get("exception.type") or "_OTHER"}
        moment = str(_times(event)[1])
        span["events"] = [{"timeUnixNano": moment, "name": "exception", "attributes": _pairs(told)}]
        span["status"] = {"code": _ERROR, "message": str(told.get("exception.message") or "")}
    else:
        span["status"] = {}
    span["attributes"] = _pairs(attributes)
    return span


def _frame(trace: str, span: str, parent: str, name: str, kind: int, times: tuple[int, int]) -> dict[str, Json]:
    frame: dict[str, Json] = {"traceId": trace, "spanId": span}
    if parent:
        frame["parentSpanId"] = parent
    return frame | {
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
    }


def _times(event: RecordedEvent) -> tuple[int, int]:
    """Return start and end in nanoseconds since the epoch; 0, OTLP's word for unknown, if it is not known."""
    start = 0 if event.at is None else max(0, round(event.at * 1_000_000))
    return start, start + (round(event.ms * 1_000_000) if start and event.ms is not None and event.ms > 0 else 0)


def _tree(recording: Recording, ref: str) -> Json:
    """Return a value; of one that is missing or damaged, None."""
    try:
        return recording.blobs.tree(ref)
    except StashError:
        return None


def _content(value: Json) -> str:
    """Return a value as text: JSON, but a text itself, unless that could be taken for JSON."""
    if isinstance(value, str) and not value.lstrip().startswith(("{", "[", '"')):
        return value
    return _text(value)


def _is_scalar(value: Json) -> bool:
    """Tell whether a value reads as text where the conventions put it, and is none."""
    return not isinstance(value, str | dict | list)


def _text(value: Json) -> str:
    return stored_form(value).decode("utf-8", "surrogatepass")


def _pairs(attributes: dict[str, Json]) -> list[Json]:
    """Return attributes as OTLP writes them; those that are None are left out."""
    return [{"key": name, "value": _any(value)} for name, value in attributes.items() if value is not None]


def _any(value: Json) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)} if -(2**63) <= value < 2**63 else {"stringValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any(item) for item in value]}}
    return {"stringValue": value if isinstance(value, str) else _text(value)}


def _span_id(recording: Recording, seq: int) -> str:
    return _digest(f"{recording.id}\0{seq}", 8)


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: 2 * length]
