"""Which events a filter leaves, found in slices from a query; a million of them cost five bytes each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from stashdbg_core.model import EventSequence, Recording
from stashdbg_core.session.predicate import NO_MARKS, Marks, Predicate, set_positions
from stashdbg_core.session.query_nodes import ask_each
from stashdbg_core.session.tasks import Steps
from stashdbg_core.store.events import FileEvents

_SAME = ("channel", "key", "outcome", "ref", "input_ref")
"""What two calls share of which the second is a repeat."""


class View:
    """The events that a filter leaves."""

    cost = 1

    def __init__(self, count: int) -> None:
        self.count = count
        """Events of the whole run."""
        self.positions: array[int] = array("I")
        """Indices of the events on show, in order."""
        self._mask = bytearray(count)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def hidden(self) -> int:
        """How many events are not on show."""
        return self.count - len(self.positions)

    def shows(self, position: int) -> bool:
        """Tell whether an event is on show."""
        return 0 <= position < self.count and bool(self._mask[position])

    def mask(self, start: int, wanted: bytes) -> bytes:
        """Answer as a node of a query does."""
        return bytes(self._mask[start : start + len(wanted)])

    def prepare(self) -> Iterator[None]:
        """Nothing to prepare."""
        return iter(())

    def add(self, start: int, mask: bytes) -> None:
        """Take in the next slice."""
        self._mask[start : start + len(mask)] = mask
        self.positions.extend(array("I", set_positions(start, mask)))


def view_steps(
    recording: Recording, query: str, *, inverted: bool = False, hides_repeats: bool = False, marks: Marks = NO_MARKS
) -> Steps[View]:
    """Build a view in slices.

    Args:
        recording: The run.
        query: Which events stay; an empty one keeps all.
        inverted: Show those that do not fit.
        hides_repeats: Of calls in a row with the same name, input and outcome show the first only.
        marks: What ``is:marked`` and its like ask.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the query is none, or a pattern takes too long.
    """
    predicate = Predicate(f"not ({query})" if inverted and query.strip() else query, recording, marks)
    if inverted and not query.strip():
        predicate = Predicate("not seq:>=-1", recording, marks)
    view = View(len(recording.events))
    repeats = _Repeats(recording.events) if hides_repeats else None
    for start, mask in predicate.slices():
        view.add(start, mask if repeats is None else repeats.without(start, mask))
        yield
    return view


class _Repeats:
    def __init__(self, events: EventSequence) -> None:
        self._events = events
        self._shown: tuple[Any, ...] | None = None

    def without(self, start: int, mask: bytes) -> bytes:
        """Return a mask without the calls that repeat the one shown before; slices come in order."""
        calls = self._calls(start, start + len(mask))

        def is_new(index: int) -> bool:
            call = calls[index - start]
            is_first = call != self._shown
            self._shown = call
            return is_first

        return ask_each(is_new, start, mask)

    def _calls(self, start: int, stop: int) -> list[tuple[Any, ...]]:
        events = self._events
        if not isinstance(events, FileEvents):
            return [tuple(getattr(event, name) for name in _SAME) for event in events[start:stop]]
        columns = [events.name_column(name)[0][start:stop] for name in _SAME[:3]]
        columns += [events.blob_column(name, start, stop) for name in _SAME[3:]]
        return list(zip(*columns, strict=True))
