"""Every key with what it does, from the registry."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from stashdbg_tui.bindings import bindings, closing, keys_now
from stashdbg_tui.commands import COMMANDS, GROUPS, WHERE

_KEYS = 16
_BEFORE = (
    "Lower case goes forward in time, upper case back. Esc closes, never quits. Every screen has a plain-text twin:"
)
_TWINS = "stashdbg show FILE, stats FILE, keys."


class HelpScreen(ModalScreen[None]):
    """The keys as they are bound now."""

    CSS_PATH = "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("reader"), *closing("help")]

    def compose(self) -> ComposeResult:
        """Make the one text."""
        with VerticalScroll(id="help") as frame:
            frame.border_title = "Keys"
            frame.border_subtitle = "Esc closes"
            yield Static(self._text(), id="help-text")

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one("#help", VerticalScroll).scroll_relative(y=lines, animate=False)

    def _text(self) -> Content:
        parts: list[Content | tuple[str, str]] = [(f"{_BEFORE} {_TWINS}\n", "$muted")]
        for group in GROUPS:
            parts.append((f"\n{group}\n", "bold $accent"))
            for entry in COMMANDS:
                if entry.group == group:
                    keys = "  ".join(keys_now(self.app, entry))
                    where = f"  in the {WHERE[entry.scope]}" if entry.scope in ("timeline", "inspector") else ""
                    parts += [(f"  {keys:<{_KEYS}}", "$primary"), (entry.tooltip, ""), (f"{where}\n", "$muted")]
        return Content.assemble(*parts)
