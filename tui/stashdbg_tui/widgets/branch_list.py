"""The branches of a folder as a tree of lines, some of them marked."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from stashdbg_core.session.branches import BranchLine
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.widgets.line_view import LineView

_NAME = 44


class BranchList(LineView):
    """A line a branch."""

    BINDINGS = bindings("forks", target="screen.")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "branch--cursor", "branch--lead", "branch--name", "branch--words", "branch--missing", "branch--mark",
    }  # fmt: skip

    class Chosen(Message):
        """A person pointed at a line."""

        def __init__(self, line: int, *, opened: bool) -> None:
            super().__init__()
            self.line = line
            self.opened = opened

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.lines: list[BranchLine] = []
        self.cursor = 0
        self.marked: list[int] = []
        self.open_line: int | None = None
        """The line of the recording that is open."""
        self._wide = 0

    @property
    def row_count(self) -> int:
        """A row a line."""
        return len(self.lines)

    def show_lines(self, lines: list[BranchLine], open_line: int | None) -> None:
        """Show a tree, the cursor on the recording that is open."""
        self.lines, self.open_line, self.marked = lines, open_line, []
        self.cursor = open_line or 0
        names = (safe.cells(line.lead) + safe.cells(safe.shown(line.name[:80])) for line in lines)
        self._wide = min(max(names, default=0), _NAME)
        self.reveal(self.cursor)
        self.forget_rows()

    def go(self, by: int) -> None:
        """Move the cursor."""
        target = min(max(self.cursor + by, 0), max(len(self.lines) - 1, 0))
        old, self.cursor = self.cursor, target
        if not self.reveal(target, 1):
            self.refresh_rows(old, target)

    def toggle_mark(self) -> None:
        """Mark the line at the cursor, or take its mark away; a third mark takes the place of the first."""
        if self.cursor in self.marked:
            self.marked.remove(self.cursor)
        else:
            self.marked = [*self.marked[-1:], self.cursor]
        self.refresh()

    @property
    def cursor_row(self) -> int:
        """The line at the cursor."""
        return self.cursor

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row."""
        line = self.lines[row]
        here = row == self.cursor
        base = self.base_style + (self.style_of("branch--cursor") if here and self.has_focus else Style.null())
        name_look = "branch--missing" if line.branch.file is None else "branch--name"
        name = safe.fit(line.name, max(min(self._wide - safe.cells(line.lead), width - 8), 8))
        parts = [
            ("▌" if here else " ", "branch--mark"),
            ("* " if row in self.marked else "▸ " if row == self.open_line else "  ", "branch--mark"),
            (line.lead, "branch--lead"),
            (name + "  ", name_look),
            (safe.fit(line.words, max(width - 5 - safe.cells(line.lead) - safe.cells(name), 0)), "branch--words"),
        ]
        return Strip([Segment(text, base + self.style_of(look)) for text, look in parts]).adjust_cell_length(
            width, base
        )

    def on_click(self, event: events.Click) -> None:
        """Choose the line clicked on; a double click opens it."""
        row = self.top + event.y
        if event.x < self.size.width - 1 and row < self.row_count:
            self.post_message(self.Chosen(row, opened=event.chain > 1))
