"""Which events of a slice fit, a byte each, read off the columns of a recording.

A mask is ``bytes`` of 0 and 1. Names are compared once per distinct name and not once per event; numbers by range.
A recording that is no file has no columns, and is asked event by event.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stashdbg_core.model import EventSequence
from stashdbg_core.store.events import FileEvents

Accept = Callable[[str | None], bool]

_FLIP = bytes([1, 0]) + bytes(254)


def mask_and(one: bytes, other: bytes) -> bytes:
    """Return where both masks are set."""
    return _combine(int.from_bytes(one, "little") & int.from_bytes(other, "little"), len(one))


def mask_or(one: bytes, other: bytes) -> bytes:
    """Return where either mask is set."""
    return _combine(int.from_bytes(one, "little") | int.from_bytes(other, "little"), len(one))


def mask_not(mask: bytes) -> bytes:
    """Return where a mask is not set."""
    return mask.translate(_FLIP)


def _combine(number: int, length: int) -> bytes:
    return number.to_bytes(length, "little")


class ColumnMasks:
    """Masks over one event sequence."""

    def __init__(self, events: EventSequence) -> None:
        self._events = events
        self._file = events if isinstance(events, FileEvents) else None
        self._tables: dict[tuple[str, Accept], tuple[int, bytearray]] = {}

    def names(self, column: str, accept: Accept, start: int, stop: int) -> bytes:
        """Return where ``channel``, ``key``, ``outcome`` or ``thread`` is accepted."""
        if self._file is None:
            return bytes(accept(getattr(event, column)) for event in self._slice(start, stop))
        numbers, texts, full = self._file.name_column(column)
        known, table = self._tables.get((column, accept), (-1, bytearray()))
        if known != len(texts):
            table = bytearray(accept(text) for text in texts)
            self._tables[column, accept] = len(texts), table
        cut = numbers[start:stop]
        if len(table) < full or full not in cut:
            return bytes(map(table.__getitem__, cut))
        read = getattr(self._file, f"{column}_at")
        return bytes(
            table[number] if number != full else accept(read(start + place)) for place, number in enumerate(cut)
        )

    def numbers(self, column: str, low: float, high: float, start: int, stop: int) -> bytes:
        """Return where ``seq``, ``ordinal``, ``ms`` or ``at`` is at least ``low`` and at most ``high``."""
        values: Sequence[Any]
        if self._file is None:
            values = [getattr(event, column) for event in self._slice(start, stop)]
            return bytes(value is not None and low <= value <= high for value in values)
        values = self._file.number_column(column, start, stop)
        return bytes([low <= value <= high for value in values])

    def _slice(self, start: int, stop: int) -> Sequence[Any]:
        return self._events[start:stop]
