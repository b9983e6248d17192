"""What a query is compiled to: nodes that answer for a slice of events at once, the cheapest first.

A node gets a mask of the events still in question and answers for those alone; what it says of others is dropped by
whoever asked. So a value is read only where the columns leave a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from stashdbg_core.model import EventSequence
from stashdbg_core.session.column_masks import Accept, ColumnMasks, mask_and, mask_not, mask_or
from stashdbg_core.session.payload_match import PayloadMatch
from stashdbg_core.store.events import FileEvents

COLUMN, RECORD, PAYLOAD = 1, 20, 400
"""Relative costs of asking a column, an event's record, a stored value."""


class Node(Protocol):
    """A compiled part of a query."""

    @property
    def cost(self) -> int:
        """Roughly what an answer costs."""
        ...

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Answer for the events from ``start`` on that ``wanted`` asks about, a byte each."""
        ...

    def prepare(self) -> Iterator[None]:
        """Do in steps what makes later answers cheap."""
        ...


class _Plain:
    def prepare(self) -> Iterator[None]:
        """Nothing to prepare."""
        return iter(())


@dataclass(frozen=True, slots=True)
class All(_Plain):
    """Every event."""

    cost: int = 0

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Accept all."""
        return wanted


@dataclass(frozen=True, slots=True)
class Names(_Plain):
    """A column of names by a test on the name."""

    masks: ColumnMasks
    column: str
    accept: Accept
    cost: int = COLUMN

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Answer from the column."""
        return self.masks.names(self.column, self.accept, start, start + len(wanted))


@dataclass(frozen=True, slots=True)
class Numbers(_Plain):
    """A column of numbers by a range."""

    masks: ColumnMasks
    column: str
    low: float
    high: float
    cost: int = COLUMN + 1

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Answer from the column."""
        return self.masks.numbers(self.column, self.low, self.high, start, start + len(wanted))


@dataclass(frozen=True, slots=True)
class Each(_Plain):
    """Events asked one by one."""

    accept: Callable[[int], bool]
    cost: int = RECORD

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Ask about every event in question."""
        return ask_each(self.accept, start, wanted)


@dataclass(frozen=True, slots=True)
class FieldText(_Plain):
    """A text field of an event's own record, such as its label, by a test on the text."""

    events: EventSequence
    field: str
    accept: Callable[[str], bool]
    cost: int = RECORD

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Read every record in question, unless none of them has the field."""
        if isinstance(self.events, FileEvents) and not self.events.may_have(self.field, start, start + len(wanted)):
            return bytes(len(wanted))

        def accept(index: int) -> bool:
            text = getattr(self.events[index], self.field)
            return text is not None and self.accept(text)

        return ask_each(accept, start, wanted)


@dataclass(frozen=True, slots=True)
class Payloads:
    """Values or inputs that hold a text."""

    match: PayloadMatch
    part: str
    cost: int = PAYLOAD

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Look into every value in question."""
        possible = self.match.possible(self.part, start, wanted)
        return ask_each(lambda index: self.match.at(index, self.part), start, possible)

    def prepare(self) -> Iterator[None]:
        """Go through a large file in blocks."""
        return self.match.prepare()


class Not:
    """The events that a node does not accept."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.cost = node.cost

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Turn the answer round."""
        return mask_not(self._node.mask(start, wanted))

    def prepare(self) -> Iterator[None]:
        """Prepare the node."""
        return self._node.prepare()


class _Many:
    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = sorted(nodes, key=lambda node: node.cost)
        self.cost = sum(node.cost for node in nodes)

    def prepare(self) -> Iterator[None]:
        """Prepare all of them."""
        for node in self._nodes:
            yield from node.prepare()


class And(_Many):
    """The events that all nodes accept."""

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Ask the cheapest first, and each about what is left."""
        for node in self._nodes:
            if 1 not in wanted:
                break
            wanted = mask_and(wanted, node.mask(start, wanted))
        return wanted


class Or(_Many):
    """The events that some node accepts."""

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Ask the cheapest first, and each about what none before accepted."""
        found = bytes(len(wanted))
        for node in self._nodes:
            left = mask_and(wanted, mask_not(found))
            if 1 not in left:
                break
            found = mask_or(found, mask_and(left, node.mask(start, left)))
        return found


def ask_each(accept: Callable[[int], bool], start: int, wanted: bytes) -> bytes:
    """Return where a test accepts the events in question."""
    found = bytearray(len(wanted))
    at = wanted.find(1)
    while at >= 0:
        found[at] = accept(start + at)
        at = wanted.find(1, at + 1)
    return bytes(found)
