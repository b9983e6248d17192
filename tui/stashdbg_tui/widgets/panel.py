"""A list below the inspector: marks, lanes, watches, recordings, the evidence of a why; one at a time.

It keeps the focus while a person jumps along it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.widgets.line_view import LineView


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A line: recorded text, unsanitised, in pieces with their looks."""

    pieces: Sequence[tuple[str, str]]
    """Text and the name of a component without ``panel--``."""
    target: object = None
    """What choosing it is about; None for a line that is only read."""


class Panel(LineView):
    """Lines of which some can be chosen; the first row is the title."""

    BINDINGS = bindings("panel")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "panel--title", "panel--cursor", "panel--strong", "panel--muted", "panel--error", "panel--evidence",
        "panel--text",
    }  # fmt: skip

    class Chosen(Message):
        """A person chose a line, or asked to take away what it stands for."""

        def __init__(self, kind: str, target: object, *, drop: bool = False) -> None:
            super().__init__()
            self.kind = kind
            self.target = target
            self.drop = drop

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.kind = ""
        """What is listed; empty while closed."""
        self.title = ""
        self.rows: Sequence[PanelRow] = ()
        self.cursor = 0
        """The line at the cursor; negative where lines are only read."""

    @property
    def row_count(self) -> int:
        """A row each."""
        return len(self.rows)

    def show_rows(self, kind: str, title: str, rows: Sequence[PanelRow]) -> None:
        """List something; the same list anew keeps its cursor."""
        self.cursor = min(self.cursor, max(len(rows) - 1, 0)) if kind == self.kind else _first(rows)
        self.kind, self.title, self.rows = kind, title, rows
        self.top = max(min(self.top, len(rows) - self.page_rows), 0)
        self.border_title = safe.line(f" {title} ") if title else None
        self.forget_rows()

    @property
    def cursor_row(self) -> int:
        """The line at the cursor; negative where lines are only read."""
        return self.cursor

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row."""
        entry = self.rows[row]
        at_cursor = row == self.cursor
        base = self.base_style + (self.style_of("panel--cursor") if at_cursor and self.has_focus else Style.null())
        mark = "" if self.cursor < 0 else "▌" if at_cursor else " "
        segments, left = [Segment(mark, base)], width - len(mark)
        plain = at_cursor and self.has_focus and self.app.native_ansi_color
        for text, look in entry.pieces:
            shown = safe.fit(text, min(left, safe.cells(safe.shown(text[: 4 * width]))))
            left -= safe.cells(shown)
            segments.append(Segment(shown, base if plain else base + self.style_of(f"panel--{look}")))
            if left <= 0:
                break
        return Strip(segments).adjust_cell_length(width, base)

    def action_go(self, by: int) -> None:
        """Move to the next line that can be chosen."""
        row = self.cursor + by
        while 0 <= row < len(self.rows) and self.rows[row].target is None:
            row += by
        if 0 <= row < len(self.rows):
            old, self.cursor = self.cursor, row
            if not self.reveal(row, 1):
                self.refresh_rows(old, row)
        else:
            self.scroll_rows(by)

    def action_choose(self) -> None:
        """Choose the line at the cursor."""
        self._choose(drop=False)

    def action_drop(self) -> None:
        """Take away what the line at the cursor stands for."""
        self._choose(drop=True)

    def _choose(self, *, drop: bool) -> None:
        if 0 <= self.cursor < len(self.rows) and self.rows[self.cursor].target is not None:
            self.post_message(self.Chosen(self.kind, self.rows[self.cursor].target, drop=drop))

    def on_click(self, event: events.Click) -> None:
        """Choose the line clicked on."""
        offset = event.get_content_offset(self)
        row = self.top + offset.y if offset is not None else -1
        if 0 <= row < len(self.rows) and self.rows[row].target is not None:
            old, self.cursor = self.cursor, row
            self.refresh_rows(old, row)
            self._choose(drop=False)


def _first(rows: Sequence[PanelRow]) -> int:
    return next((place for place, row in enumerate(rows) if row.target is not None), 0)
