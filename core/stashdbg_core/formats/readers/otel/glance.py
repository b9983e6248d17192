"""A line of OTLP JSON looked at for its index: which spans of which traces it holds, and nothing of their contents."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.readers.otel.attributes import any_value, hex_id
from stashdbg_core.formats.readers.otel.index import CONVERSATIONS
from stashdbg_core.formats.readers.otel.spans import SPAN_DIGITS, TRACE_DIGITS, OtelSpan, spans_of
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.parse import parse_json

_NAMED = tuple(name.encode() for name in CONVERSATIONS)


class _Attribute(msgspec.Struct, gc=False):
    key: str
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Bare(msgspec.Struct, gc=False, rename="camel"):
    trace_id: str
    span_id: str = ""
    parent_span_id: str | None = None
    name: str = ""
    start_time_unix_nano: str | int | None = None


class _Full(_Bare, gc=False, rename="camel"):
    attributes: list[_Attribute] = []


class _BareScope(msgspec.Struct, rename="camel"):
    spans: list[_Bare]


class _FullScope(msgspec.Struct, rename="camel"):
    spans: list[_Full]


class _BareResource(msgspec.Struct, rename="camel"):
    scope_spans: list[_BareScope]


class _FullResource(msgspec.Struct, rename="camel"):
    scope_spans: list[_FullScope]


class _BareLine(msgspec.Struct, rename="camel"):
    resource_spans: list[_BareResource]
    resource_logs: msgspec.Raw | None = None


class _FullLine(msgspec.Struct, rename="camel"):
    resource_spans: list[_FullResource]
    resource_logs: msgspec.Raw | None = None


_bare = msgspec.json.Decoder(_BareLine).decode
_full = msgspec.json.Decoder(_FullLine).decode


def glance(raw: bytes) -> Iterable[OtelSpan] | None:
    """Return the spans of a line with what an index wants to know of them; None for a line that is no JSON.

    What is not written as OTLP says, such as log records and SDK dumps, is read in full.
    """
    try:
        line: _BareLine | _FullLine = _full(raw) if any(name in raw for name in _NAMED) else _bare(raw)
        if line.resource_logs is None:
            scopes = (scope for group in line.resource_spans for scope in group.scope_spans)
            return [_light(span) for scope in scopes for span in scope.spans]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return spans_of(parse_json(raw))
    except StashError:
        return None


def _light(span: _Bare) -> OtelSpan:
    attributes: dict[str, Json] = {}
    for attribute in getattr(span, "attributes", ()):
        if attribute.key in CONVERSATIONS:
            attributes[attribute.key] = any_value(parse_json(bytes(attribute.value)))
    return OtelSpan(
        hex_id(span.trace_id, TRACE_DIGITS),
        hex_id(span.span_id, SPAN_DIGITS),
        hex_id(span.parent_span_id, SPAN_DIGITS),
        span.name,
        epoch_ms(span.start_time_unix_nano) or None,
        attributes=attributes,
    )
