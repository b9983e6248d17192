"""The line a person types at: where to go, what to look for, what to show. Enter ends it, Esc leaves it.

Up and Down bring back what was answered before to a question of the kind, Right takes what is offered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input, Label

from stashdbg_tui.history import History

_LONGEST = 4096

Words: TypeAlias = Callable[[], Sequence[str]]
"""Returns what can be offered while a line is typed."""


@dataclass(frozen=True, slots=True)
class Question:
    """A kind of thing that is asked for."""

    sign: str
    placeholder: str


QUESTIONS = {
    ":": Question(":", "123  +20  -5  50%  llm:3  @2  write FILE  break QUERY  watch EXPRESSION  note TEXT  q"),
    "/": Question("/", "a text, or /regex/"),
    "f": Question("filter", 'channel:llm key:search* ms:>1s is:error value:refund -word "two words" /regex/'),
    "note": Question("note", "a note on this event"),
}


class _Offers(Suggester):
    """Completes the last word from the words that the screen knows."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.words: Words = lambda: ()

    async def get_suggestion(self, value: str) -> str | None:
        """Return the line with its last word completed."""
        head, last = value[: value.rfind(" ") + 1], value[value.rfind(" ") + 1 :]
        if not last:
            return None
        return next((head + word for word in self.words() if word.startswith(last) and word != last), None)


class _Line(Input):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+j", "submit", show=False)]
    """An Enter typed before the screen took the terminal arrives as a line feed."""

    class Refused(Message):
        """What was typed or pasted does not fit."""

    def restricted(self) -> None:
        """Ring, and let it be said why."""
        super().restricted()
        self.post_message(self.Refused())


class PromptLine(Horizontal):
    """Hidden until opened."""

    DEFAULT_CSS = """
    PromptLine { height: 0; background: $panel; }
    PromptLine.-open { height: 1; }
    PromptLine Label { width: auto; color: $accent; text-style: bold; padding: 0 1; }
    PromptLine Input { height: 1; border: none; padding: 0; background: $panel; width: 1fr; }
    PromptLine Input:focus { border: none; background-tint: initial; }
    """

    class Entered(Message):
        """A person typed something and pressed Enter."""

        def __init__(self, kind: str, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Left(Message):
        """A person pressed Esc, or deleted past the start."""

    class Refused(Message):
        """Something could not be typed or pasted."""

        def __init__(self, reason: str) -> None:
            super().__init__()
            self.reason = reason

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.kind = ":"
        self._offers = _Offers()
        self.history = History()
        self._back = 0
        """How far back in the answers the line shown is."""

    def compose(self) -> ComposeResult:
        """Make the sign and the field."""
        yield Label(":", markup=False)
        yield _Line(compact=True, max_length=_LONGEST, select_on_focus=False, suggester=self._offers)

    def open(self, kind: str, words: Words, text: str = "") -> None:
        """Ask for something and take the keys."""
        self.kind, self._back = kind, 0
        self._offers.words = words
        self.add_class("-open")
        question = QUESTIONS[kind]
        self.query_one(Label).update(Content(question.sign))
        field = self.query_one(Input)
        field.placeholder = question.placeholder
        field.value = text
        field.cursor_position = len(text)
        # At once, and with no display: none to wait for: the next key may be here already.
        self.screen.set_focus(field)

    def close(self) -> None:
        """Hide the prompt."""
        self.remove_class("-open")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Hand on what was typed."""
        event.stop()
        self.close()
        self.history.add_line(self.kind, event.value)
        self.post_message(self.Entered(self.kind, event.value))

    @on(_Line.Refused)
    def _refused(self, message: _Line.Refused) -> None:
        message.stop()
        self.post_message(self.Refused(f"a line here has at most {_LONGEST:,} characters"))

    def on_key(self, event: events.Key) -> None:
        """Leave on Esc, and on Backspace in an empty prompt; look through earlier answers."""
        if event.key == "escape" or (event.key == "backspace" and not self.query_one(Input).value):
            event.stop()
            event.prevent_default()
            self.close()
            self.post_message(self.Left())
        elif event.key in ("up", "down"):
            event.stop()
            event.prevent_default()
            answers = self.history.lines(self.kind)
            self._back = max(min(self._back + (1 if event.key == "up" else -1), len(answers)), 0)
            field = self.query_one(Input)
            field.value = answers[-self._back] if self._back else ""
            field.cursor_position = len(field.value)
