"""The whole debugger without a screen: the cursor and every verb that moves it, the filter, marks and searches.

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
from stashdbg_core.session.marked import Marked, quoted
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.session import Move
from stashdbg_core.session.tasks import Steps, Task

# A screen's first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.formats.live import LiveConversion
    from stashdbg_core.session.query_nodes import Node
    from stashdbg_core.session.search import Hit, Search
    from stashdbg_core.session.view import View

__all__ = ["Debugger", "Verb", "quoted"]

Verb: TypeAlias = Literal[
    "error", "call", "site", "over", "out", "breakpoint", "bookmark", "note", "watch", "divergence", "continue", "hit"
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
    "hit": "hit",
}


class Debugger(Marked):
    """A recording under the debugger.

    Args:
        recording: The run.
        notebook: Bookmarks, notes, breakpoints and watches; in memory only when None.
    """

    def __init__(self, recording: Recording, notebook: Notebook | None = None) -> None:
        super().__init__(recording, notebook)
        self.view: View | None = None
        """What the filter leaves; None while there is no filter."""
        self.found: Search | None = None
        """The search whose hits ``hit`` steps through."""
        self.divergences: frozenset[int] = frozenset()
        """Indices of events at which a replay or another run parts from this one; whoever compares sets them."""
        self._current_hit: Hit | None = None
        self._follower = Follower(recording)
        self._live: LiveConversion | None = None

    @classmethod
    def open(cls, recording: Recording, folder: Path | None = None) -> Debugger:
        """Make one with the user's notebook of the recording; ``folder`` stands in for the user's state folder."""
        return cls(recording, Notebook.of(recording, folder))

    # Moves

    def go(self, verb: Verb, *, forward: bool = True) -> Task[Move]:
        """Move to the next (or previous) error, call of this name, change of a watched path, ….

        The task raises ``StashError`` where a pattern of a breakpoint takes too long.
        """
        return Task(self._go(verb, forward))

    def _go(self, verb: Verb, forward: bool) -> Steps[Move]:
        if not self.count:
            return self._refuse(self._empty())
        if verb == "hit":
            return self._to_hit(forward)
        node = self._node(verb, forward)
        if isinstance(node, str):
            return self._refuse(node)
        from stashdbg_core.session.moves import find_steps
        from stashdbg_core.session.query_nodes import And

        if verb == "watch" and self._calls is not None:
            yield from self._calls.steps()
        where = node if self.view is None else And([node, self.view])
        position = yield from find_steps(where, self.count, self.position, forward=forward)
        if position is not None:
            return self.jump(position)
        hidden = ", among the events on show" if self.view is not None else ""
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

    def page(self, by: int) -> Move:
        """Move ``by`` rows of what is on show at once; like ``step`` in all else."""
        return self.step(by)

    def step(self, by: int = 1) -> Move:
        """Move ``by`` events of those on show, back if negative; stops at the ends and refuses at them."""
        if self.view is None or not self.count:
            return super().step(by)
        rows = len(self.view)
        if not rows:
            return self._refuse("the filter hides every event")
        row = self.view.row_of(self.position)
        if by > 0 and not self.view.shows(self.position):
            row -= 1
        row = min(max(row + by, 0), rows - 1)
        position = self.view.position_at(row)
        if position == self.position or (position < self.position) != (by < 0):
            return self._refuse(f"no {'later' if by > 0 else 'earlier'} event is on show")
        self.position = position
        return Move(position)

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

    # Filter

    def filter(self, query: str, *, inverted: bool = False, hides_repeats: bool = False) -> Task[View]:
        """Show only the events that fit; the cursor moves to the nearest one on show.

        The task raises ``StashError`` for a query that is none; the old filter stays.
        """
        return Task(self._filter(query, inverted, hides_repeats))

    def _filter(self, query: str, inverted: bool, hides_repeats: bool) -> Steps[View]:
        from stashdbg_core.session.view import view_steps

        view = yield from view_steps(
            self.recording, query, inverted=inverted, hides_repeats=hides_repeats, marks=self.marks()
        )
        self.view = view
        if len(view) and not view.shows(self.position):
            self.position = view.position_at(min(view.row_of(self.position), len(view) - 1))
        return view

    def unfilter(self) -> None:
        """Show every event again."""
        self.view = None

    # Search

    def search(self, text: str) -> Task[list[Hit]]:
        """Start a search; ``found.hits`` grows as the task works, and ``go("hit")`` steps through them meanwhile.

        Raises:
            StashError: There is nothing to look for, or the pattern is none.
        """
        from stashdbg_core.session.search import Search

        self.found = Search(self.recording, text)
        self._current_hit = None
        return Task(self.found.steps())

    def end_search(self) -> None:
        """Forget the search."""
        self.found = self._current_hit = None

    @property
    def hit(self) -> Hit | None:
        """The hit that the cursor was moved to, while it stands there."""
        hit = self._current_hit
        return hit if hit is not None and hit.position == self.position else None

    @property
    def hit_number(self) -> tuple[int, int] | None:
        """Which hit this is, counted from 1, and how many there are so far."""
        if self.found is None or self.hit is None:
            return None
        return self.found.hits.index(self.hit) + 1, len(self.found.hits)

    def _to_hit(self, forward: bool) -> Move:
        if self.found is None:
            return self._refuse("nothing is searched for")
        hits = [hit for hit in self.found.hits if self.view is None or self.view.shows(hit.position)]
        at = self.hit
        if at is not None and at in hits:
            place = hits.index(at) + (1 if forward else -1)
            wanted = hits[place] if 0 <= place < len(hits) else None
        elif forward:
            wanted = next((hit for hit in hits if hit.position >= self.position), None)
        else:
            wanted = next((hit for hit in reversed(hits) if hit.position <= self.position), None)
        if wanted is None:
            scanned = self.found.scanned < self.count and not self.found.truncated
            more = ", the search is still going on" if scanned and forward else ""
            return self._refuse(f"no {'later' if forward else 'earlier'} hit{more}" if hits else f"no hit{more}")
        self._current_hit = wanted
        return Move(self.position) if wanted.position == self.position else self.jump(wanted.position)

    # Reading on

    def reload(self, recording: Recording) -> None:
        """Put a fuller or changed recording under the cursor; the filter is gone and has to be run again."""
        super().reload(recording)
        self._follower = Follower(recording)
        self.view, self._current_hit = None, None

    def follow(self) -> None:
        """Let ``refresh`` be asked often, until ``unfollow``.

        Only a large file of another tool needs that: a process of its own reads on as it grows.

        Raises:
            StashError: The file cannot be read now; ``ERR_INVALID_INPUT``: it can only be read as a whole.
        """
        path = self.recording.path
        if self._live is None and path is not None:
            from stashdbg_core.report.opening import follow_one

            self._live = follow_one(path)

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
        before = self.count
        self.reload(self._follower.read())
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
