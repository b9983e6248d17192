"""The last line of a screen: the few keys worth knowing there, as they are bound now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import ClassVar, TypeAlias

from textual import events
from textual.actions import parse
from textual.content import Content

from stashdbg_tui import safe
from stashdbg_tui.bindings import keys_now
from stashdbg_tui.commands import command
from stashdbg_tui.widgets.one_line import OneLine, Piece

Keys: TypeAlias = Sequence[tuple[str, str]]
"""Ids of commands, two with a slash between for a pair, and a word for each."""

_ALWAYS = 2
"""Keys at the end that stay however narrow a screen is: help, and the way out."""


class KeyLine(OneLine):
    """Keys and what they do; a click runs the command."""

    DEFAULT_CSS = """
    KeyLine > .keys--key { color: $accent; text-style: bold; }
    KeyLine > .keys--label { color: $muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--label"}

    def __init__(self, shown: Keys, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown = shown
        self._edges: list[tuple[int, str]] = []

    def show(self, shown: Keys) -> None:
        """Name other keys."""
        if shown != self._shown:
            self._shown = shown
            self.refresh()

    def on_mount(self) -> None:
        """Draw anew when a keymap is set."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return as many keys as fit, help and the way out among them."""
        keys = [(self._key_text(ids), word, ids.split("/")[0]) for ids, word in self._shown]
        sizes = [safe.cells(text) + len(word) + 3 for text, word, _ in keys]
        middle = len(keys) - _ALWAYS
        while middle > 0 and 1 + sum(sizes[:middle]) + sum(sizes[-_ALWAYS:]) - 2 > width:
            middle -= 1
        used, self._edges = 1, []
        yield " ", ""
        for place in (*range(middle), *range(len(keys) - _ALWAYS, len(keys))):
            text, word, command_id = keys[place]
            used += sizes[place]
            self._edges.append((used, command_id))
            yield text, "keys--key"
            yield f" {word}  ", "keys--label"

    def _key_text(self, ids: str) -> str:
        names = [name for one in ids.split("/") for name in keys_now(self.app, command(one))[:1]]
        return "/".join(name for name, _ in groupby(names))

    async def on_click(self, event: events.Click) -> None:
        """Run the command clicked on, where its key would run it: in the pane, on the screen or in the app."""
        for edge, command_id in self._edges:
            if event.x < edge:
                action = command(command_id).action
                method = f"action_{parse(action)[1]}"
                owners = (self.screen.focused, self.screen, self.app)
                owner = next(owner for owner in owners if owner is not None and hasattr(owner, method))
                await owner.run_action(action)
                return


def key_words(keys: Sequence[tuple[str, str]]) -> Content:
    """Return keys that are no commands, such as those of a field, in the same looks."""
    return Content("  ").join(Content.assemble((key, "bold $accent"), f" {does}") for key, does in keys)
