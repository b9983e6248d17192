"""A thing to switch on or off: ``[x] words``; the tick tells it without colour."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from stashdbg_tui.widgets.one_line import OneLine, Piece


class TickBox(OneLine, can_focus=True):
    """A box and its words.

    Args:
        words: What is switched; a text of ours.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "tick", show=False)]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"tick--box", "tick--words", "tick--focus"}

    class Changed(Message):
        """A person switched it."""

    def __init__(self, words: str, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = words
        self.value = False
        """Whether it is on."""

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return box and words."""
        yield "[x]" if self.value else "[ ]", "tick--focus" if self.has_focus else "tick--box"
        yield f" {self._text}", "tick--words"

    def action_tick(self) -> None:
        """Switch it."""
        self.value = not self.value
        self.refresh()
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """Switch it."""
        event.stop()
        self.focus()
        self.action_tick()

    def on_focus(self) -> None:
        """Show the focus."""
        self.refresh()

    def on_blur(self) -> None:
        """Show that it is gone."""
        self.refresh()
