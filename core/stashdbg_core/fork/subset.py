"""The events that a fork keeps, and the values they reach: views of the parent, nothing is copied."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable, EventSequence, Payload, RecordedEvent
from stashdbg_core.store.assembly import pieces_of
from stashdbg_core.store.event_record import encode_event


class KeptEvents(EventSequence):
    """Some events of a recording, the last of them perhaps replaced.

    Args:
        base: The parent's events.
        positions: Which are kept, ascending positions in ``base``.
        last: An event put in after them.
    """

    def __init__(self, base: EventSequence, positions: Sequence[int], last: RecordedEvent | None = None) -> None:
        self._base = base
        self._positions = positions
        self._last = last

    def __len__(self) -> int:
        return len(self._positions) + (self._last is not None)

    @overload
    def __getitem__(self, index: int) -> RecordedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RecordedEvent]: ...
    def __getitem__(self, index: int | slice) -> RecordedEvent | Sequence[RecordedEvent]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError("event index out of range")
        if self._last is not None and position == len(self._positions):
            return self._last
        return self._base[self._positions[position]]

    def raw_at(self, index: int) -> bytes:
        """Return the JSON text of an event, as it stands in the parent's file if it lies there."""
        raw_at: Any = getattr(self._base, "raw_at", None)
        if raw_at is None or index >= len(self._positions):
            return encode_event(self[index])
        text: bytes = raw_at(self._positions[index])
        return text

    def position_of(self, seq: int) -> int | None:
        """Return the index of the first event with this ``seq``, or None."""
        if self._last is not None and self._last.seq == seq:
            return len(self._positions)
        found = self._base.position_of(seq)
        if found is None:
            return None
        place = bisect_left(self._positions, found)
        return place if place < len(self._positions) and self._positions[place] == found else None


class KeptBlobs(BlobTable):
    """The values that some events reach, of a table that holds more.

    Args:
        base: Where the values lie.
        events: The events that are kept.
    """

    def __init__(self, base: BlobTable, events: EventSequence) -> None:
        self._base = base
        self._events = events

    @cached_property
    def _reached(self) -> dict[str, None]:
        """The references of values and of their shared pieces, in the order of their first use."""
        reached: dict[str, None] = {}
        for event in self._events:
            pending = [ref for ref in (event.input_ref, event.ref) if ref is not None]
            while pending:
                ref = pending.pop()
                if ref in reached:
                    continue
                raw = self._base.payload(ref).raw
                if not raw:
                    continue
                reached[ref] = None
                pending += reversed(_pieces(raw))
        return reached

    def payload(self, ref: str) -> Payload:
        """Return the stored value as found; never raises for a missing or damaged one."""
        if ref in self._reached:
            return self._base.payload(ref)
        return Payload(ref, "missing", problem="the recording holds no value for this reference")

    def tree(self, ref: str) -> Json:
        """Return the whole JSON tree of a value, its tags intact, shared pieces put in.

        Raises:
            StashError: ``ERR_NOT_FOUND`` if it, or a piece of it, is missing; ``ERR_INVALID_RECORDING`` if damaged.
        """
        return self._base.tree(ref)

    def refs(self) -> Iterator[str]:
        """Yield every reference in the order of its first use."""
        return iter(self._reached)

    def __getitem__(self, ref: str) -> Json:
        if ref not in self._reached:
            raise KeyError(ref)
        return self._base.tree(ref)

    def __iter__(self) -> Iterator[str]:
        return self.refs()

    def __len__(self) -> int:
        return len(self._reached)

    def __contains__(self, ref: object) -> bool:
        return ref in self._reached


def _pieces(raw: bytes) -> tuple[str, ...]:
    try:
        return pieces_of(raw)
    except StashError:
        return ()
