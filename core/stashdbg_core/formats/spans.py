"""Span trees become events: calls with a start, an end and a parent, found in whatever order they were written.

Events are in order of start, a parent before its children. The lane of an event is the name of the nearest agent around
it. Of two spans that saw the same model call, one inside the other, the inner one is the call. Nothing is dropped: what
is no call of a model, a tool or an agent stands on the channel ``span``.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from stashdbg_core.canonical import Json
from stashdbg_core.formats.sink import ABSENT, Chat, Input, RunSink

LLM, TOOL, AGENT, SPAN = "llm", "tool", "agent", "span"


@dataclass(slots=True)
class Span:
    """One span, whichever tracer wrote it."""

    id: str
    """Unique in the run."""
    name: str
    channel: str
    key: str
    parent: str = ""
    started: float | None = None
    """Epoch milliseconds."""
    ended: float | None = None
    """Epoch milliseconds; None if it is not known."""
    took: float | None = None
    """Milliseconds, where they are known better than from the two."""
    running: bool = False
    """It never ended."""
    input: Json = ABSENT
    """What went in, for anything but a model call with messages."""
    messages: list[Json] | None = None
    """The prompt of a model call, whole."""
    request: dict[str, Json] = field(default_factory=dict)
    """What else a model was asked with."""
    value: Json = ABSENT
    """What came out, or the error."""
    failed: bool = False
    agent: str | None = None
    """The lane that what happens inside goes to."""
    call_id: str | None = None
    label: str | None = None
    order: float | None = None
    """Its place among the others, where it is not that of its start."""
    thread: Json = ABSENT
    """Its lane, where that is known; else the nearest agent's."""
    silent: bool = False
    """It is no event, only a place for others to be in."""
    cut: str | None = None
    """Why its content is not whole, in words."""
    extra: dict[str, Json] = field(default_factory=dict)

    @property
    def milliseconds(self) -> float | None:
        """How long it took."""
        if self.took is not None:
            return self.took
        if self.started is None or self.ended is None or self.ended < self.started:
            return None
        return round(self.ended - self.started, 6)


@dataclass(slots=True)
class SpanCounts:
    """What was found in a run."""

    calls: int = 0
    """Calls of models and tools."""
    without_content: int = 0
    """Of these, those of which neither input nor output was captured."""
    agents: int = 0


def write_spans(spans: Sequence[Span], sink: RunSink, *, no_content: str = "not captured at the source") -> SpanCounts:
    """Write a run's spans as events.

    Args:
        spans: In any order; of several with one id the first counts.
        sink: Where they go.
        no_content: What to say of a call without content.
    """
    ordered = _in_order(spans)
    by_id = {span.id: span for span in ordered}
    _keep_inner_calls(ordered, by_id)
    lanes: dict[str, str | None] = {}
    numbers: dict[str, int] = {}
    chats: dict[str | None, Chat] = {}
    counts = SpanCounts()
    for span in ordered:
        lane = lanes.get(span.parent) if span.thread is ABSENT else span.thread
        lanes[span.id] = span.agent or lane
        if span.silent:
            if span.parent in numbers:
                numbers[span.id] = numbers[span.parent]
            continue
        numbers[span.id] = _write(span, _input(span, lane, chats, sink), lane, numbers.get(span.parent), sink)
        if _count(span, counts):
            span.cut = span.cut or no_content
        if span.cut is not None:
            sink.cut(numbers[span.id], span.cut)
    return counts


def _input(span: Span, lane: str | None, chats: dict[str | None, Chat], sink: RunSink) -> Json | Input:
    if span.messages is None:
        if span.channel == LLM and span.request and span.input is ABSENT:
            return span.request
        return span.input
    chat = chats.get(lane)
    if chat is None:
        chat = chats[lane] = sink.chat()
    chat.extend_to(span.messages)
    return chat.input(**span.request)


def _write(span: Span, given: Json | Input, lane: str | None, parent: int | None, sink: RunSink) -> int:
    if span.running:
        return sink.start(
            span.channel,
            span.key,
            input=given,
            at=span.started,
            label=span.label,
            thread=lane,
            parent=parent,
            call_id=span.call_id,
        )
    return sink.event(
        span.channel,
        span.key,
        value=None if span.value is ABSENT else span.value,
        outcome="throw" if span.failed else "return",
        input=given,
        at=span.started,
        ms=span.milliseconds,
        label=span.label,
        thread=lane,
        parent=parent,
        call_id=span.call_id,
        extra=span.extra,
    )


def _count(span: Span, counts: SpanCounts) -> bool:
    """Count a span, and return whether it is a call that lacks its outcome."""
    counts.agents += span.channel == AGENT
    if span.channel not in (LLM, TOOL):
        return False
    counts.calls += 1
    if span.failed or span.running or span.value is not ABSENT:
        return False
    counts.without_content += span.messages is None and span.input is ABSENT
    return True


def _in_order(spans: Sequence[Span]) -> list[Span]:
    """Return them by start, each after its parent; of a ring of parents the earliest goes first."""
    first: dict[str, int] = {}
    for index, span in enumerate(spans):
        first.setdefault(span.id, index)
    kept = sorted(first.values())
    children: dict[str, list[int]] = {}
    ready: list[tuple[float, int]] = []
    for index in kept:
        span = spans[index]
        if span.parent and span.parent in first and span.parent != span.id:
            children.setdefault(span.parent, []).append(index)
        else:
            heapq.heappush(ready, (_place(span), index))
    ordered: list[Span] = []
    waiting = dict.fromkeys(kept)
    while waiting:
        if not ready:
            index = min(waiting, key=lambda found: (_place(spans[found]), found))
            heapq.heappush(ready, (_place(spans[index]), index))
        start, index = heapq.heappop(ready)
        if index not in waiting:
            continue
        del waiting[index]
        span = spans[index]
        ordered.append(span)
        for child in children.get(span.id, ()):
            own = spans[child].started if spans[child].order is None else spans[child].order
            heapq.heappush(ready, (start if own is None else max(own, start), child))
    return ordered


def _place(span: Span) -> float:
    return span.order if span.order is not None else span.started or 0.0


def _keep_inner_calls(ordered: Sequence[Span], by_id: dict[str, Span]) -> None:
    """Make a model call that contains one, no tool or agent between them, a plain span; the inner one is the call."""
    inside: dict[str, list[Span]] = {}
    for span in reversed(ordered):
        calls = inside.pop(span.id, [])
        if span.channel == LLM:
            if calls:
                span.channel, span.key = SPAN, span.name or span.key
                if len(calls) == 1:
                    _fill(calls[0], span)
            else:
                calls = [span]
        elif span.channel != SPAN:
            calls = []
        if calls and span.parent in by_id:
            inside.setdefault(span.parent, []).extend(calls)


def _fill(inner: Span, outer: Span) -> None:
    """Give the one call inside a wrapper what only the wrapper captured."""
    if inner.messages is None and inner.input is ABSENT:
        inner.messages, inner.input = outer.messages, outer.input
        inner.request = {**outer.request, **inner.request}
    if inner.value is ABSENT and not inner.failed and not outer.failed:
        inner.value = outer.value
