"""Bookmarks, notes, breakpoints and watches: kept in the notebook beside the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.debugger import Debugger, quoted
from stashdbg_core.session.summary import summary
from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.theme import sign
from stashdbg_tui.widgets.panel import PanelRow

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.session.predicate import Marks
    from stashdbg_core.session.watches import WatchRow


class Marking(SessionScreen):
    """What a person writes on a recording."""

    def __init__(self) -> None:
        super().__init__()
        self.notebook_folder: Path | None = None
        """Where notebooks lie, if not in the user's state folder."""
        self._marked: Marks = {}

    def open_debugger(self, recording: Recording) -> Debugger:
        """Return a debugger with the notebook of a recording; one that is only in memory has one in memory."""
        if recording.path is None and self.notebook_folder is None:
            return Debugger(recording)
        return Debugger.open(recording, self.notebook_folder)

    def show_marks(self) -> None:
        """Draw the marks of the session's notebook."""
        session = self.session
        assert session is not None
        self._marked = session.notebook.marks(session.recording)
        self.timeline.marks, self.status.marks = self._sign, self._words
        self.scrubber.marks = self._marked["bookmarked"]
        self.scrubber.refresh()
        self.timeline.forget_rows()
        if session.notebook.problem is not None:
            self.status.show(session.notebook.problem)

    def _is_marked(self, name: str, position: int) -> bool:
        return name in self._marked and position in self._marked[name]()

    def _is_breakpoint(self, position: int) -> bool:
        """Whether a breakpoint that columns decide stops here; others are not asked for a row's sake."""
        stops = self.session.breakpoints() if self.session is not None else []
        if not stops:
            return False
        from stashdbg_core.session.query_nodes import RECORD

        try:
            return any(predicate.node.cost < RECORD and predicate.matches(position) for predicate in stops)
        except StashError:
            return False

    def _sign(self, position: int) -> str:
        if self._is_marked("bookmarked", position):
            return sign("bookmark")
        if self._is_marked("noted", position):
            return sign("note")
        return sign("breakpoint") if self._is_breakpoint(position) else ""

    def _words(self, position: int) -> str:
        session = self.session
        if session is None or position < 0:
            return ""
        words = ["bookmark"] if self._is_marked("bookmarked", position) else []
        if self._is_marked("noted", position):
            seq = session.event_at(position).seq
            words += [f"note: {shorten(note.text, 40)}" for note in session.notebook.notes if note.seq == seq][:1]
        if self._is_breakpoint(position):
            words.append("breakpoint")
        return " · ".join(words)

    def _change(self, change: Callable[[Debugger], str]) -> None:
        """Change the notebook and say what was done, or why it could not be."""
        session = self.session
        if session is None or not session.count:
            self.status.show("there is no event to mark")
            return
        try:
            said = change(session)
        except StashError as failure:
            self.say_failure(failure)
            return
        self.show_marks()
        if self.has_class("-panel"):
            self.list_rows(self.panel.kind)
        self.status.show(said)

    def action_bookmark(self) -> None:
        """Mark the event, or take the mark away."""

        def change(session: Debugger) -> str:
            done = "set; u and U go along bookmarks" if session.toggle_bookmark() else "taken away"
            return f"bookmark on event {session.event_at(session.position).seq} {done}"

        self._change(change)

    def add_note(self, text: str) -> None:
        """Write a note on the event."""

        def change(session: Debugger) -> str:
            session.add_note(text)
            return (
                f"note written on event {session.event_at(session.position).seq}, beside the recording; ' lists notes"
            )

        self._change(change)

    def action_breakpoint(self) -> None:
        """Stop at every call of this channel and key, or stop no more."""
        session = self.session
        if session is not None and session.event is not None:
            event = session.event
            self.toggle_breakpoint(f"channel:{quoted(event.channel)} key:{quoted(event.key)}")

    def toggle_breakpoint(self, query: str) -> None:
        """Set a breakpoint on a query, or take it away if it is there."""

        def change(session: Debugger) -> str:
            done = "set; c and C run to it" if session.toggle_breakpoint(query) else "taken away"
            return f"breakpoint on {shorten(query, 60)} {done}"

        self._change(change)

    def set_watch(self, expression: str, *, watched: bool) -> None:
        """Watch an expression, or stop to."""

        def change(session: Debugger) -> str:
            if watched == (expression in session.notebook.watches):
                return f"{shorten(expression, 60)} is {'watched already' if watched else 'not watched'}"
            session.toggle_watch(expression)
            done = "watched; p and P go along its changes" if watched else "watched no more"
            return f"{shorten(expression, 60)} is {done}"

        self._change(change)
        if watched and self.session is not None and expression in self.session.notebook.watches:
            self.list_rows("watches")

    def drop_mark(self, target: object) -> None:
        """Take away the bookmark, the notes or the breakpoint that a line of the list stands for."""
        if not isinstance(target, tuple):
            return
        kind, what = target

        def change(session: Debugger) -> str:
            if kind == "bookmark":
                session.notebook.toggle_bookmark(what)
            elif kind == "note":
                session.notebook.drop_notes(what)
            else:
                session.toggle_breakpoint(what)
            return f"{kind} taken away"

        self._change(change)

    def mark_rows(self) -> list[PanelRow]:
        """Return the marks as lines."""
        session = self.session
        assert session is not None
        book = session.notebook
        rows = [
            PanelRow([(f"{sign('bookmark')} bookmark  ", "strong"), *self._event_pieces(seq)], ("bookmark", seq))
            for seq in book.bookmarks
        ]
        rows += [
            PanelRow(
                [(f"{sign('note')} note  ", "strong"), (f"event {note.seq}  ", "muted"), (note.text, "text")],
                ("note", note.seq),
            )
            for note in book.notes
        ]
        rows += [
            PanelRow([(f"{sign('breakpoint')} breakpoint  ", "strong"), (query, "text")], ("breakpoint", query))
            for query in book.breakpoints
        ]
        return rows or [PanelRow([("nothing is marked yet: m bookmark, i note, b breakpoint", "muted")])]

    def _event_pieces(self, seq: int) -> list[tuple[str, str]]:
        session = self.session
        assert session is not None
        position = session.recording.events.position_of(seq)
        if position is None:
            return [(f"event {seq}, not in this recording", "muted")]
        event = session.event_at(position)
        return [
            (f"event {seq}  {event.channel} {event.key}  ", "muted"),
            (summary(session.recording, event, 80), "text"),
        ]

    def watch_lines(self, watches: Sequence[WatchRow]) -> list[PanelRow]:
        """Return the watches as lines."""
        session = self.session
        assert session is not None
        rows: list[PanelRow] = []
        for row in watches:
            position = session.recording.events.position_of(row.seq) if row.seq is not None else None
            since = f"  event {row.seq}" if row.seq is not None else ""
            value = (row.text, "text") if row.text is not None else ("nothing yet", "muted")
            pieces = [(f"{row.expression}  ", "strong"), value, (since, "muted")]
            rows.append(PanelRow(pieces, (row.expression, position)))
        return rows or [PanelRow([("nothing is watched yet: :watch EXPRESSION, such as :watch paid_out", "muted")])]
