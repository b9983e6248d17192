"""One key more: a line of choices that the next key answers, whatever that key means elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from stashdbg_tui.widgets.one_line import OneLine, Piece

Choice = tuple[str, str, str]
"""Key, word, and the action that the key runs."""


class ChoiceLine(OneLine, can_focus=True):
    """Hidden until opened; closes with the next key."""

    DEFAULT_CSS = """
    ChoiceLine { height: 0; }
    ChoiceLine.-open { height: 1; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"choice--title", "choice--key", "choice--word"}

    class Left(Message):
        """A key was pressed; with the action it stands for, if any."""

        def __init__(self, action: str | None) -> None:
            super().__init__()
            self.action = action

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = ""
        self._choices: Sequence[Choice] = ()
        self._hidden: Sequence[Choice] = ()

    def open(self, title: str, choices: Sequence[Choice], hidden: Sequence[Choice] = ()) -> None:
        """Ask, and take the keys at once; hidden choices count and are not shown."""
        self._title, self._choices, self._hidden = title, choices, hidden
        self.add_class("-open")
        self.refresh()
        self.screen.set_focus(self)

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the choices."""
        yield f" {self._title}  ", "choice--title"
        for key, word, _ in self._choices:
            yield key, "choice--key"
            yield f" {word}  ", "choice--word"
        yield "Esc", "choice--key"
        yield " nothing", "choice--word"

    def on_key(self, event: events.Key) -> None:
        """Answer with a key."""
        event.stop()
        event.prevent_default()
        choices = (*self._choices, *self._hidden)
        self._leave(next((action for key, _, action in choices if event.character == key), None))

    def on_blur(self) -> None:
        """Close when something else takes the focus."""
        self.remove_class("-open")

    def on_click(self, event: events.Click) -> None:
        """Answer with a click."""
        edge = len(self._title) + 3
        for key, word, action in self._choices:
            start, edge = edge, edge + len(key) + len(word) + 3
            if start <= event.x < edge:
                self._leave(action)
                return
        self._leave(None)

    def _leave(self, action: str | None) -> None:
        self.remove_class("-open")
        self.post_message(self.Left(action))
