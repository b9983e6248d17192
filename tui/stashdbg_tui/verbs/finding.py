"""Search, which marks and goes along hits; filter, which hides what does not fit."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from stashdbg_core.errors import StashError
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.session import Move
from stashdbg_tui.lanes import Rows, fold_steps
from stashdbg_tui.screens.base import SessionScreen

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.search import Hit, Search
    from stashdbg_core.session.text_match import TextMatch
    from stashdbg_core.session.view import View


class Finding(SessionScreen):
    """Finding things in the run and in a value."""

    def __init__(self) -> None:
        super().__init__()
        self.search: Search | None = None
        """The search over the run, going on or done."""
        self.found: TextMatch | None = None
        """What is looked for in the value shown."""
        self.filter_query = ""
        self.inverted = self.hides_repeats = False
        self._hit = -1

    # Search

    def start_search(self, text: str, *, inside: bool) -> None:
        """Look for a text in the value shown, or in the whole run, from the cursor on."""
        session = self.session
        if session is None or not text:
            return
        from stashdbg_core.session.search import Search, search_match

        self.clear_search()
        try:
            match = search_match(text)
            search = None if inside else Search(session.recording, text)
        except StashError as failure:
            self.say_failure(failure)
            return
        self.payload.mark(match)
        if search is None:
            self.found = match
            self._find_inside(1, at_once=True)
            return
        self.search, self._hit = search, -1
        self.timeline.mark(match)
        self.work_on("search", search.steps(), lambda hits: self._searched(), self._searching)

    def _searching(self) -> None:
        """Go to the first hit as soon as it is there, and say how many there are so far."""
        search, session = self.search, self.session
        if search is None or session is None:
            return
        if self._hit < 0 and search.hits and search.hits[-1].position >= session.position:
            self._go_to_hit(bisect_left(search.hits, session.position, key=_position))
        self.status.show(
            self._hit_words(f" so far, {search.scanned * 100 // max(session.count, 1)} % searched; Esc stops")
        )

    def _searched(self) -> None:
        search, session = self.search, self.session
        if search is None or session is None:
            return
        if not search.hits:
            said = f"{shorten(search.text, 40)} is nowhere in this run"
            self.clear_search()
            self.status.show(said)
        elif self._hit < 0:
            place = bisect_left(search.hits, session.position, key=_position)
            self._go_to_hit(place if place < len(search.hits) else 0)
        else:
            self.status.show(self._hit_words())

    def action_hit(self, by: int) -> None:
        """Go to the next hit, back if negative; without a search step over."""
        search, session = self.search, self.session
        if session is None:
            return
        if self.found is not None and self.payload.has_focus:
            self._find_inside(by)
            return
        if search is None:
            self.step_over(by)
            return
        here = session.position
        if 0 <= self._hit < len(search.hits) and search.hits[self._hit].position == here:
            place = self._hit + by
        else:
            place = (bisect_right if by > 0 else bisect_left)(search.hits, here, key=_position) - (by < 0)
        if 0 <= place < len(search.hits):
            self._go_to_hit(place)
        elif by > 0 and "search" in self._tasks:
            self.status.show(self._hit_words(" so far; still searching"))
        else:
            self.follow(Move(here, f"no {'later' if by > 0 else 'earlier'} hit; {len(search.hits):,} in all"))

    def _go_to_hit(self, place: int) -> None:
        search, session = self.search, self.session
        assert search is not None
        assert session is not None
        self._hit = place
        hit = search.hits[place]
        if hit.part in ("value", "input") and hit.part != self.part:
            self.part = hit.part
        if hit.position != session.position:
            self.follow(session.jump(hit.position))
        else:
            self.inspect()
        self.status.show(self._hit_words())
        if hit.part in ("value", "input"):
            steps = self.payload.find_steps(search.match, 1, hit.pointer)
            self.work_on("inside", steps, self._show_line)

    def _show_line(self, line: int | None) -> None:
        if line is not None:
            self.payload.go_to_line(line, open_it=True)

    def _hit_words(self, more: str = "") -> str:
        search = self.search
        assert search is not None
        count = f"{len(search.hits):,}{'+' if search.truncated else ''}"
        if self._hit < 0:
            return f"{count} hit{'' if len(search.hits) == 1 else 's'}{more}"
        hit = search.hits[self._hit]
        where = f"{hit.part} {shorten(hit.pointer, 40)}".strip()
        return f"hit {self._hit + 1:,} of {count}{more} · in {where}"

    def _find_inside(self, by: int, *, at_once: bool = False) -> None:
        match = self.found
        assert match is not None

        def found(line: int | None) -> None:
            if line is None:
                self.status.show(f"{shorten(match.text, 40)} is not in what is shown here")
            else:
                wrapped = (line < before) == (by > 0) and line != before
                self.payload.go_to_line(line, open_it=True)
                self.status.show("search went round the end" if wrapped and not at_once else None)

        before = self.payload.line
        steps = self.payload.find_steps(match, by, at_cursor=at_once)
        self.work_on("inside", steps, found, lambda: self.status.show("searching… Esc stops"))

    def clear_search(self) -> bool:
        """Forget the search and its marks; tell whether there was one."""
        was = self.search is not None or self.found is not None
        self.stop_work("search", "inside")
        self.search = self.found = None
        if was:
            self.payload.mark(None)
            self.timeline.mark(None)
        return was

    @abstractmethod
    def step_over(self, by: int) -> None:
        """Step over the calls made during this one."""

    # Filter

    @property
    def is_filtered(self) -> bool:
        """Whether events are hidden."""
        return bool(self.filter_query or self.inverted or self.hides_repeats)

    def set_filter(
        self, query: str | None = None, *, inverted: bool | None = None, repeats: bool | None = None
    ) -> None:
        """Change what is shown; a query that is none changes nothing and says where it is wrong."""
        session = self.session
        if session is None:
            return
        from stashdbg_core.session.query import parse_query

        try:
            parse_query(self.filter_query if query is None else query)
        except StashError as failure:
            self.say_failure(failure)
            return
        self.filter_query = self.filter_query if query is None else query.strip()
        self.inverted = (self.inverted if inverted is None else inverted) and bool(self.filter_query)
        self.hides_repeats = self.hides_repeats if repeats is None else repeats
        self.show_filtered()

    def show_filtered(self) -> None:
        """Build the rows anew, in slices."""
        session = self.session
        if session is None:
            return
        if not self.is_filtered:
            self.stop_work("filter")
            self._fold(None)
            return
        from stashdbg_core.session.view import view_steps

        steps = view_steps(
            session.recording,
            self.filter_query,
            inverted=self.inverted,
            hides_repeats=self.hides_repeats,
            marks=session.marks(),
        )
        self.work_on("filter", steps, self._fold, lambda: self.status.show("filtering… Esc stops"))

    def _fold(self, view: View | None) -> None:
        session = self.session
        assert session is not None
        steps = fold_steps(view, session.recording.events, self.rows.folded)
        self.work_on("fold", steps, self._show_rows)

    def fold_lanes(self, folded: frozenset[str | None]) -> None:
        """Fold these lanes and no others."""
        self.rows.folded = folded
        self._fold(self.rows.view)

    def _show_rows(self, rows: Rows) -> None:
        session = self.session
        assert session is not None
        self.rows, session.view = rows, rows.view
        self.timeline.show_rows(rows)
        self.status.filter = self.filter_words()
        if rows.view is None:
            self.status.show()
        elif not len(rows):
            self.notice.show_nothing_left(self.filter_words(counted=False), session.count)
        self.set_class(rows.view is not None and not len(rows), "-nothing")
        self.status.show()
        if len(rows) and not rows.shows(session.position):
            near = rows.step(session.position, 1)
            near = rows.step(session.position, -1) if near is None else near
            if near is not None:
                self.follow(session.jump(near))

    def filter_words(self, *, counted: bool = True) -> str:
        """Return the filter in words, empty where all is shown."""
        words = []
        if self.filter_query:
            words.append(f"{'not ' if self.inverted else ''}{shorten(self.filter_query, 40)}")
        if self.hides_repeats:
            words.append("repeats hidden")
        if counted and self.rows.view is not None and words:
            words.append(f"{self.rows.view.hidden:,} hidden")
        return " · ".join(words)

    def clear_filter(self) -> bool:
        """Show everything again; tell whether something was hidden."""
        stopped = self.stop_work("filter", "fold")
        was = self.is_filtered
        self.filter_query, self.inverted, self.hides_repeats = "", False, False
        if was:
            self._fold(None)
        return was or stopped

    def action_invert(self) -> None:
        """Show what the filter hides."""
        if self.filter_query:
            self.set_filter(inverted=not self.inverted)
        else:
            self.status.show("nothing to invert; f sets a filter")

    def action_repeats(self) -> None:
        """Hide repeats, or show them."""
        self.set_filter(repeats=not self.hides_repeats)

    def action_marked_only(self) -> None:
        """Show marked events only, or all again."""
        self.set_filter("" if self.filter_query == "is:marked" else "is:marked")


def _position(hit: Hit) -> int:
    return hit.position
