"""The whole debugger without a screen: the cursor, and every verb that moves it over what is on show.

A verb that may take long comes as a ``Task``, which a screen works on between keys and a test runs to its end; it
moves the cursor in its last slice. Every verb has its reverse (``forward=False``), and a move that cannot be made says
why. Positions are indices into ``recording.events``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.following import Follower
from stashdbg_core.session.marked import quoted
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.searched import Searched
from stashdbg_core.session.session import Move
from stashdbg_core.session.tasks import Steps, Task
from stashdbg_core.store.limits import Limits

# A screen's first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.formats.live import LiveConversion
    from stashdbg_core.session.query_nodes import Node

__all__ = ["Debugger", "Verb", "quoted"]

Verb: TypeAlias = Literal[
    "error", "call", "site", "over", "out", "breakpoint", "bookmark", "note", "watch", "divergence", "continue"
]

_NOUNS: dict[str, str] = {
    "error": "error",
    "call": "call of this channel and key",
    "site": "call from this place in the program",
    "over": "event in this lane",
    "out": "event after the enclosing call",
    "breakpoint": "event at which a breakpoint stops",
    "bookmark": "bookmark",
    "note": "note",
    "watch": "change of a watched path",
    "divergence": "divergence",
    "continue": "breakpoint or bookmark",
}


class Debugger(Searched):
    """A recording under the debugger.

    Args:
        recording: The run.
        notebook: Bookmarks, notes, breakpoints and watches; in memory only when None.
        limits: Reading limits, where its file is read again.
    """

    def __init__(self, recording: Recording, notebook: Notebook | None = None, *, limits: Limits = Limits()) -> None:
        super().__init__(recording, notebook)
        self.divergences: frozenset[int] = frozenset()
        """Indices of events at which a replay or another run parts from this one; whoever compares sets them."""
        self._limits = limits
        self._follower = Follower(recording, limits)
        self._live: LiveConversion | None = None

    @classmethod
    def open(cls, recording: Recording, folder: Path | None = None, *, limits: Limits = Limits()) -> Debugger:
        """Make one with the user's notebook of the recording; ``folder`` stands in for the user's state folder."""
        return cls(recording, Notebook.of(recording, folder), limits=limits)

    # Moves

    def go(self, verb: Verb, *, forward: bool = True) -> Task[Move]:
        """Move to the next (or previous) error, call of this name, change of a watched path, ….

        The task raises ``StashError`` where a pattern of a breakpoint takes too long.
        """
        return Task(self._go(verb, forward))

    def _go(self, verb: Verb, forward: bool) -> Steps[Move]:
        if not self.count:
            return self._refuse(self._empty())
        node = self._node(verb, forward)
        if isinstance(node, str):
            return self._refuse(node)
        from stashdbg_core.session.moves import find_steps
        from stashdbg_core.session.query_nodes import And

        for watch in self.watches() if verb == "watch" else ():
            yield from watch.calls.steps()
        view = self.rows.view
        where = node if view is None else And([node, view])
        position = yield from find_steps(where, self.count, self.position, forward=forward)
        if position is not None:
            return self.jump(position)
        hidden = ", among the events on show" if view is not None else ""
        return self._refuse(f"no {'later' if forward else 'earlier'} {_NOUNS[verb]}{hidden}")

    def _node(self, verb: Verb, forward: bool) -> Node | str:
        """Return what a verb stops at, or why it cannot stop at anything."""
        from stashdbg_core.session import moves
        from stashdbg_core.session.predicate import Predicate
        from stashdbg_core.session.query_nodes import Or

        event = self.event_at(self.position)
        if verb == "error":
            return Predicate("is:error", self.recording).node
        if verb == "call":
            return moves.same_call(self.recording, event)
        if verb == "site":
            return moves.same_site(self.recording, event)
        if verb == "over":
            return moves.step_over(self.recording, event, forward=forward)
        if verb == "out":
            return moves.step_out(self.recording, event, forward=forward)
        if verb == "divergence":
            return _at(self.divergences) if self.divergences else "no divergences are known; compare with a run first"
        if verb in ("bookmark", "note"):
            return Predicate("is:bookmarked" if verb == "bookmark" else "is:noted", self.recording, self.marks()).node
        if verb == "watch":
            watches = self.watches()
            return Or([watch.node() for watch in watches]) if watches else "no path is watched"
        stops = [predicate.node for predicate in self.breakpoints()]
        if verb == "continue":
            stops.append(Predicate("is:bookmarked", self.recording, self.marks()).node)
        return Or(stops) if stops else "no breakpoint is set"

    def goto(self, text: str) -> Move:
        """Go where a person says; besides numbers and names, ``@2`` is the second bookmark, ``@TEXT`` the next note."""
        place = text.strip()
        return self._to_mark(place[1:].strip()) if place.startswith("@") else super().goto(text)

    def _to_mark(self, name: str) -> Move:
        if not name:
            return self._refuse("say which: @2 is the second bookmark, @TEXT the next note with a text")
        if name.isascii() and name.isdigit():
            seqs, number = self.notebook.bookmarks, int(name[:9])
            if 1 <= number <= len(seqs):
                return self.to_seq(seqs[number - 1])
            return self._refuse(f"no bookmark {shorten(name, 20)}; there are {len(seqs):,}, counted from 1")
        wanted, position_of = name.casefold(), self.recording.events.position_of
        noted = {position_of(note.seq) for note in self.notebook.notes if wanted in note.text.casefold()}
        places = sorted(place for place in noted if place is not None)
        if not places:
            return self._refuse(f"no note here has the text {shorten(name, 40)!r}")
        return self.jump(next((place for place in places if place > self.position), places[0]))

    # Reading on

    def reload(self, recording: Recording) -> None:
        """Put a fuller or changed recording under the cursor."""
        super().reload(recording)
        self._follower = Follower(recording, self._limits)

    def follow(self) -> None:
        """Let ``refresh`` be asked often, until ``unfollow``.

        Only a large file of another tool needs that: a process of its own reads on as it grows.

        Raises:
            StashError: The file cannot be read now; ``ERR_INVALID_INPUT``: it can only be read as a whole.
        """
        path = self.recording.path
        if self._live is None and path is not None:
            from stashdbg_core.opening.files import follow_one

            self._live = follow_one(path, limits=self._limits)

    def unfollow(self) -> None:
        """End what ``follow`` began."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    @property
    def caught_up(self) -> float:
        """How much of a file that is followed was read for that: 1 as soon as nothing is left to catch up with."""
        return 1.0 if self._live is None else self._live.caught_up

    def refresh(self) -> int:
        """Take in what the file gained since it was read; return by how many events, 0 if nothing changed.

        Raises:
            StashError: The file cannot be read now; everything stays as it was.
        """
        if self._live is not None:
            return self._refresh_live(self._live)
        if not self._follower.changed():
            return 0
        recording = self._follower.read()
        if recording is None:
            return 0
        before = self.count
        self.reload(recording)
        return self.count - before

    def _refresh_live(self, live: LiveConversion) -> int:
        recording = live.take()
        if recording is not None:
            before = self.count
            self.reload(recording)
            return self.count - before
        if live.is_over:  # it is another file now
            self.unfollow()
            self.follow()
        return 0


def _at(positions: frozenset[int]) -> Node:
    from stashdbg_core.session.query_nodes import Each

    return Each(lambda index: index in positions, cost=2)
