"""Events in memory: a list in ``seq`` order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from operator import attrgetter
from typing import overload

from stashdbg_core.model import EventSequence, RecordedEvent

_seq = attrgetter("seq")


class EventList(EventSequence):
    """An ``EventSequence`` over a list of its own; events of equal ``seq`` stay in the order given."""

    def __init__(self, events: Iterable[RecordedEvent] = ()) -> None:
        self._events = sorted(events, key=_seq)

    def position_of(self, seq: int) -> int | None:
        position = bisect_left(self._events, seq, key=_seq)
        found = position < len(self._events) and self._events[position].seq == seq
        return position if found else None

    @overload
    def __getitem__(self, index: int) -> RecordedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[RecordedEvent]: ...
    def __getitem__(self, index: int | slice) -> RecordedEvent | list[RecordedEvent]:
        return self._events[index]

    def __len__(self) -> int:
        return len(self._events)
