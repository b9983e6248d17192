"""Things to open, two lines each: what it is, and when, by whom and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from stashdbg_core.session.choices import Choice
from stashdbg_tui import safe
from stashdbg_tui.widgets.line_view import LineView

_LINES = 2


class PickList(LineView, can_focus=False):
    """A pair of lines a choice; the search field keeps the focus."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"pick--cursor", "pick--title", "pick--facts", "pick--mark"}

    class Chosen(Message):
        """A person pointed at a choice."""

        def __init__(self, index: int, *, opened: bool) -> None:
            super().__init__()
            self.index = index
            self.opened = opened

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.choices: Sequence[Choice] = ()
        self.cursor = 0

    @property
    def row_count(self) -> int:
        """Two rows a choice."""
        return _LINES * len(self.choices)

    @property
    def chosen(self) -> Choice | None:
        """The choice at the cursor."""
        return self.choices[self.cursor] if self.choices else None

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Show choices, the cursor on the first."""
        self.choices, self.cursor, self.top = choices, 0, 0
        self.forget_rows()

    def go(self, by: int) -> None:
        """Move the cursor."""
        old = self.cursor
        self.cursor = min(max(old + by, 0), max(len(self.choices) - 1, 0))
        moved = self.reveal(_LINES * self.cursor, 0)
        if not self.reveal(_LINES * self.cursor + 1, 0) and not moved:
            self.refresh_rows(_LINES * old, _LINES * old + 1, _LINES * self.cursor, _LINES * self.cursor + 1)

    @property
    def cursor_row(self) -> int:
        """The first row of the choice at the cursor."""
        return _LINES * self.cursor

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row."""
        index, second = divmod(row, _LINES)
        choice = self.choices[index]
        here = index == self.cursor
        base = self.base_style + (self.style_of("pick--cursor") if here else Style.null())
        if second:
            facts = "  ".join(part for part in (choice.when, choice.facts, choice.place) if part)
            parts = [("    ", "pick--mark"), (safe.fit(facts, max(width - 4, 0)), "pick--facts")]
        else:
            parts = [("▌ " if here else "  ", "pick--mark"), (safe.fit(choice.title, max(width - 2, 0)), "pick--title")]
        return Strip([Segment(text, base + self.style_of(look)) for text, look in parts]).adjust_cell_length(
            width, base
        )

    def on_click(self, event: events.Click) -> None:
        """Choose what was clicked on; a double click opens it."""
        row = self.top + event.y
        if event.x < self.size.width - 1 and row < self.row_count:
            self.post_message(self.Chosen(row // _LINES, opened=event.chain > 1))
