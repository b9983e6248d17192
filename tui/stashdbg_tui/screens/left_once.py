"""A screen that is left once: keys typed before it was gone must not take the one below it down, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.await_complete import AwaitComplete

if TYPE_CHECKING:
    from textual.screen import Screen

    _Screen = Screen[Any]
else:
    _Screen = object  # not a node: Textual takes default styles from the first base that is one, a modal screen's too


class LeftOnce(_Screen):
    """Stands before ``Screen`` among the bases of every screen that may be left."""

    @property
    def is_left(self) -> bool:
        """Whether it was left and is about to go, its parts perhaps gone already."""
        return self not in self.app.screen_stack

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Leave with a result; nothing happens unless this is the screen on top."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()
