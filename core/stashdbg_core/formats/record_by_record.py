"""Reading record by record: one whose shape is none that its reader knows costs that record, and nothing after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from stashdbg_core.formats.source import Line

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

FAULTS = (AttributeError, KeyError, IndexError, TypeError, ValueError, RecursionError, OverflowError)
"""What a reader stumbles over where a field holds what it never held before."""


def each_record(
    records: Iterable[tuple[Line | None, dict[str, Any]]], sink: RunSink, take: Callable[[dict[str, Any]], object]
) -> None:
    """Give every record to ``take``; the sink is told of those that it could not read."""
    for line, record in records:
        with reading(record, sink, line):
            take(record)


@contextmanager
def reading(record: dict[str, Any], sink: RunSink, line: Line | None = None, *, kind: str = "type") -> Iterator[None]:
    """Read one record: where that stumbles over its shape, the sink is told, and keeps it as it is.

    Args:
        record: The record.
        sink: What takes the events.
        line: The line that holds it.
        kind: The member that says what it is.
    """
    try:
        yield
    except FAULTS as error:
        named = record.get(kind)
        shown = named if isinstance(named, str) else "?"
        sink.unknown(f"shape of a record of type {shown}")
        sink.event("state", f"record {shown}", value=record)
        place = f"line {line.number}" if line is not None else "a record"
        sink.note(
            "unknown-shape",
            f"{place} has a shape that this version does not know ({type(error).__name__}); it is kept as it is",
            offset=line.offset if line is not None else None,
        )
