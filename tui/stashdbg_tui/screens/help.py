"""Every key with what it does, from the registry."""

from __future__ import annotations

from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from stashdbg_tui.bindings import bindings, closing, keys_now
from stashdbg_tui.commands import COMMANDS, GROUPS, WHERE
from stashdbg_tui.screens.left_once import LeftOnce

_KEYS = 16
_BEFORE = (
    "Lower case goes forward in time, upper case back. Esc closes, never quits. Every screen has a plain-text twin:"
)
_TWINS = "stashdbg show, stats, why, diff, keys."
_WIDTH = 92
_FRAME = 7
"""Border, padding and scrollbar."""


class HelpScreen(LeftOnce, ModalScreen[None]):
    """The keys as they are bound now."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("reader"), *closing("help")]

    def compose(self) -> ComposeResult:
        """Make the one text."""
        with VerticalScroll(id="help") as frame:
            frame.border_title = "Keys"
            frame.border_subtitle = "Esc closes"
            yield Static(id="help-text")

    def on_resize(self) -> None:
        """Lay the text out to the new width."""
        self.query_one("#help-text", Static).update(self._text(min(_WIDTH, self.size.width * 96 // 100) - _FRAME))

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#help", VerticalScroll).scroll_relative(y=lines, animate=False)

    def _text(self, width: int) -> Content:
        parts: list[Content | tuple[str, str]] = [(f"{_BEFORE} {_TWINS}\n", "$muted")]
        beside = "\n" + " " * (_KEYS + 2)
        for group in GROUPS:
            parts.append((f"\n{group}\n", "bold $accent"))
            for entry in COMMANDS:
                if entry.group == group:
                    keys = "  ".join(keys_now(self.app, entry))
                    where = f" ({WHERE[entry.scope]})" if entry.scope in ("timeline", "inspector") else ""
                    does = beside.join(wrap(entry.tooltip + where, max(width - _KEYS - 2, 16)))
                    parts += [(f"  {keys:<{_KEYS}}", "$primary"), (f"{does}\n", "")]
        return Content.assemble(*parts)
