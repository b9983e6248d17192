"""A query made into a test of the events of one recording.

Columns are asked before records, records before values, and each value once. Going over all events is done in slices,
so that whoever asks can stop between two of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from time import perf_counter
from types import MappingProxyType

from stashdbg_core.model import THROW, Recording
from stashdbg_core.session import query_nodes as nodes
from stashdbg_core.session.column_masks import ColumnMasks
from stashdbg_core.session.payload_match import PayloadMatch
from stashdbg_core.session.query import MATCH_KINDS, Query, parse_query
from stashdbg_core.session.query_operators import operator
from stashdbg_core.session.query_ranges import read_range, reader
from stashdbg_core.session.query_tokens import Token
from stashdbg_core.session.summary import PENDING_REF
from stashdbg_core.session.text_match import TextMatch
from stashdbg_core.tags import STREAM, TAG

Marks = Mapping[str, Callable[[], Set[int]]]
"""For ``bookmarked``, ``noted``, ``breakpoint``: what returns the positions that have it now."""

NO_MARKS: Marks = MappingProxyType({})

_FIRST_SLICE = 256
"""Events of the first slice, fewer where values are read; each further one is twice as long, up to ``_SLICE``."""
_SLICE = 16_384
_SECONDS = 0.006
"""A slice that took longer is followed by one of half its length."""


def _spelled(word: str) -> str:
    """Return a pattern for a JSON string that says a word of ASCII, escaped or not."""
    return '"' + "".join(rf"(?:{re.escape(char)}|\\u00(?i:{ord(char):02x}))" for char in word) + '"'


_STREAM = re.compile(rf"\s*\{{\s*{_spelled(TAG)}\s*:\s*{_spelled(STREAM)}".encode())
_ENDED: dict[str, str] = {"returned": "return", "threw": "throw", "error": "throw"}


class Predicate:
    """A compiled query.

    Args:
        query: The query's text, or what ``parse_query`` made of it.
        recording: Whose events are asked about.
        marks: Where the session's own marks are.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the query is none.
    """

    def __init__(self, query: str | Query, recording: Recording, marks: Marks = NO_MARKS) -> None:
        self.query = parse_query(query) if isinstance(query, str) else query
        self._count = len(recording.events)
        self._node = _Compiler(recording, marks).node(self.query)

    def matches(self, index: int) -> bool:
        """Tell whether the event at an index fits.

        Raises:
            StashError: A pattern takes too long, or the file cannot be read any more.
        """
        return self._node.mask(index, b"\1") == b"\1"

    @property
    def node(self) -> nodes.Node:
        """The compiled query."""
        return self._node

    def slices(self, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, bytes]]:
        """Yield slices of all events, or from ``start`` up to ``stop``; see ``slices_forward``.

        Raises:
            StashError: A pattern takes too long, or the file cannot be read any more.
        """
        return slices_forward(self._node, start, self._count if stop is None else min(stop, self._count))

    def positions(self) -> Iterator[int]:
        """Yield the indices of all events that fit.

        Raises:
            StashError: A pattern takes too long, or the file cannot be read any more.
        """
        for start, mask in self.slices():
            yield from set_positions(start, mask)


def anywhere(recording: Recording, match: TextMatch, payloads: PayloadMatch, names: tuple[str, ...]) -> nodes.Node:
    """Return a node for the events that say something in one of these columns, their label, input or value."""
    masks = ColumnMasks(recording.events)
    return nodes.Or(
        [
            *(nodes.Names(masks, column, _within(match)) for column in names),
            nodes.FieldText(recording.events, "label", match.within),
            *(nodes.Payloads(payloads, part) for part in ("input", "value")),
        ]
    )


def slices_forward(node: nodes.Node, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """Yield slices from ``start`` up to ``stop``: where one starts, and a byte of 0 or 1 for each of its events.

    A slice may be empty: some time has passed. What makes later answers cheap is done after the first slices.
    """
    is_cheap = node.cost < nodes.RECORD
    size, prepared = _FIRST_SLICE if is_cheap else _FIRST_SLICE // 16, is_cheap
    while start < stop:
        length = min(size, stop - start)
        began = perf_counter()
        mask = node.mask(start, b"\1" * length)
        size = _next_size(size, perf_counter() - began)
        yield start, mask
        start += length
        if not prepared and stop - start > 4 * _FIRST_SLICE:
            prepared = True
            for _ in node.prepare():
                yield start, b""


def slices_back(node: nodes.Node, stop: int) -> Iterator[tuple[int, bytes]]:
    """Yield slices that end before ``stop``, the last first, as ``slices_forward`` does."""
    is_cheap = node.cost < nodes.RECORD
    size, prepared = _FIRST_SLICE if is_cheap else _FIRST_SLICE // 16, is_cheap
    while stop > 0:
        length = min(size, stop)
        stop -= length
        began = perf_counter()
        mask = node.mask(stop, b"\1" * length)
        size = _next_size(size, perf_counter() - began)
        yield stop, mask
        if not prepared and stop > 4 * _FIRST_SLICE:
            prepared = True
            for _ in node.prepare():
                yield stop, b""


def _next_size(size: int, seconds: float) -> int:
    """Return how many events the next slice has after one of a size that took so long."""
    return max(size // 2, 1) if seconds > _SECONDS else min(2 * size, _SLICE)


def set_positions(start: int, mask: bytes) -> Iterator[int]:
    """Yield where a mask is set, as indices of events."""
    at = mask.find(1)
    while at >= 0:
        yield start + at
        at = mask.find(1, at + 1)


class _Compiler:
    def __init__(self, recording: Recording, marks: Marks) -> None:
        self._recording = recording
        self._events = recording.events
        self._marks = marks
        self._masks = ColumnMasks(recording.events)

    def node(self, query: Query) -> nodes.Node:
        if query.kind == "all":
            return nodes.All()
        if query.kind == "term":
            assert query.token is not None
            return self._term(query.field, query.token)
        below = [self.node(operand) for operand in query.operands]
        if query.kind == "not":
            return nodes.Not(below[0])
        return nodes.And(below) if query.kind == "and" else nodes.Or(below)

    def _term(self, name: str, token: Token) -> nodes.Node:
        known = operator(name)
        if known is None:
            return self._anywhere(token)
        if known.takes == "flag":
            return self._flag(token.text)
        if known.takes == "name":
            return nodes.Names(self._masks, name, _name_test(name, token))
        if known.takes == "payload":
            return nodes.Payloads(PayloadMatch(self._recording, _match(token)), name)
        if known.takes == "text":
            return nodes.FieldText(self._events, name, _match(token).within)
        try:
            low, high = read_range(token.text, reader(known.takes, self._began()))
        except ValueError:  # counted from the start of a run that does not say when it was
            return nodes.Not(nodes.All())
        return nodes.Numbers(self._masks, name, low, high)

    def _began(self) -> float | None:
        return self._events[0].at if len(self._events) else None

    def _anywhere(self, token: Token) -> nodes.Node:
        match = _match(token)
        return anywhere(self._recording, match, PayloadMatch(self._recording, match), ("channel", "key"))

    def _flag(self, name: str) -> nodes.Node:
        events = self._events
        if name == "marked":
            return nodes.Or([self._flag("bookmarked"), self._flag("noted")])
        if name in ("bookmarked", "noted", "breakpoint"):
            marked = self._marks.get(name, frozenset)
            return nodes.Each(lambda index: index in marked(), cost=nodes.COLUMN + 2)
        threw = nodes.Names(self._masks, "outcome", lambda outcome: outcome == THROW)
        if name == "error":
            return nodes.And([threw, nodes.Each(lambda index: events[index].ref != PENDING_REF)])
        if name == "pending":
            return nodes.And([threw, nodes.Each(lambda index: events[index].ref == PENDING_REF)])
        if name == "stream":
            return nodes.Each(self._is_stream, cost=nodes.PAYLOAD // 2)
        return nodes.Each(self._is_damaged, cost=nodes.PAYLOAD * 2)

    def _is_stream(self, index: int) -> bool:
        return _STREAM.match(self._recording.blobs.payload(self._events[index].ref).raw) is not None

    def _is_damaged(self, index: int) -> bool:
        event, blobs = self._events[index], self._recording.blobs
        if event.damage is not None or blobs.payload(event.ref).state != "ok":
            return True
        return event.input_ref is not None and blobs.payload(event.input_ref).state == "damaged"


def _match(token: Token) -> TextMatch:
    return TextMatch(token.text, MATCH_KINDS[token.kind], token.flags)


def _within(match: TextMatch) -> Callable[[str | None], bool]:
    return lambda name: name is not None and match.within(name)


def _name_test(column: str, token: Token) -> Callable[[str | None], bool]:
    if not token.text:
        return lambda name: not name
    if column == "outcome" and token.kind == "word" and token.text in _ENDED:
        wanted = _ENDED[token.text]
        return lambda name: name == wanted
    match = _match(token)
    test = match.within if token.kind == "regex" else match.whole
    return lambda name: name is not None and test(name)
