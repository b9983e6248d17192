"""Watched paths: JMESPath expressions over the values of the ``state`` channel, and where they changed.

A run without that channel is watched in every value. A change is a value that differs from the one of the call before
of the same channel and key; from nothing to null is none. Which call was before is found out once, in slices.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RETURN, Recording
from stashdbg_core.session.columns import STATE, columns_of
from stashdbg_core.session.expressions import compile_expression
from stashdbg_core.session.gist import brief
from stashdbg_core.session.query_nodes import Each, Node
from stashdbg_core.session.tasks import Steps

_NONE = -1
_UNWATCHED = -2
_STEP = 2000
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


class Calls:
    """Which events of a recording are watched, and which call of the same name was before each; all watches share it.

    Asked before ``steps`` ran to their end, it finds out at once.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._before: array[int] | None = None

    def steps(self) -> Steps[None]:
        """Look through the names of all events, in slices."""
        if self._before is not None:
            return
        columns, count = columns_of(self._recording.events), len(self._recording.events)
        first = 0
        while first < count and columns.channel_at(first) != STATE:
            first += 1
            if first % _STEP == 0:
                yield
        everything = first == count
        before = array("i", [_UNWATCHED]) * count
        latest: dict[tuple[str, str], int] = {}
        for index in range(0 if everything else first, count):
            channel = columns.channel_at(index)
            if everything or channel == STATE:
                name = channel, columns.key_at(index)
                before[index] = latest.get(name, _NONE)
                latest[name] = index
            if index % _STEP == 0:
                yield
        self._before = before

    def before(self, index: int) -> int | None:
        """Return the index of the call before of the same name, ``_NONE`` if none; None where nothing is watched."""
        if self._before is None:
            for _ in self.steps():
                pass
        assert self._before is not None
        found = self._before[index]
        return None if found == _UNWATCHED else found


class Watch:
    """One expression over one recording.

    Args:
        expression: What is watched, in JMESPath.
        recording: The run.
        calls: What other watches of the recording found out about its calls.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no JMESPath expression.
    """

    def __init__(self, expression: str, recording: Recording, calls: Calls | None = None) -> None:
        self.expression = expression
        self._recording = recording
        self._evaluate = compile_expression(expression)
        self._kept: dict[str, bytes] = {}
        self.calls = calls or Calls(recording)

    def node(self) -> Node:
        """Return a node for the events in which the path changed."""
        return Each(self.changed_at)

    def changed_at(self, index: int) -> bool:
        """Tell whether the path has another value in this event than in the call before of its name."""
        previous = self.calls.before(index)
        if previous is None:
            return False
        return self._mark(index) != (b"null" if previous == _NONE else self._mark(previous))

    def row(self, position: int) -> WatchRow:
        """Return what the path is at a position: its latest value there or before."""
        for index in range(position, max(position - _LOOKED_BACK, -1), -1):
            if self.calls.before(index) is not None:
                found = self._value(index)
                if found is not None:
                    return WatchRow(self.expression, brief(found, 200), self._recording.events[index].seq)
        return WatchRow(self.expression, None, None)

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
