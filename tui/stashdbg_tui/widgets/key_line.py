"""The last line of the screen: the few keys worth knowing here, as they are bound now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events

from stashdbg_tui.bindings import keys_now
from stashdbg_tui.command import Command
from stashdbg_tui.commands import COMMANDS, command
from stashdbg_tui.widgets.one_line import OneLine, Piece

_PAIRS = {"step.forward": "step.back"}
"""Commands shown as one label with their reverse."""
_KEPT = ("help", "view.close")
"""Commands that keep their place where there is little room."""
_GAP = 2


class KeyLine(OneLine):
    """Keys and labels from the registry; a click runs the command."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"keys--key", "keys--label"}

    def __init__(self, *, id: str | None = None) -> None:
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
        """Return as many keys as fit; help and quit are the last to go."""
        shown = [
            (entry.id, "/".join(self._keys(entry)), entry.footer)
            for entry in COMMANDS
            if entry.footer is not None and entry.id not in _PAIRS.values() and entry.id not in self._hidden
        ]
        while len(shown) > 1 and 1 + sum(_cells(key) for key in shown) - _GAP > width:
            shown.remove(next((key for key in reversed(shown) if key[0] not in _KEPT), shown[0]))
        used, self._edges = 1, []
        yield " ", ""
        for key in shown:
            used += _cells(key)
            self._edges.append((used, key[0]))
            yield key[1], "keys--key"
            yield f" {key[2]}{' ' * _GAP}", "keys--label"

    def _keys(self, entry: Command) -> list[str]:
        keys = keys_now(self.app, entry)[:1]
        if entry.id in _PAIRS:
            keys += keys_now(self.app, command(_PAIRS[entry.id]))[:1]
        return keys

    async def on_click(self, event: events.Click) -> None:
        """Run the command clicked on."""
        for edge, command_id in self._edges:
            if event.x < edge:
                await self.screen.run_action(command(command_id).action)
                return


def _cells(key: tuple[str, str, str]) -> int:
    return len(key[1]) + 1 + len(key[2]) + _GAP
