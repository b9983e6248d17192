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
    from stashdbg_core.session.watches import WatchRow

_KINDS = ("bookmark", "note", "breakpoint", "watch")
_READ_FOR_ROWS = 256_000
"""Bytes of a value up to which it is read to fill a column of a row."""


class Marking(SessionScreen):
    """What a person writes on a recording."""

    def __init__(self) -> None:
        super().__init__()
        self.notebook_folder: Path | None = None
        """Where notebooks lie, if not in the user's state folder."""
        self._masks: dict[str, bytearray] = {}
        """By the name of a mark a byte an event, 1 where it is."""

    def open_debugger(self, recording: Recording) -> Debugger:
        """Return a debugger with the notebook of a recording; one that is only in memory has one in memory."""
        if recording.path is None and self.notebook_folder is None:
            return Debugger(recording, limits=self.stash_app.limits)
        return Debugger.open(recording, self.notebook_folder, limits=self.stash_app.limits)

    def show_marks(self) -> None:
        """Draw the marks of the session's notebook, those of breakpoints and watches as soon as they are known."""
        session = self.session
        assert session is not None
        marked = session.notebook.marks(session.recording)
        self._masks = {}
        for name, flag in (("bookmark", "bookmarked"), ("note", "noted")):
            positions = marked[flag]()
            if positions:
                mask = self._masks[name] = bytearray(session.count)
                for position in positions:
                    mask[position] = 1
        self.timeline.marks, self.status.marks, self.scrubber.marks = self._names, self._words, self._within
        self.timeline.sign, self.timeline.own_columns = self._sign, self._own_columns
        self._draw_marks()
        if session.notebook.breakpoints or session.notebook.watches:
            from stashdbg_core.session.mark_places import mark_steps

            self.work_on("marks", mark_steps(session, self._masks), lambda _: self._draw_marks())
        if session.notebook.problem is not None:
            self.status.show(session.notebook.problem)

    def _draw_marks(self) -> None:
        self.scrubber.refresh()
        self.timeline.forget_rows()
        self.status.refresh()

    def _names(self, position: int) -> list[str]:
        """Return the names of a position's marks, the rarest kinds first."""
        return [name for name in _KINDS if name in self._masks and self._masks[name][position]]

    def _sign(self, position: int) -> str:
        names = self._names(position)
        return sign(names[0]) if names else ""

    def _within(self, start: int, stop: int) -> str | None:
        masks = self._masks
        return next((name for name in _KINDS if name in masks and masks[name].find(1, start, stop) >= 0), None)

    def _words(self, position: int) -> str:
        session = self.session
        if session is None or position < 0:
            return ""
        seq = session.event_at(position).seq
        notes = [f"note: {shorten(note.text, 40)}" for note in session.notebook.notes if note.seq == seq][:1]
        spelled = {"note": "".join(notes), "watch": "a watched path changed"}
        return " · ".join(spelled.get(name, name) for name in self._names(position))

    def _own_columns(self, position: int) -> list[tuple[str, str]]:
        """Return the user's own columns of an event; of values too large to be read for a row, an ellipsis."""
        session = self.session
        columns = session.own_columns() if session is not None else []
        if session is None or not columns:
            return []
        event = session.event_at(position)
        size_of = getattr(session.recording.blobs, "size_of", None)
        large = size_of is not None and any(
            (size_of(ref) or 0) > _READ_FOR_ROWS for ref in (event.ref, event.input_ref) if ref
        )
        return [(column.name, "…" if large else column.text(session.recording, event, 40)) for column in columns]

    def set_column(self, setting: str) -> None:
        """Show a column ``name=expression``, or take away the one of this name."""

        def change(session: Debugger) -> str:
            done = "shown in the timeline; :column NAME takes it away" if session.toggle_column(setting) else "gone"
            return f"column {shorten(setting, 60)} {done}"

        self._change(change)

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
        return rows or [PanelRow([("nothing is marked yet: m bookmark, ; note, b breakpoint", "muted")])]

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
            value = (
                (row.text, "text") if row.text is not None else (f"nothing in the {row.watched} up to here", "muted")
            )
            pieces = [(f"{row.expression}  ", "strong"), value, (since, "muted")]
            rows.append(PanelRow(pieces, (row.expression, position)))
        return rows or [PanelRow([("nothing is watched yet: :watch EXPRESSION, such as paid_out or value.n", "muted")])]
