"""``stashdbg diff`` on a terminal: the app with a comparison as its first screen."""

from __future__ import annotations

from pathlib import Path

from textual import on

from stashdbg_core.store.limits import Limits
from stashdbg_tui.app import StashApp
from stashdbg_tui.screens.diff import DiffScreen
from stashdbg_tui.workers.differ import DiffFailed


class FirstDiffScreen(DiffScreen):
    """A comparison that nothing lies under: Esc stays on it, and what cannot be read ends the app."""

    def leave(self) -> None:
        """Stay: Esc never quits."""
        if self.comparison is None:
            self.app.exit()
        else:
            self.status.show("q quits")

    @on(DiffFailed)
    def _end(self) -> None:
        self.app.exit()


class DiffApp(StashApp):
    """The debugger, begun with a comparison.

    Args:
        sides: The two files.
        limits: What a file may hold before it is refused.
        theme: See ``StashApp``.
        align: ``content`` or ``identity``.
    """

    def __init__(
        self,
        sides: tuple[Path, Path],
        *,
        limits: Limits | None = None,
        theme: str | None = None,
        align: str = "content",
    ) -> None:
        super().__init__((), limits=limits, theme=theme)
        self.diff_screen = FirstDiffScreen(sides, limits=self.limits, align=align)
        self._sides = sides

    async def on_mount(self) -> None:
        """Show the comparison over the debugger, which is mounted by the class above."""
        self.call_later(self._begin)

    def _begin(self) -> None:
        self.paths = list(self._sides)
        self.push_screen(self.diff_screen)

    def action_close(self) -> None:
        """Close the topmost view; leave when it is the comparison."""
        if self.screen is self.diff_screen:
            self.exit()
        else:
            super().action_close()


def run_diff(
    a: Path, b: Path, *, limits: Limits | None = None, theme: str | None = None, align: str = "content"
) -> int | None:
    """Show what two recordings differ in until the user leaves.

    Returns:
        1 if they differ, 0 if not, None if the user left before that was known.

    Raises:
        StashError: One of them cannot be read.
    """
    app = DiffApp((a, b), limits=limits, theme=theme, align=align)
    app.suit_the_user()
    app.run()
    if app.diff_screen.failure is not None:
        raise app.diff_screen.failure
    if app.return_code:
        return app.return_code
    comparison = app.diff_screen.comparison
    return None if comparison is None else int(not comparison.same)
