"""Moves: steps and jumps of the session, and runs to the next event of a kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.widgets.scrubber import Scrubber
from stashdbg_tui.widgets.timeline import Timeline

if TYPE_CHECKING:
    from stashdbg_core.session.debugger import Verb


class Moving(SessionScreen):
    """Where the cursor goes."""

    def action_step(self, by: int) -> None:
        """Step along the rows that are shown."""
        if self.session is not None:
            self.follow(self.session.step(by))

    def action_page(self, pages: float) -> None:
        """Move by pages of the timeline."""
        self.action_step(round(pages * max(self.timeline.page_rows - 1, 1)))

    def action_move(self, verb: str) -> None:
        """Make a jump of the session by its name."""
        session = self.session
        if session is not None:
            moves = {"first": session.first, "last": session.last, "back": session.back, "forward": session.forward}
            self.follow(moves[verb]())
            self.awaits_end = verb == "last" and self.stash_app.is_reading

    def action_recentre(self) -> None:
        """Scroll the timeline to the cursor."""
        self.timeline.recentre()

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
