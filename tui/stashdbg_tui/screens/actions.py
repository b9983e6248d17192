"""The menu of actions: a letter each; nothing is written before a dialog has asked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings, closing
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.widgets.one_line import OneLine, Piece

ACTIONS = (
    ("v", "verify", "compare the recording with its seal", "verify"),
    ("s", "seal…", "write a seal beside the recording", "seal"),
    ("r", "redact…", "write a copy without the secrets", "redact"),
    ("x", "export report…", "choose and pack a bug report", "report"),
    ("d", "diff with…", "see another recording beside this one", "compare"),
)
"""Letter, name, what it does, and the action of the main screen that it runs."""


class ActionRows(OneLine, can_focus=True):
    """A row an action, the cursor on one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"menu--key", "menu--name", "menu--does", "menu--cursor"}
    DEFAULT_CSS = f"ActionRows {{ height: {len(ACTIONS)}; width: 1fr; }}"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.cursor = 0

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return a row."""
        key, name, does, _ = ACTIONS[y]
        if y == self.cursor:
            yield safe.fit(f"▌{key}  {name:<16}{does}", width), "menu--cursor"
            return
        yield f" {key}  ", "menu--key"
        yield f"{name:<16}", "menu--name"
        yield safe.fit(does, width - 20), "menu--does"

    def go(self, by: int) -> None:
        """Move the cursor, round the ends."""
        self.cursor = (self.cursor + by) % len(ACTIONS)
        self.refresh()


class ActionsScreen(LeftOnce, ModalScreen[str | None]):
    """Returns the chosen action's name, or None."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("menu"),
        *closing("actions", "leave"),
        *(Binding(key, f"letter('{key}')", show=False) for key, *_ in ACTIONS),
    ]

    def compose(self) -> ComposeResult:
        """Make the rows."""
        with Vertical(id="menu", classes="dialog") as frame:
            frame.border_title = "Actions"
            frame.border_subtitle = "a letter, or Enter · Esc closes"
            yield ActionRows(id="menu-rows")

    def action_leave(self) -> None:
        """Choose nothing."""
        self.dismiss(None)

    def action_go(self, by: int) -> None:
        """Move the cursor."""
        self.query_one(ActionRows).go(by)

    def action_letter(self, letter: str) -> None:
        """Choose by letter."""
        self.dismiss(next(action for key, _, _, action in ACTIONS if key == letter))

    def action_choose(self) -> None:
        """Choose the row at the cursor."""
        self.dismiss(ACTIONS[self.query_one(ActionRows).cursor][3])

    def on_click(self, event: events.Click) -> None:
        """Choose the row clicked on; elsewhere choose nothing."""
        rows = self.query_one(ActionRows).region
        if rows.contains(*event.screen_offset):
            self.dismiss(ACTIONS[event.screen_y - rows.y][3])
        else:
            self.dismiss(None)
