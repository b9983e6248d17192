"""Moves: steps and jumps of the session, and runs to the next event of a kind."""

from __future__ import annotations

from textual import on

from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW
from stashdbg_core.session.column_masks import ColumnMasks
from stashdbg_core.session.moves import find_steps, same_call, step_over
from stashdbg_core.session.query_nodes import Each, Names, Node, Or
from stashdbg_core.session.session import Move
from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.widgets.scrubber import Scrubber
from stashdbg_tui.widgets.timeline import Timeline


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
        session = self.session
        if session is None or session.event is None:
            return
        event = session.event
        lane = "the main lane" if event.thread is None else f"lane {event.thread[:40]}"
        node = step_over(session.recording, event, forward=by > 0)
        self._seek(node, by, f"no {'later' if by > 0 else 'earlier'} event of {lane}", jump=False)

    def action_seek(self, kind: str, by: int) -> None:
        """Jump to the next event of a kind, back if negative."""
        session = self.session
        if session is None or session.event is None:
            return
        order = "later" if by > 0 else "earlier"
        event = session.event
        try:
            if kind == "error":
                threw = Names(ColumnMasks(session.recording.events), "outcome", lambda outcome: outcome == THROW)
                self._seek(threw, by, f"no {order} error")
            elif kind == "site":
                name = f"{event.channel} {event.key}"[:60]
                self._seek(same_call(session.recording, event), by, f"no {order} call of {name}")
            elif kind == "bookmark":
                self._seek(self.bookmark_node(), by, f"no {order} bookmark; m sets one")
            else:
                nodes = [self.bookmark_node(), *self.breakpoint_nodes()]
                self._seek(Or(nodes), by, f"nothing {order} to stop at; b sets a breakpoint, m a bookmark")
        except StashError as failure:
            self.say_failure(failure)

    def _seek(self, node: Node, by: int, refusal: str, *, jump: bool = True) -> None:
        session = self.session
        assert session is not None

        def found(position: int | None) -> None:
            if position is None:
                self.follow(Move(session.position, refusal))
            else:
                self.follow(session.jump(position) if jump else session.step(position - session.position))

        steps = find_steps(node, session.count, session.position, forward=by > 0)
        self.work_on("seek", steps, found, lambda: self.status.show("looking… Esc stops"))

    def bookmark_node(self) -> Node:
        """Return a node for the bookmarked events."""
        marked = self.marked_positions("bookmarked")
        return Each(lambda position: position in marked)

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
