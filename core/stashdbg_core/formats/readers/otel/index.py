"""Which spans of a file are one run: those of a trace, and of all traces that name one conversation."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import RunSummary
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.otel.spans import OtelSpan
from stashdbg_core.formats.source import Line

_MOST_DAMAGED = 10_000

CONVERSATIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "traceloop.association.properties.thread_id",
)
"""Attributes that name the conversation or session of a span, the plainest first."""


def conversation_of_span(attributes: Mapping[str, Json]) -> str | None:
    """Return the conversation or session that a span says it belongs to."""
    return next((found for name in CONVERSATIONS if isinstance(found := attributes.get(name), str) and found), None)


@dataclass(slots=True)
class Group:
    """The spans of one run."""

    id: str
    """The conversation, else the trace."""
    conversation: str | None = None
    traces: dict[str, None] = field(default_factory=dict)
    offsets: array[int] = field(default_factory=lambda: array("q"))
    """Of the lines that hold its spans and log records."""
    started: float | None = None
    spans: int = 0
    title: str = ""
    title_rank: tuple[int, float] = (9, 0.0)


@dataclass(slots=True)
class _Trace:
    offsets: array[int] = field(default_factory=lambda: array("q"))
    conversations: dict[str, int] = field(default_factory=dict)
    """Spans by the conversation they name."""
    silent: int = 0
    """Spans that name none."""
    started: float | None = None
    title: str = ""
    title_rank: tuple[int, float] = (9, 0.0)


class TraceIndex:
    """What is known of each trace of a file, without its contents."""

    def __init__(self) -> None:
        self._traces: dict[str, _Trace] = {}
        self._groups: list[Group] | None = None
        self.damaged: list[tuple[Line, str]] = []
        """Lines that could not be read, and why."""

    def damage(self, line: Line, why: str) -> None:
        """Take note of a line that could not be read; a last one without an end is still being written."""
        if line.ends and len(self.damaged) < _MOST_DAMAGED:
            self.damaged.append((replace(line, raw=b""), why))

    def add(self, span: OtelSpan, offset: int) -> None:
        """Take note of a span that stands on the line at ``offset``."""
        trace = self._traces.get(span.trace)
        if trace is None:
            trace = self._traces[span.trace] = _Trace()
        if not trace.offsets or trace.offsets[-1] != offset:
            trace.offsets.append(offset)
        if span.is_log:
            return
        named = conversation_of_span(span.attributes)
        if named is None:
            trace.silent += 1
        else:
            trace.conversations[named] = trace.conversations.get(named, 0) + 1
        if span.started is not None and (trace.started is None or span.started < trace.started):
            trace.started = span.started
        rank = (int(bool(span.parent)), span.started or 0.0)
        if rank < trace.title_rank:
            trace.title, trace.title_rank = span.name, rank

    def groups(self) -> list[Group]:
        """Return the runs in order of start."""
        if self._groups is None:
            made: dict[str, Group] = {}
            for trace_id, trace in self._traces.items():
                if not trace.silent and not trace.conversations:
                    continue  # log records of a trace whose spans are elsewhere
                parts = dict(trace.conversations) or {"": 0}
                parts[next(iter(parts))] += trace.silent
                for named, spans in parts.items():
                    self._put(made, named, trace_id, trace, spans)
            self._groups = sorted(made.values(), key=lambda group: group.started or 0.0)
        return self._groups

    def summaries(self) -> list[RunSummary]:
        """Return the runs as a picker shows them."""
        return [
            RunSummary(
                label_of(group.title or group.id),
                group.started,
                group.spans,
                _detail(group),
            )
            for group in self.groups()
        ]

    def of_group(self, spans: Sequence[OtelSpan], group: Group) -> list[OtelSpan]:
        """Return the spans of a run among all spans of its traces: by what they, or the nearest span around, name."""
        by_id = {(span.trace, span.id): span for span in spans}
        kept = []
        for span in spans:
            trace = self._traces[span.trace]
            if len(trace.conversations) > 1 and _named(span, by_id, next(iter(trace.conversations))) != group.id:
                continue
            kept.append(span)
        return kept

    @staticmethod
    def _put(made: dict[str, Group], named: str, trace_id: str, trace: _Trace, spans: int) -> None:
        group = made.get(named or trace_id)
        if group is None:
            group = made[named or trace_id] = Group(named or trace_id, named or None)
        group.traces[trace_id] = None
        group.offsets.extend(trace.offsets)
        group.spans += spans
        if trace.started is not None and (group.started is None or trace.started < group.started):
            group.started = trace.started
        if trace.title_rank < group.title_rank:
            group.title, group.title_rank = trace.title, trace.title_rank


def _named(span: OtelSpan, by_id: Mapping[tuple[str, str], OtelSpan], default: str) -> str:
    seen: set[str] = set()
    found: OtelSpan | None = span
    while found is not None and found.id not in seen:
        named = conversation_of_span(found.attributes)
        if named is not None:
            return named
        seen.add(found.id)
        found = by_id.get((found.trace, found.parent))
    return default


def _detail(group: Group) -> str:
    if group.conversation is None:
        return f"trace {group.id[:12]}"
    traces = f", {len(group.traces)} traces" if len(group.traces) > 1 else ""
    return label_of(f"conversation {group.conversation[:40]}{traces}")
