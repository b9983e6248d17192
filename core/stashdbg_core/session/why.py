"""The backward slice of a call: the earlier events whose outputs reached its input, and theirs in turn.

One pass back through the events: what an input says is wanted, the nearest earlier output that says it is linked, and
its own input becomes wanted. A link says what both have in common and never that one caused the other. The pass is
bounded in events, bytes and nodes, and says so where a bound stopped it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.last_change import PayloadPart
from stashdbg_core.session.pointers import ABSENT, Absent, resolve
from stashdbg_core.session.tasks import Steps
from stashdbg_core.session.why_facts import Fact, facts_of
from stashdbg_core.session.why_wanted import Evidence, WantedFacts

MOST_NODES = 64
MOST_EVENTS = 20_000
MOST_BYTES = 32_000_000
MOST_BYTES_EACH = 4_000_000
_MOST_HOPS = 12
_EVIDENCE_KEPT = 4
_STRENGTH = {"verbatim": 3, "same value": 3, "same number": 1, "order only": 0}


@dataclass(slots=True)
class Link:
    """What a node's output and a later node's input have in common."""

    to: int
    """``seq`` of the later event."""
    evidence: list[Evidence]
    """The strongest first."""
    more: int = 0
    """Pieces of evidence that are not listed."""

    def to_json(self) -> dict[str, Json]:
        """Return the link as data."""
        listed = [
            {
                "evidence": e.kind,
                "characters": e.characters,
                "from": e.source,
                "to": e.sink,
                "text": e.text,
                "words": e.words,
            }
            for e in self.evidence
        ]
        return {"to": self.to, "evidence": listed, "more": self.more}


@dataclass(slots=True)
class WhyNode:
    """An event of the slice."""

    position: int
    seq: int
    hops: int
    """Links between it and the event that was asked about."""
    links: list[Link] = field(default_factory=list)
    """To later events of the slice; empty for the event that was asked about."""


@dataclass(slots=True)
class Slice:
    """What was found out about where something came from."""

    seq: int
    part: PayloadPart | None
    pointer: str | None
    text: str | None
    nodes: list[WhyNode]
    """The event asked about first, then backwards in time."""
    stopped: str | None = None
    """Which bound ended the search, if one did."""

    def to_json(self) -> dict[str, Json]:
        """Return the slice under the names that ``stashdbg why --json`` prints."""
        return {
            "seq": self.seq,
            "part": self.part,
            "pointer": self.pointer,
            "text": self.text,
            "events": [
                {"seq": node.seq, "hops": node.hops, "links": [link.to_json() for link in node.links]}
                for node in self.nodes
            ],
            "stopped": self.stopped,
        }


def why_steps(
    recording: Recording,
    position: int,
    *,
    pointer: str | None = None,
    text: str | None = None,
    part: PayloadPart | None = None,
) -> Steps[Slice]:
    """Find in slices of work where a field, a text, or the whole input of an event came from.

    Args:
        recording: The run.
        position: Index of the event.
        pointer: A field of its value or input; the value counts first where both have it.
        text: A text that stands in its input or value.
        part: Which of them is meant; alone, all of it.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the event has no such field or text; or the file cannot be read any more.
    """
    if text == "":
        raise invalid_input("there is no text to look for", hint="give one that stands in the event")
    if part is not None and pointer is None and text is None:
        pointer = ""
    tracer = _Tracer(recording, position)
    tracer.start(pointer, text, part)
    yield
    yield from tracer.trace()
    tracer.order_only()
    return Slice(tracer.root.seq, tracer.part, pointer, text, tracer.in_order(), tracer.stopped)


class _Tracer:
    def __init__(self, recording: Recording, position: int) -> None:
        self.recording = recording
        self.root = recording.events[position]
        self.part: PayloadPart | None = None
        self.stopped: str | None = None
        self._position = position
        self._wanted = WantedFacts()
        self._nodes: list[WhyNode] = [WhyNode(position, self.root.seq, 0)]
        self._bytes = 0

    def start(self, pointer: str | None, text: str | None, part: PayloadPart | None) -> None:
        """Want what was asked for."""
        given = self._tree(self.root.input_ref)
        if pointer is None and text is None:
            self._want(given, 0)
            return
        value = self._tree(self.root.ref)
        sides: list[tuple[PayloadPart, Json | Absent]] = [("value", value), ("input", given)]
        if text is not None:
            sides.reverse()
        for side, tree in sides:
            if part not in (None, side) or tree is ABSENT:
                continue
            facts = _selected(tree, pointer, text)
            if facts is None:
                continue
            self.part = side
            said = {fact.key for fact in facts_of(given)} if side == "value" and given is not ABSENT else set()
            if side == "input" or given is ABSENT or any(fact.key in said for fact in facts):
                self._wanted.add(facts, 0)
            else:
                self._want(given, 0)
            return
        what = f"field {shorten(pointer, 80)}" if pointer is not None else f"text {shorten(text or '', 60)!r}"
        where = part or "input or value"
        raise invalid_input(
            f"event {self.root.seq} has no {where if pointer == '' else f'{what} in its {where}'}",
            hint=f"stashdbg show FILE --at {self.root.seq} prints both",
        )

    def trace(self) -> Steps[None]:
        """Go back through the events and link what reached the slice."""
        events = self.recording.events
        last = max(self._position - MOST_EVENTS, 0)
        for index in range(self._position - 1, last - 1, -1):
            if self._bytes > MOST_BYTES:
                self.stopped = (
                    f"looked at {MOST_BYTES // 1_000_000} MB of outputs, back to event {events[index + 1].seq}"
                )
                return
            if self._wanted.is_empty:
                return
            self._visit(index, events[index])
            if len(self._nodes) > MOST_NODES:
                self.stopped = f"{MOST_NODES} events found, back to event {events[index].seq}"
                return
            yield
        if last:
            self.stopped = f"looked at {MOST_EVENTS:,} events, back to event {events[last].seq}"

    def order_only(self) -> None:
        """Link the call that failed right before one in its lane, and for lack of all else the call right before."""
        for node in list(self._nodes):
            before = self._before_in_lane(node.position)
            if before is None or any(known.position == before for known in self._nodes):
                continue
            event = self.recording.events[before]
            failed = event.outcome == THROW and self.recording.events[node.position].outcome != THROW
            if failed or (node.position == self._position and len(self._nodes) == 1):
                link = Link(node.seq, [Evidence("order only", 0, "", "", "")])
                self._nodes.append(WhyNode(before, event.seq, node.hops + 1, [link]))

    def in_order(self) -> list[WhyNode]:
        """Return the nodes, the latest first."""
        return sorted(self._nodes, key=lambda node: -node.position)

    def _visit(self, index: int, event: RecordedEvent) -> None:
        found: dict[int, list[Evidence]] = {}
        tree = self._tree(event.ref)
        if tree is ABSENT:
            return
        for wanted, evidence in self._wanted.match(facts_of(tree)):
            for node in self._nearest(wanted.sinks):
                sink = Evidence(evidence.kind, evidence.characters, evidence.source, wanted.sinks[node], evidence.text)
                found.setdefault(node, []).append(sink)
        if not found:
            return
        hops = 1 + min(self._nodes[node].hops for node in found)
        links = [_link(self._nodes[node].seq, evidence) for node, evidence in found.items()]
        self._nodes.append(WhyNode(index, event.seq, hops, links))
        if hops < _MOST_HOPS:
            self._want(self._tree(event.input_ref), len(self._nodes) - 1)

    def _nearest(self, sinks: Iterable[int]) -> list[int]:
        """Return where a fact first entered the slice, and the event asked about if it said it too."""
        earliest = max(sinks)
        return [0, earliest] if earliest and 0 in sinks else [earliest]

    def _want(self, tree: Json | Absent, node: int) -> None:
        if tree is not ABSENT:
            self._wanted.add(facts_of(tree), node)

    def _tree(self, ref: str | None) -> Json | Absent:
        """Return a value that can be read and is not too large; ``ABSENT`` otherwise."""
        if ref is None:
            return ABSENT
        blobs = self.recording.blobs
        size = len(blobs.payload(ref).raw)
        if size > MOST_BYTES_EACH:
            return ABSENT
        self._bytes += size
        try:
            return blobs.tree(ref)
        except StashError:
            return ABSENT

    def _before_in_lane(self, position: int) -> int | None:
        events, columns = self.recording.events, columns_of(self.recording.events)
        lane = events[position].thread
        for index in range(position - 1, max(position - 1000, -1), -1):
            if columns.channel_at(index) and events[index].thread == lane:
                return index
        return None


def _selected(tree: Json, pointer: str | None, text: str | None) -> list[Fact] | None:
    """Return the facts of a field, or those that a text is part of; None if the tree has it not."""
    if pointer is not None:
        node = resolve(tree, pointer)
        if node is ABSENT:
            return None
        facts = list(facts_of(node, pointer))
        return facts or [Fact("text", str(node), pointer, str(node))]
    assert text is not None
    for fact in facts_of(tree):
        if fact.kind == "text" and text in fact.key:
            return list(facts_of(text, fact.pointer)) or [Fact("text", text, fact.pointer, text)]
    for fact in facts_of(tree):
        if fact.kind == "number" and fact.shown == text:
            return [fact]
    return None


def _link(seq: int, evidence: list[Evidence]) -> Link:
    distinct = {(one.text, one.sink): one for one in reversed(evidence)}.values()
    ranked = sorted(distinct, key=lambda one: (-_STRENGTH[one.kind], -one.characters))
    return Link(seq, ranked[:_EVIDENCE_KEPT], len(ranked) - _EVIDENCE_KEPT if len(ranked) > _EVIDENCE_KEPT else 0)
