"""The command palette: every command of the registry, and every file given on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from stashdbg_tui import safe
from stashdbg_tui.bindings import keys_now
from stashdbg_tui.command import MAIN_SCOPES
from stashdbg_tui.commands import in_scope
from stashdbg_tui.screens.left_once import LeftOnce

if TYPE_CHECKING:
    from textual.worker import Worker

    from stashdbg_tui.app import StashApp


class Palette(LeftOnce, CommandPalette):
    """Textual's palette, but for two faults of Textual 8.2 that end the app when keys come fast.

    It looks for its list when it was closed meanwhile, and pages through a list that was not laid out yet.
    """

    def run_worker(self, *arguments: Any, **options: Any) -> Worker[Any]:
        """Do as every node does, but take no worker's failure as the app's."""
        return super().run_worker(*arguments, **{**options, "exit_on_error": False})

    def _action_command_list(self, action: str) -> None:
        with suppress(KeyError):
            super()._action_command_list(action)


class CommandsProvider(Provider):
    """Finds commands by their title."""

    async def discover(self) -> Hits:
        """Yield everything, in the registry's order."""
        for title, help_text, run in self._entries():
            yield DiscoveryHit(title, run, text=title.plain, help=help_text)

    async def search(self, query: str) -> Hits:
        """Yield what matches, the best first."""
        matcher = self.matcher(query)
        for title, help_text, run in self._entries():
            score = matcher.match(title.plain)
            if score > 0:
                yield Hit(score, matcher.highlight(title.plain), run, text=title.plain, help=help_text)

    def _entries(self) -> Iterator[tuple[Content, str, Callable[[], object]]]:
        app = cast("StashApp", self.app)
        scopes = getattr(self.screen, "SCOPES", None)
        screen = app.main_screen if scopes is None else self.screen
        for entry in in_scope(*(scopes or MAIN_SCOPES)):
            if entry.palette:
                keys = " ".join(keys_now(self.app, entry)[:2])
                help_text = f"{entry.tooltip}  ({keys})" if keys else entry.tooltip
                run = partial(screen.run_action, entry.action)
                yield Content(entry.title), Content(help_text).markup, run
        for path in app.paths[: 50 if len(app.paths) > 1 else 0]:
            yield safe.line(f"Open {safe.file_name(path)}"), "Show this recording.", partial(app.open_file, Path(path))
