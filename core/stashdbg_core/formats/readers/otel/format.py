"""OpenTelemetry spans: OTLP JSON and SDK dumps, in the dialects of GenAI, OpenInference, OpenLLMetry and the AI SDK.

A run is a trace; traces that name one conversation are one run. A file of lines is indexed by trace and read line by
line, so that a day of a collector's output costs the memory of the run that is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from weakref import WeakKeyDictionary

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.otel.calls import call_of, is_genai
from stashdbg_core.formats.readers.otel.glance import glance
from stashdbg_core.formats.readers.otel.index import TraceIndex
from stashdbg_core.formats.readers.otel.spans import OtelSpan, documents, is_span_dump, joined, spans_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource, Line
from stashdbg_core.formats.span_records import json_lines
from stashdbg_core.formats.spans import write_spans
from stashdbg_core.parse import BOM, parse_json

_EXPORTS = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
_NOT_CAPTURED = "content was not captured at the source"
_LONGEST = 256 << 20
"""Bytes of a line that is still read."""
_BLOCK = 1 << 20
"""Bytes that reading one line costs at most, as a rule."""
_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


def _detect(head: Head) -> bool:
    if any(_is_export(line) or is_span_dump(line) for line in head.lines):
        return True
    if head.top is not None:
        if any(name in head.top for name in _EXPORTS) or _looks_dumped(head.top):
            return True
        return "spans" in head.top and b'"trace_id"' in head.data and b'"span_id"' in head.data
    if head.first is not None:
        return _is_export(head.first) or is_span_dump(head.first)
    return _concatenated(head.data)


def _is_export(node: Any) -> bool:
    return isinstance(node, dict) and any(isinstance(node.get(name), list) for name in _EXPORTS)


def _looks_dumped(top: Any) -> bool:
    return "context" in top and "name" in top and "start_time" in top


def _concatenated(data: bytes) -> bool:
    """Tell whether the head of a file holds pretty-printed spans one after the other."""
    if not data.lstrip().startswith(b"{") or not (b'"trace_id"' in data or b'"traceId"' in data):
        return False
    first = next(documents(data.decode("utf-8", "replace")), None)
    return first is not None and (is_span_dump(first[1]) or _is_export(first[1]))


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    return _index(source).summaries()


def _index(source: ForeignSource) -> TraceIndex:
    known = _indexes.get(source)
    if known is not None:
        return known
    index = TraceIndex()
    lines = json_lines(source)
    if lines is None:
        for line, document, wrong in _whole(source):
            if wrong is not None:
                index.damage(line, wrong)
            for span in spans_of(document):
                index.add(span, line.offset)
    else:
        for line in lines:
            raw = line.raw or _long_line(source, line)
            found = glance(raw)
            if found is None:
                index.damage(line, "is no JSON" if raw else f"is longer than {_LONGEST >> 20} MB")
            for span in found or ():
                index.add(span, line.offset)
    _indexes[source] = index
    return index


_indexes: WeakKeyDictionary[ForeignSource, TraceIndex] = WeakKeyDictionary()
"""Of the files that are open: a picker and the run chosen in it need the same."""


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    index = _index(source)
    group = index.groups()[run]
    wanted = frozenset(group.traces)
    places = set(group.offsets)
    found: list[OtelSpan] = []
    for document in _records(source, places):
        found += (span for span in spans_of(document) if span.trace in wanted)
    for damaged, why in index.damaged:
        sink.damaged_line(damaged, why)
    spans = index.of_group(joined(found), group)
    sink.identify(group.id)
    sink.title(group.title)
    sink.meta(traces=sorted(wanted)[:1000], conversation=group.conversation, resource=dict(spans[0].resource) or None)
    for span in spans:
        for name in span.unknown:
            sink.unknown(f"field {name} of a span")
    counts = write_spans([call_of(span) for span in spans], sink, no_content=_NOT_CAPTURED)
    _say_what_is_missing(spans, counts.calls, counts.without_content, sink)


def _say_what_is_missing(spans: Sequence[OtelSpan], calls: int, without: int, sink: RunSink) -> None:
    ids = {span.id for span in spans}
    orphans = sum(1 for span in spans if span.parent and span.parent not in ids)
    if orphans:
        sink.note(
            "parent-missing",
            f"{orphans} span{'s name' if orphans > 1 else ' names'} a parent that the file does not hold",
        )
    if not calls and not any(map(is_genai, spans)):
        sink.note("no-genai", f"none of the {len(spans)} spans of this trace is of a model, a tool or an agent")
    elif without:
        sink.note(
            "no-content",
            f"{without} of {calls} calls have no content: the program that wrote this did not capture it; "
            f"set {_VARIABLE}=true there (TRACELOOP_TRACE_CONTENT=true for OpenLLMetry)",
        )


def _records(source: ForeignSource, places: set[int]) -> Iterator[Json]:
    """Yield the JSON values of a file; of a file of lines, those at ``places``."""
    lines = json_lines(source)
    if lines is None:
        for _, document, wrong in _whole(source):
            if wrong is None:
                yield document
        return
    if len(places) * _BLOCK < source.size and not source.is_zstd:
        lines = (line for place in sorted(places) for line in islice(source.lines(place), 1))
    for line in lines:
        if line.offset in places:
            yield parse_json(line.raw or _long_line(source, line))


def _long_line(source: ForeignSource, line: Line) -> bytes:
    """Return a line that is longer than lines are read by default: a batch of spans with whole prompts."""
    return source.read_at(line.offset, line.size) if line.size <= _LONGEST and not source.is_zstd else b""


def _whole(source: ForeignSource) -> Iterator[tuple[Line, Json, str | None]]:
    """Yield the values of a file that is one document, or several that span lines, and what is wrong with one."""
    data = source.data().removeprefix(BOM)
    try:
        yield Line(0, 1, b"", True, len(data)), parse_json(data), None
        return
    except StashError:
        pass
    text = data.decode("utf-8", "replace")
    for offset, value, wrong in documents(text):
        yield Line(offset, text.count("\n", 0, offset) + 1, b"", True, 0), value, wrong


FORMAT = Format(
    "otel",
    "OpenTelemetry GenAI spans",
    _detect,
    _runs,
    _read,
    exact=("order, times and nesting", "tool inputs and results, prompts and answers, where content was captured"),
    inferred=("the lane of a call: the nearest agent around it",),
    missing=("what the SDK's sampling and limits dropped",),
)
