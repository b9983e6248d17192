"""The run as rows, one an event: number, mark, name, duration, and what it said.

Rows are drawn from lazy data when they become visible and kept; moving the cursor draws two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from stashdbg_core.errors import StashError
from stashdbg_core.session.rows import Rows
from stashdbg_core.session.session import Session
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_core.session.words import duration_words
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.theme import channel_colour, channel_glyph, mark_words
from stashdbg_tui.widgets.line_view import LineView
from stashdbg_tui.widgets.strips import marked

if TYPE_CHECKING:
    from stashdbg_core.session.text_match import TextMatch

_MARKS = {"threw": "!", "pending": "…", "damaged": "×"}
"""Signs of what did not go well; each comes with its word."""
_SAMPLE = 400
"""Events looked at to choose the width of the name column."""
_TIME = 8
_SUMMARY = 20
"""Cells that the words of marks leave to the summary before they are shortened."""


class Timeline(LineView):
    """Every event of the recording, the cursor on one."""

    BINDINGS = bindings("timeline", target="screen.")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row--cursor", "row--seq", "row--error", "row--problem", "row--time", "row--key", "row--mark", "row--found",
        *(f"row--channel-{number}" for number in range(1, 7)),
    }  # fmt: skip

    class Chosen(Message):
        """A person pointed at an event."""

        def __init__(self, position: int, *, opened: bool) -> None:
            super().__init__()
            self.position = position
            self.opened = opened
            """Whether by double click, to look into it."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session: Session | None = None
        self.cursor = -1
        """Position of the event at the cursor."""
        self.rows = Rows(None, 0)
        self.match: TextMatch | None = None
        """What is marked in the rows."""
        self.marks: Callable[[int], Sequence[str]] = lambda position: ()
        """Returns the names of a position's marks, the most telling first."""
        self.sign: Callable[[int], str] = lambda position: ""
        """Returns the one sign before a row."""
        self.own_columns: Callable[[int], Sequence[tuple[str, str]]] = lambda position: ()
        """Returns the user's own columns of a position: name and text."""
        self.verdict: Callable[[int], str] = lambda position: ""
        """Returns what a broken seal says of a position."""
        self._digits = 1
        self._channel_width = self._key_width = 1
        self._timed = True
        """Whether any call says how long it took."""

    @property
    def row_count(self) -> int:
        """One row an event that is shown."""
        return len(self.rows) if self.session is not None else 0

    def show_session(self, session: Session) -> None:
        """Show a recording, or a fuller one, with its cursor in sight."""
        self.session = session
        self.cursor = session.position
        if session.count:
            ends = (session.event_at(0).seq, session.event_at(session.count - 1).seq)
            self._digits = min(max(len(str(seq)) for seq in ends), 12)
            columns, sample = session.columns, _sample(session.count)
            self._channel_width = max(_cells(columns.channel_at(place)) for place in sample)
            self._key_width = max(_cells(columns.key_at(place)) for place in sample) + 1
            self._timed = any(columns.ms_at(place) is not None for place in sample)
        self.show_rows(Rows(None, session.count))

    def show_rows(self, rows: Rows) -> None:
        """Show these rows, the cursor's in sight."""
        self.rows = rows
        self.top = max(min(self.top, self.row_count - self.page_rows), 0)
        self.reveal(rows.row(self.cursor))
        self.forget_rows()

    def show_cursor(self, position: int) -> None:
        """Put the cursor on a row; draws the old and the new one, or all when it had to scroll."""
        old, self.cursor = self.cursor, position
        row = self.rows.row(position)
        if not self.reveal(row):
            self.refresh_rows(self.rows.row(old), row)

    def recentre(self) -> None:
        """Scroll the cursor's row into the middle."""
        self.scroll_to_row(self.rows.row(self.cursor) - self.page_rows // 2)

    def mark(self, match: TextMatch | None) -> None:
        """Mark a text in the rows."""
        self.match = match
        self.forget_rows()

    @property
    def cursor_row(self) -> int:
        """The row of the event at the cursor."""
        return self.rows.row(self.cursor)

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row, drawn before or drawn now."""
        position = self.rows.position(row)
        at_cursor = position == self.cursor
        key = (position, width, at_cursor, at_cursor and self.has_focus)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._drawn(position, width, at_cursor)
            if self.match is not None:
                strip = marked(strip, self._found(strip.text, self.match), self.style_of("row--found"))
            self._strips[key] = strip
        return strip

    def _found(self, text: str, match: TextMatch) -> list[tuple[int, int]]:
        try:
            return list(match.spans(text))
        except StashError:
            return []

    def _drawn(self, position: int, width: int, at_cursor: bool) -> Strip:
        session = self.session
        assert session is not None
        event = session.event_at(position)
        base = self.base_style + (self.style_of("row--cursor") if at_cursor else Style.null())
        word = outcome_word(event)
        plain = at_cursor and self.app.native_ansi_color  # a reversed row of many colours cannot be read
        style_of = (lambda _: Style.null()) if plain else self.style_of
        colour = style_of(f"row--channel-{channel_colour(event.channel)}")
        marks = self.marks(position)
        mark = _MARKS.get(word, "" if event.outcome == "return" else "?")
        troubled = style_of("row--error" if word == "threw" else "row--problem") if mark else colour
        indent = "" if event.parent is None else "└ "
        channel_width, key_width = self._name_widths(width)
        parts: list[tuple[str, Style]] = [
            ("▌" if at_cursor else " ", colour),
            (safe.fit(self.sign(position), 1), style_of("row--mark")),
            (f"{safe.fit(str(event.seq), self._digits).strip():>{self._digits}} ", style_of("row--seq")),
            (f"{mark or channel_glyph(event.channel)} ", troubled),
            (safe.fit(event.channel, channel_width) + " ", colour),
            (indent, style_of("row--seq")),
            (safe.fit(event.key, key_width - len(indent)) + " ", style_of("row--key")),
        ]
        if width >= 48 and self._timed:
            parts.append(
                (f"{duration_words(event.ms) if event.ms is not None else '':>{_TIME}}", style_of("row--time"))
            )
        parts.append(("  ", Style.null()))
        verdict = self.verdict(position)
        if verdict:
            parts.append((f"seal broken: {verdict}  ", style_of("row--error")))
        stretch = self.rows.stretch(position)
        if stretch > 1:
            parts.append(
                (f"▸ {stretch} of lane {safe.fit(event.thread or 'main', 16).strip()}  ", style_of("row--mark"))
            )
        left = width - sum(safe.cells(text) for text, _ in parts)
        said = mark_words(marks, left - _SUMMARY, left - 1)
        if said:
            parts.append((f"{said} ", style_of("row--mark")))
            left -= len(said) + 1
        for name, text in self.own_columns(position):
            shown = safe.fit(text, min(max(left // 4, 8), 24)).rstrip() or "-"
            label = f"{safe.shown(name[:16])}="
            if safe.cells(label) + safe.cells(shown) + 2 > left:
                break
            parts += [(label, style_of("row--seq")), (f"{shown}  ", style_of("row--key"))]
            left -= safe.cells(label) + safe.cells(shown) + 2
        if mark and left > len(word) + 4:
            parts.append((f"{safe.shown(word)} ", troubled))
            left -= safe.cells(safe.shown(word)) + 1
        if left > 0:
            said = summary(session.recording, event, max(left, 16))
            parts.append((safe.fit(said, left), troubled if mark else Style.null()))
        return Strip([Segment(text, base + style) for text, style in parts if text]).adjust_cell_length(width, base)

    def _name_widths(self, width: int) -> tuple[int, int]:
        """Return the cells of channel and key: as wide as they are, up to what a row can spare."""
        return min(self._channel_width, max(width // 10, 6)), min(self._key_width, max(width // 4, 8))

    def on_click(self, event: events.Click) -> None:
        """Choose the event clicked on; a double click looks into it."""
        row = self.top + event.y
        if event.x < self.size.width - 1 and row < self.row_count:
            self.post_message(self.Chosen(self.rows.position(row), opened=event.chain > 1))


def _cells(text: str) -> int:
    return safe.cells(safe.shown(text[:60]))


def _sample(count: int) -> list[int]:
    """Return some hundred positions: the first ones, and others by an odd step, for runs often alternate."""
    return [*range(min(count, _SAMPLE // 2)), *range(0, count, (count // _SAMPLE) | 1)]
