"""A conversation of OpenHands V1 as it lies on the disk: ``base_state.json``, ``events/event-NNNNN-ID.json``, a file an
event, and the conversations of its sub-agents in ``subagents/ID``.

Only the folder of the conversation is read. An event whose file does not parse is still being written, or damaged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.shapes import object_of

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink
    from stashdbg_core.formats.source import ForeignSource

STATE = "base_state.json"
EVENTS = "events"
EVENT_NAME = re.compile(r"event-(\d{5,})-[0-9a-fA-F-]{8,}\.json")
_SUB_AGENTS = "subagents"
_MOST_EVENTS = 1_000_000
_DEEPEST = 8


@dataclass(slots=True)
class Folder:
    """One conversation.

    Attributes:
        source: A file of the folder that was opened.
        place: The folders that lead from there to this conversation.
        events_in: The folder of its events.
    """

    source: ForeignSource
    place: tuple[str, ...] = ()
    events_in: str = EVENTS
    missing: list[int] = field(default_factory=list)
    """Numbers of events of which there is no file, after ``events``."""

    def state(self) -> dict[str, Any]:
        """Return the state of the conversation; empty if it cannot be read."""
        file = self.source.beside(*self.place, STATE)
        try:
            tree: Json = file.json() if file is not None else None
        except StashError:
            return {}
        return object_of(tree)

    def events(self, sink: RunSink) -> list[dict[str, Any]]:
        """Return the events in order; the sink is told of those that cannot be read."""
        folder = "/".join((*self.place, self.events_in))
        named = []
        for name in self.source.names_beside(folder, "event-*.json", most=_MOST_EVENTS):
            found = EVENT_NAME.fullmatch(name)
            if found is not None:
                named.append((int(found[1]), name))
        named.sort()
        events: list[dict[str, Any]] = []
        for number, name in named:
            file = self.source.beside(*self.place, self.events_in, name)
            try:
                tree: Json = file.json() if file is not None else None
            except StashError:
                tree = None
            if isinstance(tree, dict):
                events.append(tree)
            elif number == named[-1][0]:
                sink.note("unfinished-event", f"{name} is not whole: it may still be being written")
            else:
                sink.note("damaged-event", f"{name} is no JSON object that can be read; it is left out")
        numbers = {number for number, _ in named}
        self.missing = [number for number in range(max(numbers, default=-1) + 1) if number not in numbers]
        return events

    def sub_agents(self) -> list[Folder]:
        """Return the conversations of sub-agents, by name."""
        if self.events_in != EVENTS or len(self.place) >= 2 * _DEEPEST:
            return []
        names = self.source.names_beside("/".join((*self.place, _SUB_AGENTS)), "*")
        found = [Folder(self.source, (*self.place, _SUB_AGENTS, name)) for name in names]
        return [folder for folder in found if self.source.beside(*folder.place, STATE) is not None]
