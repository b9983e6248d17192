"""Every key with what it does, from the registry."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from stashdbg_tui.bindings import bindings, closing, keys_now
from stashdbg_tui.command import MAIN_SCOPES, Scope
from stashdbg_tui.commands import COMMANDS, GROUPS, WHERE
from stashdbg_tui.screens.left_once import LeftOnce

_KEYS = 16
_BEFORE = (
    "Lower case goes forward in time, upper case back. Esc closes, never quits. Every screen has a plain-text twin:"
)
_TWINS = "stashdbg show, stats, why, diff, keys."
_PANES = ("timeline", "inspector", "diff-rows", "diff-text")
"""Where the same key does something else in the pane beside it."""
_WIDTH = 92
_FRAME = 7
"""Border, padding and scrollbar."""


class HelpScreen(LeftOnce, ModalScreen[None]):
    """The keys as they are bound now, those of the screen below first.

    Args:
        scopes: Where keys count on that screen.
    """

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("reader"), *closing("help")]

    def __init__(self, scopes: Sequence[Scope] = MAIN_SCOPES) -> None:
        super().__init__()
        here = {entry.group for entry in COMMANDS if entry.scope in scopes and entry.scope != "app"}
        self._groups = sorted(GROUPS, key=lambda group: group not in here)
        self._laid_out = 0
        """The width the text was last laid out to."""

    def compose(self) -> ComposeResult:
        """Make the one text."""
        with VerticalScroll(id="help") as frame:
            frame.border_title = "Keys"
            frame.border_subtitle = "Esc closes"
            yield Static(self._text(), id="help-text")

    def on_resize(self) -> None:
        """Lay the text out to the new width."""
        if self._text_width() != self._laid_out:
            self.query_one("#help-text", Static).update(self._text())

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#help", VerticalScroll).scroll_relative(y=lines, animate=False)

    def _text_width(self) -> int:
        return min(_WIDTH, self.app.size.width * 96 // 100) - _FRAME

    def _text(self) -> Content:
        self._laid_out = width = self._text_width()
        parts: list[Content | tuple[str, str]] = [(f"{_BEFORE} {_TWINS}\n", "$muted")]
        beside = "\n" + " " * (_KEYS + 2)
        for group in self._groups:
            parts.append((f"\n{group}\n", "bold $accent"))
            for entry in COMMANDS:
                if entry.group == group:
                    keys = "  ".join(keys_now(self.app, entry))
                    where = f" ({WHERE[entry.scope].rpartition(', ')[2]})" if entry.scope in _PANES else ""
                    does = beside.join(wrap(entry.tooltip + where, max(width - _KEYS - 2, 16)))
                    lead = f"  {keys:<{_KEYS}}" if len(keys) < _KEYS else f"  {keys}{beside}"
                    parts += [(lead, "$primary"), (f"{does}\n", "")]
        return Content.assemble(*parts)
