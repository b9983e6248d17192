"""Moves: steps and jumps of the session, and runs to the next event of a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from stashdbg_core.session.session import Move
from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.widgets.scrubber import Scrubber
from stashdbg_tui.widgets.timeline import Timeline

if TYPE_CHECKING:
    from stashdbg_core.session.debugger import Verb


class Moving(SessionScreen):
    """Where the cursor goes."""

    def action_move(self, verb: str, by: int = 1) -> None:
        """Make a move of the session by its name; steps go along the rows that are shown."""
        session = self.session
        if session is None:
            return
        if verb == "step":
            self._step(by)
        elif verb in ("first", "last") and not self.rows.is_whole and len(self.rows):
            self.follow(session.jump(self.rows.position(0 if verb == "first" else len(self.rows) - 1)))
        else:
            moves = {"first": session.first, "last": session.last, "back": session.back, "forward": session.forward}
            self.follow(moves[verb]())

    def action_page(self, pages: float) -> None:
        """Move by pages of the timeline."""
        self._step(round(pages * max(self.timeline.page_rows - 1, 1)))

    def _step(self, by: int) -> None:
        session = self.session
        if session is None:
            return
        if self.rows.is_whole:
            self.follow(session.step(by))
            return
        target = self.rows.step(session.position, by)
        if target is None:
            edge = "last" if by > 0 else "first"
            said = f"this is the {edge} event shown" if len(self.rows) else "no event is shown; Esc clears the filter"
            self.follow(Move(session.position, said))
        else:
            self.follow(session.step(target - session.position))

    def action_recentre(self) -> None:
        """Scroll the timeline to the cursor."""
        self.timeline.recentre()

    def action_over(self, by: int) -> None:
        """Step over the calls made during this one, in its lane."""
        self.action_seek("over", by)

    def action_seek(self, verb: Verb, by: int) -> None:
        """Run to the next event of a kind, back if negative."""
        session = self.session
        if session is not None:
            task = session.go(verb, forward=by > 0)
            self.work_on("seek", task, self.follow, lambda: self.status.show("looking… Esc stops"))

    @on(Timeline.Chosen)
    def _chosen(self, message: Timeline.Chosen) -> None:
        if self.session is not None:
            if message.position != self.session.position:
                self.follow(self.session.jump(message.position))
            if message.opened:
                self.set_focus(self.payload)

    @on(Scrubber.Chosen)
    def _scrubbed(self, message: Scrubber.Chosen) -> None:
        if self.session is not None:
            self.follow(self.session.jump(message.position))
