"""The conversation that OpenHands gives its model: messages by the events they come from, condensed as it does.

A condensation names the events to forget and the text that stands for them. A branch goes on from an earlier event.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from stashdbg_core.canonical import Json
from stashdbg_core.formats.chat import Place
from stashdbg_core.formats.transcript import Lane


@dataclass(slots=True)
class _Said:
    message: Json
    events: set[str]


@dataclass(slots=True)
class Earlier:
    """A state of the conversation to which a branch goes back."""

    place: Place
    said: list[_Said] = field(default_factory=list)


class View:
    """What the model of a lane is given.

    Args:
        lane: The lane; its chat holds the same messages.
    """

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._said: list[_Said] = []

    def say(self, event: str, message: Json, at: float | None = None) -> None:
        """Add a message that is no event of the recording."""
        self._lane.say(message, at)
        self.hold(event, message)

    def hold(self, event: str, message: Json) -> None:
        """Remember a message that the lane has been told; one that is remembered already has one more event."""
        if self._said and self._said[-1].message is message:
            self._said[-1].events.add(event)
        else:
            known = next((said for said in reversed(self._said[-64:]) if said.message is message), None)
            if known is not None:
                known.events.add(event)
            else:
                self._said.append(_Said(message, {event}))

    def condense(self, forgotten: Collection[str], summary: Json, offset: int | None) -> None:
        """Forget events, and put a summary after the first so many of those that stay."""
        kept = [said for said in self._said if not said.events <= set(forgotten)]
        if isinstance(summary, str) and offset is not None:
            place, counted = 0, 0
            while place < len(kept) and counted < offset:
                counted += len(kept[place].events)
                place += 1
            kept.insert(place, _Said({"role": "user", "content": summary}, {"summary"}))
        self._said = kept
        self._lane.restart()
        for said in kept:
            self._lane.say(said.message)

    def earlier(self) -> Earlier:
        """Return what ``back_to`` needs."""
        self._lane.settle()
        return Earlier(self._lane.chat.place(), list(self._said))

    def back_to(self, state: Earlier | None) -> None:
        """Go on from an earlier state; from nothing if None."""
        self._lane.settle()
        self._lane.restart(self._lane.chat.back_to(state.place) if state is not None else None)
        self._said = list(state.said) if state is not None else []
