"""Single fields of many events, read as cheaply as the recording allows.

A recording in a file keeps its fields in columns and answers without touching the file; any other sequence answers by
the event.
"""

from __future__ import annotations

from typing import Protocol, cast

from stashdbg_core.model import EventSequence

STATE = "state"
"""The channel of recorded state."""


class Columns(Protocol):
    """Fields by position in the sequence."""

    def channel_at(self, index: int) -> str:
        """Return the channel of the event at ``index``."""
        ...

    def key_at(self, index: int) -> str:
        """Return its key."""
        ...

    def outcome_at(self, index: int) -> str:
        """Return its outcome."""
        ...

    def ordinal_at(self, index: int) -> int:
        """Return its ordinal."""
        ...

    def ms_at(self, index: int) -> float | None:
        """Return its duration in milliseconds."""
        ...

    def at_at(self, index: int) -> float | None:
        """Return its start in milliseconds since the epoch."""
        ...

    def thread_at(self, index: int) -> str | None:
        """Return its lane."""
        ...


class EventColumns:
    """Columns over events that are objects already."""

    def __init__(self, events: EventSequence) -> None:
        self._events = events

    def channel_at(self, index: int) -> str:
        """Return the channel of the event at ``index``."""
        return self._events[index].channel

    def key_at(self, index: int) -> str:
        """Return its key."""
        return self._events[index].key

    def outcome_at(self, index: int) -> str:
        """Return its outcome."""
        return self._events[index].outcome

    def ordinal_at(self, index: int) -> int:
        """Return its ordinal."""
        return self._events[index].ordinal

    def ms_at(self, index: int) -> float | None:
        """Return its duration in milliseconds."""
        return self._events[index].ms

    def at_at(self, index: int) -> float | None:
        """Return its start in milliseconds since the epoch."""
        return self._events[index].at

    def thread_at(self, index: int) -> str | None:
        """Return its lane."""
        return self._events[index].thread


def columns_of(events: EventSequence) -> Columns:
    """Return the sequence's own columns, or some that look at each event."""
    return cast(Columns, events) if hasattr(events, "channel_at") else EventColumns(events)
