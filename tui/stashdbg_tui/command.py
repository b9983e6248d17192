"""What a command of the screen is. This module imports no textual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Scope: TypeAlias = Literal[
    "app", "main", "timeline", "inspector", "panel", "diff", "diff-rows", "diff-text", "forks", "report",
    "reader", "menu", "dialog", "editor", "draft", "proposal",
]  # fmt: skip
"""Where a key counts: everywhere, on one screen, or only while that pane has the focus."""

MAIN_SCOPES: tuple[Scope, ...] = ("app", "main", "timeline", "inspector", "panel")
"""What the palette offers on the main screen; other screens name their own in ``SCOPES``."""

GROUPS = ("Move", "Find", "Inspect", "Trace", "Marks", "Panes", "Forks", "Compare", "Trust", "Dialogs", "General")
"""Help groups, in the order of the help screen."""


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a user can ask for."""

    id: str
    """Stable name, ``noun.verb``; what a keymap file maps."""
    keys: tuple[str, ...]
    """Keys that a user may remap, in Textual's names."""
    title: str
    """A few words: palette, help, key table."""
    tooltip: str
    """One sentence that says what it does."""
    action: str
    """The Textual action that runs it."""
    group: str
    scope: Scope = "main"
    fixed: tuple[str, ...] = ()
    """Keys that always work, such as arrows; not remappable."""
    palette: bool = True
    at_once: bool = False
    """Whether it runs before the focused pane sees the key, so that keys typed right after it go where it leads."""
