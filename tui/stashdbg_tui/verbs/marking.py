"""Bookmarks, notes, breakpoints and watches: kept in the notebook beside the recording."""

from __future__ import annotations

from collections.abc import Callable, Set
from pathlib import Path

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.predicate import Marks, Predicate
from stashdbg_core.session.query_nodes import Each, Node
from stashdbg_core.session.summary import summary
from stashdbg_core.session.watches import Watch
from stashdbg_tui.screens.base import SessionScreen
from stashdbg_tui.theme import sign
from stashdbg_tui.widgets.panel import PanelRow


class Marking(SessionScreen):
    """What a person writes on a recording."""

    def __init__(self) -> None:
        super().__init__()
        self.notebook = Notebook(None)
        self.notebook_folder: Path | None = None
        """Where notebooks lie, if not in the user's state folder."""
        self._marks: Marks = {}
        self._breakpoints: list[tuple[str, Predicate]] = []
        self._watches: list[Watch] = []

    def open_notebook(self, recording: Recording) -> None:
        """Take up the notebook of a recording; one that is only in memory has one in memory."""
        if recording.path is None and self.notebook_folder is None:
            self.notebook = Notebook(None, recording.id)
        else:
            self.notebook = Notebook.of(recording, self.notebook_folder)
        self._renew(recording)
        self.timeline.marks = self._sign
        self.status.marks = self._words
        if self.notebook.problem is not None:
            self.status.show(self.notebook.problem)

    def marks(self) -> Marks:
        """Return what queries ask about marks."""
        return self._marks

    def marked_positions(self, name: str) -> Set[int]:
        """Return the positions that have a kind of mark now."""
        found: Callable[[], Set[int]] = self._marks.get(name, frozenset)
        return found()

    def breakpoint_nodes(self) -> list[Node]:
        """Return a node for each breakpoint."""
        return [Each(predicate.matches) for _, predicate in self._breakpoints]

    def watched(self) -> list[Watch]:
        """Return the watches."""
        return self._watches

    def _renew(self, recording: Recording) -> None:
        self._marks = self.notebook.marks(recording)
        self._breakpoints = []
        for query in self.notebook.breakpoints:
            try:
                self._breakpoints.append((query, Predicate(query, recording, self._marks)))
            except StashError as failure:  # written by another version
                self.say_failure(failure)
        self._watches = []
        for expression in self.notebook.watches:
            try:
                self._watches.append(Watch(expression, recording))
            except StashError as failure:
                self.say_failure(failure)
        self.timeline.forget_rows()

    def _is_breakpoint(self, position: int) -> bool:
        try:
            return any(predicate.is_cheap and predicate.matches(position) for _, predicate in self._breakpoints)
        except StashError:
            return False

    def _sign(self, position: int) -> str:
        if position in self.marked_positions("bookmarked"):
            return sign("bookmark")
        if position in self.marked_positions("noted"):
            return sign("note")
        return sign("breakpoint") if self._breakpoints and self._is_breakpoint(position) else ""

    def _words(self, position: int) -> str:
        session = self.session
        if session is None or position < 0:
            return ""
        words = ["bookmark"] if position in self.marked_positions("bookmarked") else []
        if position in self.marked_positions("noted"):
            seq = session.event_at(position).seq
            words += [f"note: {shorten(note.text, 40)}" for note in self.notebook.notes if note.seq == seq][:1]
        if self._breakpoints and self._is_breakpoint(position):
            words.append("breakpoint")
        return " · ".join(words)

    def _change(self, change: Callable[[], str]) -> None:
        """Change the notebook and say what was done, or why it could not be."""
        session = self.session
        if session is None or session.event is None:
            self.status.show("there is no event to mark")
            return
        try:
            said = change()
            self._renew(session.recording)
        except StashError as failure:
            self.say_failure(failure)
            return
        if self.panel.kind:
            self.list_rows(self.panel.kind)
        self.scrubber.refresh()
        self.status.show(said)

    def action_bookmark(self) -> None:
        """Mark the event, or take the mark away."""
        event = self.session.event if self.session is not None else None

        def change() -> str:
            assert event is not None
            is_set = self.notebook.toggle_bookmark(event.seq)
            return f"bookmark on event {event.seq} {'set; u and U go along bookmarks' if is_set else 'taken away'}"

        self._change(change)

    def add_note(self, text: str) -> None:
        """Write a note on the event."""
        event = self.session.event if self.session is not None else None

        def change() -> str:
            assert event is not None
            self.notebook.add_note(event.seq, text)
            return f"note written on event {event.seq}, beside the recording; ' lists notes"

        self._change(change)

    def action_breakpoint(self) -> None:
        """Stop at every call of this channel and key, or stop no more."""
        event = self.session.event if self.session is not None else None
        if event is not None:
            self.toggle_breakpoint(f"channel:{_quoted(event.channel)} key:{_quoted(event.key)}")

    def toggle_breakpoint(self, query: str) -> None:
        """Set a breakpoint on a query, or take it away if it is there."""
        session = self.session

        def change() -> str:
            assert session is not None
            there = query in self.notebook.breakpoints
            if not there:
                Predicate(query, session.recording, self._marks)
            others = tuple(other for other in self.notebook.breakpoints if other != query)
            self.notebook.set_breakpoints(others if there else (*others, query))
            return f"breakpoint on {shorten(query, 60)} {'taken away' if there else 'set; c and C run to it'}"

        self._change(change)

    def set_watch(self, expression: str, *, watched: bool) -> None:
        """Watch an expression, or stop to."""
        session = self.session

        def change() -> str:
            assert session is not None
            if watched:
                Watch(expression, session.recording)
            elif expression not in self.notebook.watches:
                return f"{shorten(expression, 60)} is not watched"
            others = tuple(other for other in self.notebook.watches if other != expression)
            self.notebook.set_watches((*others, expression) if watched else others)
            return f"{shorten(expression, 60)} is {'watched' if watched else 'watched no more'}"

        self._change(change)
        if watched and expression in self.notebook.watches:
            self.list_rows("watches")

    def drop_mark(self, target: object) -> None:
        """Take away the bookmark, the notes or the breakpoint that a line of the list stands for."""
        if not isinstance(target, tuple):
            return
        kind, what = target

        def change() -> str:
            if kind == "bookmark":
                self.notebook.toggle_bookmark(what)
            elif kind == "note":
                self.notebook.drop_notes(what)
            else:
                self.notebook.set_breakpoints(tuple(other for other in self.notebook.breakpoints if other != what))
            return f"{kind} taken away"

        self._change(change)

    def mark_rows(self) -> list[PanelRow]:
        """Return the marks as lines."""
        session = self.session
        assert session is not None
        rows = []
        for seq in self.notebook.bookmarks:
            rows.append(PanelRow([(f"{sign('bookmark')} bookmark  ", "strong"), *self._event_pieces(seq)], ("bookmark", seq)))
        for note in self.notebook.notes:
            pieces = [(f"{sign('note')} note  ", "strong"), (f"event {note.seq}  ", "muted"), (note.text, "text")]
            rows.append(PanelRow(pieces, ("note", note.seq)))
        for query in self.notebook.breakpoints:
            rows.append(PanelRow([(f"{sign('breakpoint')} breakpoint  ", "strong"), (query, "text")], ("break", query)))
        return rows or [PanelRow([("nothing is marked yet: m bookmark, i note, b breakpoint", "muted")])]

    def _event_pieces(self, seq: int) -> list[tuple[str, str]]:
        session = self.session
        assert session is not None
        position = session.recording.events.position_of(seq)
        if position is None:
            return [(f"event {seq}, not in this recording", "muted")]
        event = session.event_at(position)
        return [(f"event {seq}  {event.channel} {event.key}  ", "muted"), (summary(session.recording, event, 80), "text")]

    def watch_rows(self) -> list[PanelRow]:
        """Return the watches with what they are at the cursor."""
        session = self.session
        assert session is not None
        rows = []
        for watch in self._watches:
            row = watch.row(session.position)
            position = session.recording.events.position_of(row.seq) if row.seq is not None else None
            since = f"  event {row.seq}" if row.seq is not None else ""
            value = (row.text, "text") if row.text is not None else ("nothing yet", "muted")
            pieces = [(f"{watch.expression}  ", "strong"), value, (since, "muted")]
            rows.append(PanelRow(pieces, (watch.expression, position)))
        return rows or [PanelRow([("nothing is watched yet: :watch EXPRESSION, such as :watch paid_out", "muted")])]


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
