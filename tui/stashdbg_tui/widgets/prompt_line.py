"""The ``:`` prompt: one line of typing that a person ends with Enter or Esc."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Label

_LONGEST = 4096


class PromptLine(Horizontal):
    """Hidden until opened; keeps nothing of what was typed before."""

    DEFAULT_CSS = """
    PromptLine { height: 0; background: $panel; }
    PromptLine.-open { height: 1; }
    PromptLine Label { width: 2; color: $accent; text-style: bold; padding-left: 1; }
    PromptLine Input { height: 1; border: none; padding: 0; background: $panel; width: 1fr; }
    PromptLine Input:focus { border: none; background-tint: initial; }
    """

    class Entered(Message):
        """A person typed something and pressed Enter."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """A person pressed Esc, or deleted past the start."""

    def compose(self) -> ComposeResult:
        """Make the sign and the field."""
        yield Label(":", markup=False)
        yield Input(
            compact=True,
            max_length=_LONGEST,
            select_on_focus=False,
            placeholder="123  +20  -5  50%  llm:3  q  write FILE",
        )

    def open(self, text: str = "") -> None:
        """Show the prompt and take the keys."""
        self.add_class("-open")
        field = self.query_one(Input)
        field.value = text
        # At once, and with no display: none to wait for: the next key may be here already.
        self.screen.set_focus(field)

    def close(self) -> None:
        """Hide the prompt."""
        self.remove_class("-open")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand on what was typed."""
        event.stop()
        self.close()
        self.post_message(self.Entered(event.value))

    def on_key(self, event: events.Key) -> None:
        """Leave on Esc, and on Backspace in an empty prompt."""
        if event.key == "escape" or (event.key == "backspace" and not self.query_one(Input).value):
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Left())
