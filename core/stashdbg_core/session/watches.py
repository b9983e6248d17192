"""Watched paths: JMESPath expressions over the values of the ``state`` channel, and where they changed.

A run without that channel is watched in every value. A change is a value that differs from the one of the call before
of the same channel and key; from nothing to null is none.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RETURN, Recording
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.expressions import compile_expression
from stashdbg_core.session.gist import brief
from stashdbg_core.session.query_nodes import Each, Node

STATE = "state"
_NONE = -1
_LOOKED_BACK = 2000
_KEPT = 4096


@dataclass(frozen=True, slots=True)
class WatchRow:
    """What a watched path is at the cursor."""

    expression: str
    text: str | None
    """The value on one line, unsanitised; None where it has none yet."""
    seq: int | None
    """The event that it is read from."""


class Watch:
    """One expression over one recording.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no JMESPath expression.
    """

    def __init__(self, expression: str, recording: Recording) -> None:
        self.expression = expression
        self._recording = recording
        self._evaluate = compile_expression(expression)
        self._kept: dict[str, bytes] = {}
        self._previous: array[int] | None = None

    def node(self) -> Node:
        """Return a node for the events in which the path changed."""
        return Each(self.changed_at)

    def changed_at(self, index: int) -> bool:
        """Tell whether the path has another value in this event than in the call before of its name."""
        previous = self._previous_of(index)
        if previous is None:
            return False
        return self._mark(index) != (b"null" if previous == _NONE else self._mark(previous))

    def row(self, position: int) -> WatchRow:
        """Return what the path is at a position: its latest value there or before."""
        for index in range(position, max(position - _LOOKED_BACK, -1), -1):
            if self._previous_of(index) is not None:
                found = self._value(index)
                if found is not None:
                    return WatchRow(self.expression, brief(found, 200), self._recording.events[index].seq)
        return WatchRow(self.expression, None, None)

    def _previous_of(self, index: int) -> int | None:
        """Return the index of the call before of the same name, ``_NONE`` if none; None where nothing is watched."""
        if self._previous is None:
            self._previous = _previous_calls(self._recording)
        found = self._previous[index]
        return None if found < _NONE else found

    def _mark(self, index: int) -> bytes:
        """Return bytes that equal values share."""
        ref = self._recording.events[index].ref
        mark = self._kept.get(ref)
        if mark is None:
            try:
                mark = canonical_form(self._value(index))
            except (TypeError, ValueError):
                mark = b"?"
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[ref] = mark
        return mark

    def _value(self, index: int) -> Json:
        event = self._recording.events[index]
        try:
            return self._evaluate(self._recording.blobs.tree(event.ref)) if event.outcome == RETURN else None
        except StashError:
            return None


def _previous_calls(recording: Recording) -> array[int]:
    """Return for each event the index of the call before of its channel and key; -2 for events that nobody watches."""
    columns, count = columns_of(recording.events), len(recording.events)
    channels = [columns.channel_at(index) for index in range(count)]
    everything = STATE not in channels
    previous = array("i", [_NONE - 1]) * count
    latest: dict[tuple[str, str], int] = {}
    for index, channel in enumerate(channels):
        if everything or channel == STATE:
            name = channel, columns.key_at(index)
            previous[index] = latest.get(name, _NONE)
            latest[name] = index
    return previous
