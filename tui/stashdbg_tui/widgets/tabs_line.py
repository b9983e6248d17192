"""The inspector's header: which part of the event is shown, and how large it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, get_args

from textual import events
from textual.message import Message

from stashdbg_core.session.inspection import Part
from stashdbg_tui import safe
from stashdbg_tui.widgets.one_line import OneLine, Piece

PARTS: tuple[Part, ...] = get_args(Part)
_SHORT: dict[Part, str] = {"value": "val", "input": "inp", "change": "chg", "source": "src", "fields": "fld"}
_WORDS = 12
"""Cells kept for words about what is wrong before tabs are written short; other words give way to the names."""


class TabsLine(OneLine):
    """``1 value  2 input  3 change``, the shown one marked, and a word about it at the right."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "tabs--tab", "tabs--active", "tabs--focused", "tabs--words", "tabs--problem",
    }  # fmt: skip

    class Chosen(Message):
        """A person pointed at a tab."""

        def __init__(self, part: Part) -> None:
            super().__init__()
            self.part = part

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.part: Part = "value"
        self.words = ""
        self.trouble = False
        self._entered = False

    def show(self, part: Part, words: str, *, trouble: bool = False) -> None:
        """Mark a tab, and say how large its content is or what is wrong with it."""
        if (part, words, trouble) != (self.part, self.words, self.trouble):
            self.part, self.words, self.trouble = part, words, trouble
            self.refresh()

    def show_focus(self, entered: bool) -> None:
        """Mark whether the keys go into what is shown."""
        if entered != self._entered:
            self._entered = entered
            self.refresh()

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the tabs, and the words at the right end."""
        used, active = 0, "tabs--focused" if self._entered else "tabs--active"
        for text, part in self._tabs(width):
            used += len(text)
            yield text, active if part == self.part else "tabs--tab"
        room = width - used - 2  # a blank on either side
        if room > 3:
            words = self.words if self.trouble else _that_fit(self.words, room)
            size = safe.cells(safe.shown(words))
            text = safe.fit(words, min(size, room)) if self.trouble or size <= room else ""  # no stump of a word
            yield " " * (room + 1 - safe.cells(text)), ""
            yield text, "tabs--problem" if self.trouble else "tabs--words"

    def _tabs(self, width: int) -> list[tuple[str, Part]]:
        """Return the tabs' labels, short ones where the whole names leave no room."""
        whole = [(f" {number} {part} ", part) for number, part in enumerate(PARTS, 1)]
        if sum(len(text) for text, _ in whole) + (min(len(self.words), _WORDS) + 2 if self.trouble else 0) < width:
            return whole
        return [
            (text if part == self.part else f" {number} {_SHORT.get(part, part)}", part)
            for number, (text, part) in enumerate(whole, 1)
        ]

    def on_click(self, event: events.Click) -> None:
        """Choose the tab clicked on."""
        edge = 0
        for text, part in self._tabs(self.size.width):
            edge += len(text)
            if event.x < edge:
                self.post_message(self.Chosen(part))
                return


def _that_fit(words: str, room: int) -> str:
    """Return words without the last of their parts, ``2 messages · 900 tokens``, that find no room."""
    while safe.cells(safe.shown(words)) > room and (end := max(words.rfind(" · "), words.rfind(", "))) > 0:
        words = words[:end]
    return words
