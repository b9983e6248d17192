"""Model calls a line: ``{"request", "response" or "error"}``, and the input and output files of batch APIs.

A line of a batch's input has no answer yet, one of its output no request; what is not there is not made up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.exchange.naming import Named, answered_model
from stashdbg_core.formats.exchanges import Exchange, ExchangeBuilder
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

_ASKS = ("messages", "input", "contents", "prompt", "body", "message")
_TIMES = ("timestamp", "time", "started_at", "start_time", "created_at", "ts")
_MS = (("duration_ms", 1.0), ("latency_ms", 1.0), ("elapsed_ms", 1.0), ("duration", 1000.0), ("latency", 1000.0))
_KNOWN = frozenset({
    "request", "response", "error", "status", "status_code", "timestamp", "url", "method", "headers", "custom_id", "id",
    "body", "params", "result", *_TIMES, *(name for name, _ in _MS),
})  # fmt: skip


def detect(head: Head) -> bool:
    """Tell whether a file holds model calls, a line each."""
    found = list(head.lines) or ([head.first] if head.first is not None else [])
    calls = sum(_is_call(record) for record in found[:5])
    return bool(found) and _is_call(found[0]) and 2 * calls > len(found[:5])


def _is_call(record: dict[str, Any]) -> bool:
    if "custom_id" in record:
        return any(isinstance(record.get(name), dict) for name in ("body", "response", "result", "params", "error"))
    request = record.get("request")
    answered = "response" in record or "error" in record
    return answered and isinstance(request, dict) and any(name in request for name in _ASKS)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read the calls, in the order of the file."""
    sink.title(source.name)
    builder = ExchangeBuilder(sink)
    for record in _records(source, sink):
        if not _is_call(record):
            sink.unknown("record without a request and its answer")
            continue
        for name in record.keys() - _KNOWN:
            sink.unknown(f"field {name}")
        _add(builder, record)


def _records(source: ForeignSource, sink: RunSink) -> Iterator[dict[str, Any]]:
    if source.head(4096).lstrip()[:1] == b"[":
        listed = source.json()
        yield from (record for record in listed if isinstance(record, dict))
    else:
        yield from (record for _, record in source.records(sink))


def _add(builder: ExchangeBuilder, record: dict[str, Any]) -> None:
    request = record.get("request", record.get("params"))
    place = record
    if isinstance(request, dict) and "url" in request and "body" in request:
        place, request = request, request["body"]
    elif request is None and "url" in record:
        request = record.get("body")
    status, headers, answer, error = _answer(record)
    url = place.get("url")
    call_id = record.get("custom_id")
    exchange = Exchange(
        str(place.get("method") or "POST"),
        url if isinstance(url, str) else "",
        (),
        b"" if request is None else _spelled(request),
        status,
        headers,
        b"" if answer is None else _spelled(answer),
        at=next((at for name in _TIMES if (at := epoch_ms(record.get(name))) is not None), None),
        ms=next((record[name] * by for name, by in _MS if type(record.get(name)) in (int, float)), None),
        error=error,
        call_id=call_id if isinstance(call_id, str) else None,
    )
    if isinstance(url, str) and url and request is not None:
        builder.add(exchange)
    else:
        named = Named(
            "llm",
            answered_model(request) or answered_model(answer) or "unknown",
            ABSENT if request is None else request,
        )
        builder.add_named(named, exchange)


def _answer(record: dict[str, Any]) -> tuple[int | None, dict[str, str], Json, Json]:
    """Return status, headers and body of an answer, and the error where there is none."""
    response, error = record.get("response"), record.get("error")
    result = record.get("result")
    status: Any = record.get("status", record.get("status_code"))
    headers: dict[str, str] = {}
    if isinstance(result, dict):
        response = result.get("message")
        error = result.get("error") or (None if response is not None else {"type": result.get("type")})
    if isinstance(response, dict) and "body" in response and ("status_code" in response or "status" in response):
        status = response.get("status_code", response.get("status"))
        given = response.get("headers")
        headers = {k: v for k, v in given.items() if isinstance(v, str)} if isinstance(given, dict) else {}
        response = response["body"]
    status = int(status) if type(status) in (int, float) and 100 <= status <= 599 else None
    if response is not None:
        return 200 if status is None else status, headers, response, None
    if error is not None and status is not None and status >= 400:
        return status, headers, error if isinstance(error, str) else {"error": error}, None
    return None, headers, None, error


def _spelled(tree: Json) -> bytes:
    if isinstance(tree, str):
        return tree.encode("utf-8", "surrogatepass")
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


FORMAT = Format(
    "request-lines",
    "requests and responses, a line each",
    detect,
    one_run,
    read,
    exact=("model inputs and outputs, errors, status codes where the lines have them",),
    inferred=("tool calls, from the results that a later request carries", "a status of 200 where none is given"),
    missing=("the HTTP around it", "answers that a batch's input, and requests that its output does not hold"),
)
