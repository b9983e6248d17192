"""Watched paths: JMESPath expressions, and where what they give changed.

One that starts at ``value``, ``input`` or ``event`` is over every event, as a computed column is. Any other is over the
values of the ``state`` channel; a run without that channel is watched in every value. A change is a value that differs
from the one of the call before of the same channel and key; from nothing to null is none. Which call was before is
found out once, in slices.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RETURN, Recording
from stashdbg_core.session.columns import STATE, columns_of
from stashdbg_core.session.expressions import compile_expression, facts_of_event, reads_event
from stashdbg_core.session.gist import brief
from stashdbg_core.session.query_nodes import Each, Node
from stashdbg_core.session.tasks import Steps

_NONE = -1
_UNWATCHED = -2
_STEP = 2000
_LOOKED_BACK = 2000
_KEPT = 4096
Over: TypeAlias = Literal["state", "values", "events"]


@dataclass(frozen=True, slots=True)
class WatchRow:
    """What a watched path is at the cursor."""

    expression: str
    text: str | None
    """The value on one line, unsanitised; None where it has none yet."""
    seq: int | None
    """The event that it is read from."""
    watched: Over = "state"
    """What the watch reads: the ``state`` channel, every value, or every event."""


class Calls:
    """Which events of a recording are watched, and which call of the same name was before each.

    Asked before ``steps`` ran to their end, it finds out at once.

    Args:
        recording: The run.
        everything: Watch all events, whether or not there is a ``state`` channel.
    """

    def __init__(self, recording: Recording, *, everything: bool = False) -> None:
        self._recording = recording
        self._before: array[int] | None = None
        self.everything = everything
        """Whether all events are watched, once that is known."""

    def steps(self) -> Steps[None]:
        """Look through the names of all events, in slices."""
        if self._before is not None:
            return
        columns, count = columns_of(self._recording.events), len(self._recording.events)
        first = 0
        while not self.everything and first < count and columns.channel_at(first) != STATE:
            first += 1
            if first % _STEP == 0:
                yield
        everything = self.everything or first == count
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
        self._before, self.everything = before, everything

    def before(self, index: int) -> int | None:
        """Return the index of the call before of the same name, ``_NONE`` if none; None where nothing is watched."""
        if self._before is None:
            for _ in self.steps():
                pass
        assert self._before is not None
        found = self._before[index]
        return None if found == _UNWATCHED else found


class SharedCalls:
    """What all watches of a recording find out about its calls, each kind of them once."""

    def __init__(self, recording: Recording) -> None:
        self.of_state = Calls(recording)
        self.of_events = Calls(recording, everything=True)


class Watch:
    """One expression over one recording.

    Args:
        expression: What is watched, in JMESPath.
        recording: The run.
        calls: What other watches of the recording found out about its calls.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no JMESPath expression.
    """

    def __init__(self, expression: str, recording: Recording, calls: SharedCalls | None = None) -> None:
        self.expression = expression
        self._recording = recording
        self._evaluate = compile_expression(expression)
        self._reads_event = reads_event(expression)
        self._kept: dict[str | int, bytes] = {}
        shared = calls or SharedCalls(recording)
        self.calls = shared.of_events if self._reads_event else shared.of_state

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
                    return WatchRow(self.expression, brief(found, 200), self._recording.events[index].seq, self._over)
        return WatchRow(self.expression, None, None, self._over)

    @property
    def _over(self) -> Over:
        return "events" if self._reads_event else "values" if self.calls.everything else "state"

    def _mark(self, index: int) -> bytes:
        """Return bytes that equal values share."""
        name = index if self._reads_event else self._recording.events[index].ref
        mark = self._kept.get(name)
        if mark is None:
            try:
                mark = canonical_form(self._value(index))
            except (TypeError, ValueError):
                mark = b"?"
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[name] = mark
        return mark

    def _value(self, index: int) -> Json:
        event = self._recording.events[index]
        if self._reads_event:
            return self._evaluate(facts_of_event(self._recording, event, self.expression))
        try:
            return self._evaluate(self._recording.blobs.tree(event.ref)) if event.outcome == RETURN else None
        except StashError:
            return None
