"""Search, which marks and goes along hits; filter, which hides what does not fit; lanes, which fold."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from stashdbg_core.errors import StashError
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.rows import Rows
from stashdbg_core.session.session import Move
from stashdbg_tui.verbs.moving import Moving

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.text_match import TextMatch


class Finding(Moving):
    """Finding things in the run and in a value."""

    def __init__(self) -> None:
        super().__init__()
        self.found: TextMatch | None = None
        """What is looked for in the value shown."""

    # Search

    def start_search(self, text: str, *, inside: bool) -> None:
        """Look for a text in the value shown, or in the whole run, from the cursor on."""
        session = self.session
        if session is None or not text:
            return
        from stashdbg_core.session.search import search_match

        self.clear_search()
        try:
            match = search_match(text)
            task = None if inside else session.search(text)
        except StashError as failure:
            self.say_failure(failure)
            return
        self.payload.mark(match)
        if task is None:
            self.found = match
            self._find_inside(1, at_once=True)
        else:
            self.timeline.mark(match)
            self.work_on("search", task, lambda hits: self._searched(), self._searching)

    def _searching(self) -> None:
        """Go to the first hit as soon as it is there, and say how many there are so far."""
        session = self.session
        if session is None or session.found is None:
            return
        if session.hit_number is None:
            self._go_to_hit(session.to_first_hit())
        done = session.found.scanned * 100 // max(session.count, 1)
        self.status.show(self._hit_words(f" so far, {done} % searched; Esc stops"))

    def _searched(self) -> None:
        session = self.session
        if session is None or session.found is None:
            return
        if not session.found.hits:
            said = f"{shorten(session.found.match.text, 40)} is nowhere in this run"
            self.clear_search()
            self.say_reason(said)
        elif session.hit_number is None:
            self._show_hit(session.to_first_hit(), 1)
        else:
            self.status.show(self._hit_words())

    def action_hit(self, by: int) -> None:
        """Go to the next hit, back if negative; without a search step over."""
        session = self.session
        if session is None:
            return
        if self.found is not None and self.payload.has_focus:
            self._find_inside(by)
        elif session.found is None:
            self.action_seek("over", by)
        else:
            self._show_hit(session.to_hit(forward=by > 0), by)

    def _show_hit(self, move: Move, by: int) -> None:
        """Show the hit that was gone to, or say why there is none."""
        self._go_to_hit(move)
        if move.reason is not None:
            self.say_reason(move.reason)
        else:
            self.status.show(self._hit_words(f", round the {_edge(by)}" if move.went_round else ""))

    def _go_to_hit(self, move: Move) -> None:
        """Show the hit that was gone to, if one was: its part, and its place in that."""
        session = self.session
        hit = session.hit if session is not None and session.found is not None and move.made else None
        if session is None or session.found is None or hit is None:
            return
        if hit.part in ("value", "input"):
            self.part = hit.part
        self.follow(move)
        if hit.part in ("value", "input"):
            steps = self.payload.find_steps(session.found.match, 1, hit.pointer)
            self.work_on("inside", steps, self.show_line)

    def _hit_words(self, more: str = "") -> str:
        session = self.session
        assert session is not None
        assert session.found is not None
        hits = session.found.hits
        count = f"{len(hits):,}{'+' if session.found.truncated else ''}"
        if session.hit_number is None:
            return f"{count} hit{'' if len(hits) == 1 else 's'}{more}"
        hit = hits[session.hit_number - 1]
        where = f"{hit.part} {shorten(hit.pointer, 40)}".strip()
        return f"hit {session.hit_number:,} of {count}{more} · in {where}"

    def _find_inside(self, by: int, *, at_once: bool = False) -> None:
        match = self.found
        assert match is not None

        def found(line: int | None) -> None:
            if line is None:
                self.status.show(f"{shorten(match.text, 40)} is not in what is shown here")
            else:
                wrapped = (line < before) == (by > 0) and line != before
                self.payload.go_to_line(line, open_it=True)
                self.status.show(f"search went round the {_edge(by)}" if wrapped and not at_once else None)

        before = self.payload.line
        steps = self.payload.find_steps(match, by, at_cursor=at_once)
        self.work_on("inside", steps, found, lambda: self.status.show("searching… Esc stops"))

    def clear_search(self) -> bool:
        """Forget the search and its marks; tell whether there was one."""
        session = self.session
        was = self.found is not None or (session is not None and session.found is not None)
        self.stop_work("search", "inside")
        self.found = None
        if session is not None:
            session.end_search()
        if was:
            self.payload.mark(None)
            self.timeline.mark(None)
        return was

    # Filter

    def set_filter(
        self, query: str | None = None, *, inverted: bool | None = None, hides_repeats: bool | None = None
    ) -> None:
        """Change what is shown; a query that is none changes nothing and says where it is wrong."""
        if self.session is None:
            return
        try:
            task = self.session.filter_by(query, inverted=inverted, hides_repeats=hides_repeats)
        except StashError as failure:
            self.say_failure(failure)
        else:
            self.work_on("filter", task, self._show_rows, lambda: self.status.show("filtering… Esc stops"))

    def show_filtered(self) -> None:
        """Filter and fold anew what was read anew."""
        if self.session is not None:
            self.work_on("filter", self.session.show_anew(), self._show_rows)

    def fold_lanes(self, folded: Set[str | None]) -> None:
        """Fold these lanes and no others."""
        if self.session is not None:
            self.work_on("filter", self.session.fold(folded), self._show_rows)

    def _show_rows(self, rows: Rows) -> None:
        session = self.session
        assert session is not None
        self.timeline.show_rows(rows)
        words = session.filter.words()
        self.status.filter = f"{words} · {rows.view.hidden:,} hidden" if rows.view is not None else ""
        nothing = bool(session.count) and not len(rows)
        if nothing:
            self.notice.show_nothing_left(words, session.count)
        self.set_class(nothing, "-nothing")
        self.status.show()
        if session.position != self.timeline.cursor:
            self.follow(Move(session.position))

    def clear_filter(self) -> bool:
        """Show everything again; tell whether something was hidden."""
        stopped = self.stop_work("filter")
        was = self.session is not None and self.session.filter.hides
        if was:
            self.set_filter("", hides_repeats=False)
        return was or stopped

    def action_invert(self) -> None:
        """Show what the filter hides."""
        if self.session is not None and self.session.filter.query:
            self.set_filter(inverted=not self.session.filter.inverted)
        else:
            self.status.show("nothing to invert; f sets a filter")

    def action_repeats(self) -> None:
        """Hide repeats, or show them."""
        if self.session is not None:
            self.set_filter(hides_repeats=not self.session.filter.hides_repeats)

    def action_marked_only(self) -> None:
        """Show marked events only, or all again."""
        if self.session is not None:
            self.set_filter("" if self.session.filter.query == "is:marked" else "is:marked")


def _edge(by: int) -> str:
    return "end" if by > 0 else "start"
