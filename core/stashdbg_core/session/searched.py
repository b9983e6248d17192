"""A search over the run, and moves along what it has found so far."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

from stashdbg_core.model import Recording
from stashdbg_core.session.filtered import Filtered
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.session import Move
from stashdbg_core.session.tasks import Task

# A screen's first frame searches nothing.
if TYPE_CHECKING:
    from stashdbg_core.session.search import Hit, Search


class Searched(Filtered):
    """A session with a search, whose hits are gone along while it goes on.

    Args:
        recording: The run.
        notebook: What is kept; in memory only when None.
    """

    def __init__(self, recording: Recording, notebook: Notebook | None = None) -> None:
        super().__init__(recording, notebook)
        self.found: Search | None = None
        """The search, going on or done."""
        self._place: int | None = None
        """Index of the hit that the cursor was moved to."""

    def reload(self, recording: Recording) -> None:
        """Put a fuller or changed recording under the cursor, which stands at no hit of it yet."""
        super().reload(recording)
        self._place = None

    def search(self, text: str) -> Task[list[Hit]]:
        """Start a search for a text or ``/pattern/``; ``found.hits`` grows as the task works.

        Raises:
            StashError: There is nothing to look for, or the pattern is none.
        """
        from stashdbg_core.session.search import Search

        self.found, self._place = Search(self.recording, text), None
        return Task(self.found.steps())

    def end_search(self) -> None:
        """Forget the search."""
        self.found = self._place = None

    @property
    def hit(self) -> Hit | None:
        """The hit that the cursor was moved to, while it stands there."""
        if self.found is None or self._place is None:
            return None
        hit = self.found.hits[self._place]
        return hit if hit.position == self.position else None

    @property
    def hit_number(self) -> int | None:
        """Which hit the cursor was moved to last, counted from 1; None if to none."""
        return None if self._place is None else self._place + 1

    def to_hit(self, *, forward: bool = True) -> Move:
        """Go to the next hit, or the one before: from one to the other where an event has several.

        After the last comes the first, and before the first the last, once the search is over.
        """
        if self.found is None:
            return self._refuse("nothing is searched for")
        hits = self.found.hits
        if self._place is not None and self.hit is not None:
            place = self._place + (1 if forward else -1)
        elif forward:
            place = bisect_right(hits, self.position, key=_position)
        else:
            place = bisect_left(hits, self.position, key=_position) - 1
        shown = self._on_show(place, forward=forward)
        if shown is not None:
            return self._to(shown)
        if self._searching:
            return self._refuse(f"no {'later' if forward else 'earlier'} hit so far; the search is still going on")
        shown = self._on_show(0 if forward else len(hits) - 1, forward=forward)
        if shown is not None and (self.hit is None or shown != self._place):
            return replace(self._to(shown), went_round=True)
        hidden = ", among the events on show" if self.rows.view is not None else ""
        return self._refuse(f"no other hit{hidden}; {len(hits):,} in all")

    def to_first_hit(self) -> Move:
        """Go to the first hit from the cursor on; when the search is over without one there, to the first of all."""
        if self.found is None:
            return self._refuse("nothing is searched for")
        place = self._on_show(bisect_left(self.found.hits, self.position, key=_position), forward=True)
        went_round = place is None and not self._searching
        if went_round:
            place = self._on_show(0, forward=True)
        return self._refuse("no hit so far") if place is None else replace(self._to(place), went_round=went_round)

    @property
    def _searching(self) -> bool:
        return self.found is not None and self.found.scanned < self.count and not self.found.truncated

    def _on_show(self, place: int, *, forward: bool) -> int | None:
        hits = self.found.hits if self.found is not None else []
        while 0 <= place < len(hits) and self.is_hidden(hits[place].position):
            place += 1 if forward else -1
        return place if 0 <= place < len(hits) else None

    def _to(self, place: int) -> Move:
        assert self.found is not None
        self._place, position = place, self.found.hits[place].position
        return Move(position) if position == self.position else self.jump(position)


def _position(hit: Hit) -> int:
    return hit.position
