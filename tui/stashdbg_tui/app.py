"""The Textual app: themes, the one screen, loading files, and leaving.

The first frame is drawn before any file is read. Nothing here computes what is shown; the session does.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import events, on, work
from textual.app import App
from textual.binding import BindingType
from textual.worker import get_current_worker

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.store.limits import Limits
from stashdbg_tui.bindings import bindings
from stashdbg_tui.command import MAIN_SCOPES
from stashdbg_tui.crash import crash_report
from stashdbg_tui.history import History, history_path
from stashdbg_tui.keymap import keymap_path, read_keymap
from stashdbg_tui.screens.main import MainScreen
from stashdbg_tui.theme import ANSI, DARK, FALLBACK, LIGHT
from stashdbg_tui.workers.loader import (
    ArchiveOpened,
    HeadLoaded,
    LoadFailed,
    ReadingOn,
    RecordingLoaded,
    RunsFound,
    load,
)
from stashdbg_tui.workers.threads import WorkThreads

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.driver import Driver

    from stashdbg_core.session.choices import Choice

OPENING_SECONDS = 0.15
"""From here on it is said that a file is being read; most are open before."""
_SHORT = {
    "dark": DARK.name,
    "light": LIGHT.name,
    "ansi": "ansi-dark",
    "ansi-dark": "ansi-dark",
    "ansi-light": "ansi-light",
}


def _palette() -> type[Provider]:
    from stashdbg_tui.palette import CommandsProvider  # not needed for the first frame

    return CommandsProvider


class StashApp(App[None]):
    """The debugger's screen.

    Args:
        paths: Files to open; the first is shown, the others wait in the palette.
        limits: What a file may hold before it is refused.
        recording: Shown instead of a file, for tests and screenshots.
        theme: ``dark``, ``light``, ``ansi``, or the name of any Textual theme.
        keymap: The user's own keys, a TOML file.
        history: What is kept between sessions, a file; in memory only if None.
        recent: Where it is kept what was opened, a file; nowhere if None.
        folder: Where to choose from, in place of what was opened lately and the sessions of agents nearby.
    """

    TITLE = "stashdbg"
    # The main screen's styles are the app's: where tasks start at once (Python 3.12), Textual composes a screen before
    # it loads that screen's own styles.
    CSS_PATH = Path(__file__).parent / "screens" / "main.tcss"
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette}
    BINDINGS: ClassVar[list[BindingType]] = bindings("app")

    def __init__(
        self,
        paths: Sequence[Path] = (),
        *,
        limits: Limits | None = None,
        recording: Recording | None = None,
        theme: str | None = None,
        keymap: Path | None = None,
        history: Path | None = None,
        recent: Path | None = None,
        folder: Path | None = None,
    ) -> None:
        without_colour = bool(os.environ.get("NO_COLOR"))
        super().__init__(ansi_color=True if without_colour else None)
        self.paths = list(paths)
        self.limits = limits or Limits()
        self.keymap_file = keymap
        self.history = History(history)
        self.ascii_only = False
        """Whether the terminal shows no more than ASCII signs."""
        self.failure: StashError | None = None
        """Why nothing could be shown at all."""
        self.main_screen = MainScreen()
        self.recent_file = recent
        self.folder = folder
        self._given = recording
        self._chose = False
        """Whether what is being opened was chosen from a list, which comes back if it fails."""
        self._opening: Path | None = None
        self._reading = False
        """Whether the head of a large file is shown and the rest is being read."""
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        wanted = theme or os.environ.get("TEXTUAL_THEME")
        self._picks_colours = not wanted and not without_colour
        name = _SHORT.get(wanted, wanted) if wanted else DARK.name
        if name not in self.available_themes:
            raise invalid_input(f"no theme called {name!r}", hint=f"try {', '.join(_SHORT)}")
        self.theme = name

    def suit_the_user(self) -> None:
        """Take up the user's own keys and history, and what this terminal can show."""
        self.keymap_file = keymap_path()
        self.history = History(history_path())
        from stashdbg_core.formats.recent import recent_path

        self.recent_file = recent_path()
        if self._picks_colours and self.console.color_system == "standard":
            self.theme = _SHORT["ansi"]  # of 16 colours, ours would all become the same grey
        self.ascii_only = "utf" not in (sys.__stderr__.encoding if sys.__stderr__ else "utf-8").lower()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return our variables for themes that do not set them."""
        if self.native_ansi_color:
            return ANSI
        known = self.current_theme.to_color_system().generate()
        return {name: _resolved(value, known) for name, value in FALLBACK.items()}

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the theme anew; before there is a screen nothing needs it, and every rule would be parsed twice."""
        if self.screen_stack:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def get_driver_class(self) -> type[Driver]:
        """Return the driver of this platform; on a terminal the one that always gives it back."""
        found = super().get_driver_class()
        if found.__name__ != "LinuxDriver":
            return found
        from stashdbg_tui.terminal_driver import TerminalDriver

        return TerminalDriver

    def on_load(self) -> None:
        """Let nothing that still works when the screen is left hold the program up."""
        asyncio.get_running_loop().set_default_executor(WorkThreads())

    async def on_mount(self) -> None:
        """Start to read, and make the screen meanwhile."""
        first = self.paths[0] if self._given is None and self.paths else None
        if first is not None:
            self._load(first)
        if self.keymap_file is not None:
            keys, problems = read_keymap(self.keymap_file)
            if keys:
                self.set_keymap(keys)
            if problems:
                self.main_screen.greeting = f"keys.toml: {problems[0]}"
        await self.push_screen(self.main_screen)
        if self._given is not None:
            self.main_screen.show_recording(self._given)
        if first is not None:
            self._wait_for(first)
        elif self._given is None:
            self.action_choose_file()

    def take_up(self, path: Path) -> None:
        """Offer a file among the recordings that can be opened again."""
        if path not in self.paths:
            self.paths.append(path)

    def open_file(self, path: Path) -> None:
        """Open another file in place of the one shown."""
        self._load(path)
        self._wait_for(path)

    def _wait_for(self, path: Path) -> None:
        """Say that a file is being read if it takes long."""

        def say() -> None:
            if self._opening == path:
                self.main_screen.show_opening(path)

        self._opening = path
        self.set_timer(OPENING_SECONDS, say)

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def _load(self, path: Path) -> None:
        worker = get_current_worker()
        load(path, self.limits, self.post_message, lambda: worker.is_cancelled)

    @on(HeadLoaded)
    def _head_loaded(self, message: HeadLoaded) -> None:
        self._opening, self._reading = None, True
        partial = "the rest of the file is still being read"
        self.main_screen.show_recording(message.recording, progress="reading the rest…", partial=partial)
        self.main_screen.call_after_refresh(message.painted.set)

    @on(ReadingOn)
    def _reading_on(self, message: ReadingOn) -> None:
        if self._reading:
            self.main_screen.show_progress(f"reading the rest… {message.part:.0%}, Esc stops")
        elif self._opening == message.path:
            self.main_screen.show_opening(message.path, message.part)

    @on(RecordingLoaded)
    def _recording_loaded(self, message: RecordingLoaded) -> None:
        self._opening, self._reading, self._chose = None, False, False
        if message.recording.path is not None:
            self.take_up(message.recording.path)
        self.main_screen.show_recording(message.recording)
        self.main_screen.call_after_refresh(self._remember, message.recording)

    @work(thread=True, group="recent", exit_on_error=False)
    def _remember(self, recording: Recording) -> None:
        if self.recent_file is not None and recording.path is not None:
            from stashdbg_core.formats.recent import RecentFiles
            from stashdbg_core.session.run_title import run_title

            RecentFiles(self.recent_file).add(recording.path, run_title(recording))

    @on(ArchiveOpened)
    def _archive_opened(self, message: ArchiveOpened) -> None:
        others = [path for path in self.paths if path != message.path and path not in message.recordings]
        self.paths = [*message.recordings, *others]

    @on(RunsFound)
    def _runs_found(self, message: RunsFound) -> None:
        from stashdbg_core.session.choices import choices_of_runs

        self._opening = None
        choices = choices_of_runs(message.path, message.runs)
        self.paths = [*(choice.path for choice in choices), *(path for path in self.paths if path != message.path)]
        from stashdbg_tui.screens.pick import WORDS_OF_RUNS

        self._push_picker(f"Runs in {message.path.name}", lambda: choices, hint=WORDS_OF_RUNS)

    def action_choose_file(self, said: str = "") -> None:
        """Offer what was opened lately and the sessions of agents nearby, or what the folder holds that was named."""
        from stashdbg_tui.workers.finder import find_choices, find_in_folder

        if self.folder is not None:
            from stashdbg_tui.screens.pick import NOTHING_IN_FOLDER

            find, title = partial(find_in_folder, self.folder, self.limits), f"Runs in {self.folder.absolute()}"
            self._push_picker(title, find, said=said, looking="looking into the folder…", empty=NOTHING_IN_FOLDER)
        else:
            self._push_picker("Open", partial(find_choices, self.recent_file), said=said)

    def _push_picker(self, title: str, find: Callable[[], Sequence[Choice]], **words: Any) -> None:
        from stashdbg_tui.screens.pick import PickScreen

        self.push_screen(PickScreen(title, find, **words), self._chosen)

    def _chosen(self, path: Path | None) -> None:
        if path is not None:
            self._chose = True
            self.open_file(path)
        elif self.main_screen.session is None:
            self.exit()

    @property
    def is_reading(self) -> bool:
        """Whether the rest of what is shown is being read."""
        return self._reading

    def stop_reading(self) -> bool:
        """Stop to read a large file; what is shown of it stays. Tell whether one was being read."""
        if not self._reading:
            return False
        self.workers.cancel_group(self, "load")
        self._reading = False
        self.main_screen.show_progress("only the beginning was read", partial="only the beginning of the file was read")
        return True

    @on(LoadFailed)
    def _load_failed(self, message: LoadFailed) -> None:
        self._opening, self._reading = None, False
        if self.main_screen.session is None and self._chose:
            self.action_choose_file(message.error.message.replace(str(message.path), message.path.name))
        elif self.main_screen.session is None:
            self.failure = message.error
            self.exit()
        else:
            self.main_screen.show_failure(message.path, message.error)

    def action_command_palette(self) -> None:
        """Show the palette, unless it is open."""
        from stashdbg_tui.palette import Palette

        if not Palette.is_open(cast("App[object]", self)):
            self.push_screen(Palette(id="--command-palette"))

    def action_help(self) -> None:
        """Show every key, those of this screen first."""
        from stashdbg_tui.screens.help import HelpScreen

        self.push_screen(HelpScreen(getattr(self.screen, "SCOPES", None) or MAIN_SCOPES))

    def action_close(self) -> None:
        """Close the topmost view; leave when it is the last. A program that runs there is asked about first."""
        on_main = self.screen is self.main_screen
        if on_main and (self.main_screen.leaves_panel() or self.main_screen.holds_back("app.close")):
            return
        if len(self.screen_stack) > 2:
            self.pop_screen()
        else:
            self.exit()

    async def action_quit(self) -> None:
        """Leave; a program that runs is asked about first."""
        while self.main_screen.runs and self.screen is not self.main_screen and len(self.screen_stack) > 2:
            self.pop_screen()
        if not self.main_screen.holds_back("app.quit"):
            self.exit()

    def action_dismiss_view(self) -> None:
        """Close the topmost view; never leaves."""
        if len(self.screen_stack) > 2:
            self.pop_screen()
        elif not self.stop_reading():
            self.main_screen.action_dismiss_view()

    async def on_event(self, event: events.Event) -> None:
        """Take no more keys once on the way out: what they would act on is being taken down."""
        if not (self._exit and isinstance(event, events.InputEvent)):
            await super().on_event(event)

    def _fatal_error(self) -> None:
        """Leave on an error of our own, printing frames without their variables."""
        self.bell()
        self._exit_renderables.append(crash_report(self.console))
        self._close_messages_no_wait()


def run(
    paths: Sequence[Path], *, limits: Limits | None = None, theme: str | None = None, folder: Path | None = None
) -> int:
    """Show recordings on this terminal until the user leaves; return the exit code.

    Raises:
        StashError: The first file could not be opened, or there is no such theme.
    """
    app = StashApp([Path(path) for path in paths], limits=limits, theme=theme, folder=folder)
    app.suit_the_user()
    try:
        app.run()
    finally:
        app.main_screen.end_program()
    if app.failure is not None:
        raise app.failure
    return app.return_code or 0


def _resolved(value: str, known: dict[str, str]) -> str:
    """Put a theme's own colour in the place of a leading ``$name``."""
    name, _, rest = value.partition(" ")
    colour = known.get(name.removeprefix("$"), value) if name.startswith("$") else name
    return f"{colour} {rest}".strip()
