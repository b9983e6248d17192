"""The last line of the screen: the few keys worth knowing here, as they are bound now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events

from stashdbg_tui.bindings import keys_now
from stashdbg_tui.commands import COMMANDS, command
from stashdbg_tui.widgets.one_line import OneLine, Piece

_PAIRS = {"step.forward": "step.back"}
"""Commands shown as one label with their reverse."""


class KeyLine(OneLine):
    """Keys and labels from the registry; a click runs the command."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--label"}

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._hidden: tuple[str, ...] = ("program.run", "program.stop")

    def hide(self, *ids: str) -> None:
        """Leave out commands that do nothing now."""
        if ids != self._hidden:
            self._hidden = ids
            self.refresh()

    def on_mount(self) -> None:
        """Draw anew when a keymap is set."""
        self._edges: list[tuple[int, str]] = []
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return as many keys as fit."""
        used, self._edges = 1, []
        yield " ", ""
        for entry in COMMANDS:
            if entry.footer is None or entry.id in _PAIRS.values() or entry.id in self._hidden:
                continue
            keys = keys_now(self.app, entry)[:1]
            if entry.id in _PAIRS:
                keys += keys_now(self.app, command(_PAIRS[entry.id]))[:1]
            text = "/".join(keys)
            size = len(text) + 1 + len(entry.footer) + 2
            if used + size - 2 > width:
                return
            used += size
            self._edges.append((used, entry.id))
            yield text, "keys--key"
            yield f" {entry.footer}  ", "keys--label"

    async def on_click(self, event: events.Click) -> None:
        """Run the command clicked on."""
        for edge, command_id in self._edges:
            if event.x < edge:
                await self.screen.run_action(command(command_id).action)
                return
