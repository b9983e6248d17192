"""Which events a command speaks of (``--filter``, ``--head``, ``--tail``), and what else of them (``--columns``)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stashdbg_core.model import RecordedEvent, Recording
    from stashdbg_core.session.expressions import Column


def events_that_fit(recording: Recording, query: str | None) -> Iterable[RecordedEvent]:
    """Return the events that fit a query, all when None; they are read as they are looked at.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the query is none.
    """
    if query is None:
        return recording.events
    from stashdbg_core.session.notebook import Notebook
    from stashdbg_core.session.predicate import Predicate

    predicate = Predicate(query, recording, Notebook.of(recording).marks(recording))
    return _read(recording, predicate.positions())


def ends_of(events: Iterable[RecordedEvent], head: int | None, tail: int | None) -> Iterable[RecordedEvent]:
    """Return the first events, the last of them, or all; no event is read that is not returned, if that can be."""
    if head is not None:
        events = events[:head] if isinstance(events, Sequence) else islice(events, head)
    if tail is not None:
        events = events[max(len(events) - tail, 0) :] if isinstance(events, Sequence) else deque(events, tail)
    return events


def own_columns(settings: Sequence[str] | None) -> Sequence[Column]:
    """Return the columns that ``--columns`` asks for.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: an expression is none.
    """
    if not settings:
        return ()
    from stashdbg_core.session.expressions import parse_columns

    return parse_columns(settings)


def _read(recording: Recording, positions: Iterator[int]) -> Iterator[RecordedEvent]:
    return (recording.events[position] for position in positions)
