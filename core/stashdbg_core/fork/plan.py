"""What a fork will do when it is run on: said before anything is written or run."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.fork.places import find_event
from stashdbg_core.model import EventSequence, RecordedEvent, Recording
from stashdbg_core.sanitize import shorten


@dataclass(frozen=True, slots=True)
class ForkPlan:
    """A fork's parts, by position in the parent."""

    event: RecordedEvent
    """The event forked at."""
    position: int
    kept: range | tuple[int, ...]
    """Positions of the events before it that are served from the recording."""
    enclosing: tuple[int, ...]
    """``seq`` of the calls before it that were still running, because it was made inside them: they run live, or the
    program would never come to it."""
    served: dict[str, int]
    """Kept events by channel."""
    live: dict[str, int]
    """Events from ``event`` on that the parent had, by channel: what will run live if the program does the same."""

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON."""
        return {
            "at": self.event.seq,
            "channel": self.event.channel,
            "key": self.event.key,
            "ordinal": self.event.ordinal,
            "served": dict(self.served),
            "live": dict(self.live),
            "enclosing": list(self.enclosing),
        }


def plan_fork(recording: Recording, at: int | str, *, overridden: bool) -> ForkPlan:
    """Return what a fork would keep, and what would run live.

    Args:
        recording: The parent.
        at: The event forked at; see ``find_event``.
        overridden: Whether its outcome is given; if not, it is the first call that runs live.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no such event, or it is damaged.
    """
    events = recording.events
    position = find_event(recording, at)
    event = events[position]
    if event.damage is not None:
        raise invalid_input(
            f"event {event.seq} is damaged: {shorten(event.damage, 200)}", hint="fork at an event that can be read"
        )
    enclosing = _enclosing(events, position)
    gone = set(enclosing)
    kept = tuple(at for at in range(position) if at not in gone) if gone else range(position)
    channels = _channels(events)
    served = Counter(channels[at] for at in kept)
    live = Counter(channels[position + overridden :])
    live.update(channels[at] for at in enclosing)
    if overridden:
        served[event.channel] += 1
    return ForkPlan(
        event, position, kept, tuple(events[at].seq for at in enclosing), dict(served), dict(live)
    )  # fmt: skip


def _enclosing(events: EventSequence, position: int) -> list[int]:
    """Return the positions of the calls during which the event was made, the innermost first."""
    found: list[int] = []
    parent = events[position].parent
    while parent is not None:
        place = events.position_of(parent)
        if place is None or place >= position or place in found:
            break
        found.append(place)
        parent = events[place].parent
    return found


def _channels(events: Any) -> list[str]:
    if hasattr(events, "channel_at"):  # columns: no event is read
        return [events.channel_at(at) for at in range(len(events))]
    return [event.channel for event in events]
