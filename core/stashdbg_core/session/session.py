"""Where a person stands in a recording, and every way to stand elsewhere.

Positions are indices into ``recording.events``, not ``seq`` numbers, which a foreign file may repeat or skip. A move
that cannot be made stays put and says why; nothing here raises for what a person typed.
"""

from __future__ import annotations

from dataclasses import dataclass

from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.columns import Columns, columns_of
from stashdbg_core.session.words import counted

_HISTORY = 1000
_DIGITS = 18
"""Longest number taken as a place; more cannot be one and may be slow to convert."""


@dataclass(frozen=True, slots=True)
class Move:
    """What came of asking to go somewhere."""

    position: int
    """Index of the event stood at now; -1 in an empty recording."""
    reason: str | None = None
    """Why nothing moved, one sentence safe to print; None when it did."""
    went_round: bool = False
    """Whether it went on at the other end of the run."""

    @property
    def made(self) -> bool:
        """Whether the cursor moved."""
        return self.reason is None


class Session:
    """A recording, a cursor on it, and the jumps made so far."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.columns: Columns = columns_of(recording.events)
        self.count = len(recording.events)
        self.position = 0 if self.count else -1
        self._behind: list[int] = []
        self._ahead: list[int] = []

    @property
    def event(self) -> RecordedEvent | None:
        """The event at the cursor; None in an empty recording."""
        return self.event_at(self.position) if self.count else None

    def event_at(self, position: int) -> RecordedEvent:
        """Return the event at an index; one that says so where the file can no longer be read."""
        try:
            return self.recording.events[position]
        except StashError as failure:
            return RecordedEvent(position, "", "", 0, "damaged", "", damage=failure.message)

    def reload(self, recording: Recording) -> None:
        """Put a fuller or changed recording under the cursor, which stays on its ``seq`` where that is still there."""
        event = self.event
        self.recording = recording
        self.columns = columns_of(recording.events)
        self.count = len(recording.events)
        kept = recording.events.position_of(event.seq) if event is not None else None
        self.position = kept if kept is not None else min(max(self.position, 0), self.count - 1)
        self._behind = [place for place in self._behind if place < self.count]
        self._ahead = [place for place in self._ahead if place < self.count]

    def step(self, by: int = 1) -> Move:
        """Move ``by`` events, back if negative; stops at the ends and refuses at them."""
        return self._walk(self.position + by, by > 0)

    def first(self) -> Move:
        """Jump to the first event."""
        return self.jump(0) if self.position > 0 else self._refuse(self._edge(forward=False))

    def last(self) -> Move:
        """Jump to the last event."""
        return self.jump(self.count - 1) if self.position < self.count - 1 else self._refuse(self._edge(forward=True))

    def jump(self, position: int) -> Move:
        """Go to an index and remember where from; refused outside the recording."""
        if not 0 <= position < self.count:
            return self._refuse(self._empty() or f"there is no event {position + 1}; the run has {self.count:,}")
        if position == self.position:
            return self._refuse("already there")
        self._behind = [*self._behind[-_HISTORY + 1 :], self.position]
        self._ahead.clear()
        self.position = position
        return Move(position)

    def to_seq(self, seq: int) -> Move:
        """Jump to the event with this ``seq``."""
        position = self.recording.events.position_of(seq)
        if position is not None:
            return self.jump(position)
        if not self.count:
            return self._refuse(self._empty())
        low, high = self.event_at(0).seq, self.event_at(self.count - 1).seq
        where = f"the run goes from {low} to {high}" if not low <= seq <= high else "the recording has a gap there"
        return self._refuse(f"no event {seq}; {where}")

    def back(self) -> Move:
        """Return to where the last jump started."""
        return self._retrace(self._behind, self._ahead, "no earlier jump to return to")

    def forward(self) -> Move:
        """Undo ``back``."""
        return self._retrace(self._ahead, self._behind, "no later jump to go forward to")

    def goto(self, text: str) -> Move:
        """Go where a person says: ``123`` (seq), ``+20``, ``-5``, ``50%``, ``llm:3``, ``llm:chat:3``.

        Counts within a channel or key start at zero, as ``seq`` and ``ordinal`` do.
        """
        place = text.strip()
        sign, digits = (place[0], place[1:]) if place[:1] in ("+", "-") else ("", place)
        if not place:
            return self._refuse("say where: 123, +20, -5, 50% or llm:3")
        if _is_number(digits):
            if len(digits) > _DIGITS:
                return self._refuse(f"no event {shorten(place, 20)}; the run has {self.count:,}")
            if sign:
                return self._by(int(digits) if sign == "+" else -int(digits))
            return self.to_seq(int(digits))
        if place.endswith("%") and _is_number(place[:-1]) and len(place) <= 4:
            return self._percent(int(place[:-1]))
        head, colon, number = place.rpartition(":")
        if colon and head and _is_number(number) and len(number) <= _DIGITS:
            return self._nth(head, int(number))
        return self._refuse(f"no place called {shorten(place, 40)}; try 123, +20, -5, 50% or llm:3")

    def _by(self, by: int) -> Move:
        if not 0 <= self.position + by < self.count:
            room = self.count - 1 - self.position if by > 0 else max(self.position, 0)
            return self._refuse(self._empty() or f"only {counted(room, 'event')} {'ahead' if by > 0 else 'behind'}")
        return self.jump(self.position + by)

    def _percent(self, percent: int) -> Move:
        if percent > 100:
            return self._refuse("percent goes from 0 to 100")
        return self.jump(round((self.count - 1) * percent / 100)) if self.count else self._refuse(self._empty())

    def _nth(self, name: str, number: int) -> Move:
        """Find call ``number`` of a channel, or of ``channel:key``; a name that reads as both is taken as a channel."""
        channel_at, key_at, seen, as_key = self.columns.channel_at, self.columns.key_at, 0, None
        for index in range(self.count):
            channel = channel_at(index)
            if channel == name:
                if seen == number:
                    return self.jump(index)
                seen += 1
            elif as_key is None and name.startswith(channel + ":") and name == f"{channel}:{key_at(index)}":
                as_key = index if self.columns.ordinal_at(index) == number else None
        if seen:
            return self._refuse(f"{shorten(name, 40)} has {counted(seen, 'call')}, counted from 0")
        if as_key is not None:
            return self.jump(as_key)
        return self._refuse(f"no call {number} of {shorten(name, 40)} in this run")

    def _walk(self, position: int, forward: bool) -> Move:
        position = min(max(position, 0), self.count - 1)
        if position == self.position:
            return self._refuse(self._edge(forward=forward))
        self.position = position
        return Move(position)

    def _retrace(self, source: list[int], target: list[int], reason: str) -> Move:
        if not source:
            return self._refuse(reason)
        target.append(self.position)
        self.position = source.pop()
        return Move(self.position)

    def _edge(self, *, forward: bool) -> str:
        return self._empty() or ("this is the last event" if forward else "this is the first event")

    def _empty(self) -> str:
        return "" if self.count else "the recording has no events"

    def _refuse(self, reason: str) -> Move:
        return Move(self.position, reason)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
