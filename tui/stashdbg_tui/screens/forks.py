"""The recordings of a folder as a tree of forks: open one, or compare two.

Ends with the file to open, or None.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Key
from textual.message import Message
from textual.screen import Screen
from textual.suggester import Suggester
from textual.widgets import Input, Label, Static

from stashdbg_core.errors import StashError
from stashdbg_core.lineage import Lineage
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import place_of
from stashdbg_core.session.branches import branch_lines, line_of, pair_of
from stashdbg_core.session.words import counted
from stashdbg_core.store.limits import Limits
from stashdbg_tui import safe
from stashdbg_tui.command import Scope
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.widgets.branch_list import BranchList
from stashdbg_tui.widgets.key_line import KeyLine

_KEYS = (
    ("branch.next/branch.previous", "next"),
    ("branch.mark", "mark"),
    ("branch.compare", "compare"),
    ("branch.open", "open"),
    ("branch.path", "other file"),
    ("view.close", "close"),
)
_OFFERED = 500
"""Entries of a folder that are looked through to complete a name."""


class LineageRead(Message):
    """The folder was read, or cannot be."""

    def __init__(self, found: Lineage | None, error: StashError | None = None) -> None:
        super().__init__()
        self.found = found
        self.error = error


class _Paths(Suggester):
    """Completes the name of a file or folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._folder = folder

    async def get_suggestion(self, value: str) -> str | None:
        """Return the line with its last name completed."""
        head, _, start = value.rpartition("/")
        try:
            folder = (self._folder / Path(f"{head}/" if head or value[:1] == "/" else "")).expanduser()
            names = sorted(
                entry.name + "/" * entry.is_dir() for entry, _ in zip(folder.iterdir(), range(_OFFERED), strict=False)
            )
        except (OSError, RuntimeError, ValueError):
            return None
        found = next((name for name in names if name.startswith(start) and name != start and _is_plain(name)), None)
        return None if found is None or not start else value[: len(value) - len(start)] + found


class ForksScreen(LeftOnce, Screen[Path | None]):
    """The tree.

    Args:
        recording: What is open; its folder is read.
        limits: What a file may hold before it is refused.
        compares: Whether Enter compares with what is open instead of opening.
    """

    CSS_PATH = "forks.tcss"
    AUTO_FOCUS = "#forks-list"
    SCOPES: ClassVar[tuple[Scope, ...]] = ("app", "forks")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "step_out", show=False)]

    listing = getters.query_one("#forks-list", BranchList)

    def __init__(self, recording: Recording | None, *, limits: Limits, compares: bool = False) -> None:
        super().__init__()
        self._recording = recording
        self._limits = limits
        self._compares = compares
        self.folder = (
            place_of(recording.path).parent if recording is not None and recording.path is not None else Path()
        )
        self.ready = False

    def compose(self) -> ComposeResult:
        """Make the parts."""
        what = "Compare with a recording of" if self._compares else "Tree of forks in"
        yield Static(safe.line(f"{what} {self.folder.absolute()}"), id="forks-title")
        yield BranchList(id="forks-list")
        yield Static("reading the folder…", id="forks-status", markup=False)
        with Horizontal(id="forks-path"):
            yield Label("file", markup=False)
            yield Input(
                id="forks-file", compact=True, suggester=_Paths(self.folder), placeholder="a recording; Right completes"
            )
        yield KeyLine(_KEYS, id="forks-keys")

    def on_mount(self) -> None:
        """Start to read."""
        self._read()

    @work(thread=True, exclusive=True, group="lineage", exit_on_error=False)
    def _read(self) -> None:
        from stashdbg_core.lineage import lineage

        try:
            self.post_message(LineageRead(lineage(self.folder, limits=self._limits)))
        except StashError as error:
            self.post_message(LineageRead(None, error))

    @on(LineageRead)
    def _show(self, message: LineageRead) -> None:
        if self.is_left:
            return
        self.ready = True
        found = message.found
        if found is None:
            assert message.error is not None
            self.say(message.error.message)
            return
        lines = branch_lines(found)
        self.listing.show_lines(lines, line_of(lines, self._recording))
        count = sum(line.branch.file is not None for line in lines)
        said = counted(count, "recording")
        if found.problems:
            said += f" · {found.problems[0]}" + (
                f" · {len(found.problems) - 1} more problems" if found.problems[1:] else ""
            )
        self.say(said if count else f"no recordings here · : names a file elsewhere{said[12:]}")

    def say(self, text: str) -> None:
        """Say something in the status line."""
        self.query_one("#forks-status", Static).update(safe.line(text))

    def action_go(self, by: int) -> None:
        """Move the cursor."""
        self.listing.go(by)

    def action_mark(self) -> None:
        """Mark the branch at the cursor."""
        if self.listing.lines:
            self.listing.toggle_mark()

    @on(BranchList.Chosen)
    def _pointed(self, message: BranchList.Chosen) -> None:
        self.listing.go(message.line - self.listing.cursor)
        if message.opened:
            self.action_choose()

    def action_choose(self) -> None:
        """Open the branch at the cursor, or compare with it where that is what was asked for."""
        if not self.listing.lines:
            return
        if self._compares:
            self.action_compare()
            return
        file = self.listing.lines[self.listing.cursor].branch.file
        if file is None:
            self.say("that recording is not in this folder")
        else:
            self.dismiss(file)

    def action_compare(self) -> None:
        """Compare two branches."""
        if not self.listing.lines:
            return
        pair = pair_of(self.listing.lines, self.listing.cursor, self.listing.marked, self._recording)
        if isinstance(pair, str):
            self.say(pair)
        else:
            self._push_diff(pair)

    def _push_diff(self, pair: tuple[Path | Recording, Path | Recording]) -> None:
        from stashdbg_tui.screens.diff import DiffScreen

        self.app.push_screen(DiffScreen(pair, limits=self._limits))

    def action_ask_path(self) -> None:
        """Ask for a file by name."""
        self.add_class("-asking")
        field = self.query_one("#forks-file", Input)
        field.value = ""
        self.set_focus(field)

    @on(Input.Submitted)
    def _named(self, event: Input.Submitted) -> None:
        self._close_prompt()
        if not event.value.strip():
            return
        try:
            path = self.folder / Path(event.value.strip()).expanduser()
            is_file = path.is_file()
        except (OSError, RuntimeError, ValueError):
            is_file = False
        if not is_file:
            self.say(f"there is no file {event.value.strip()}")
        elif self._compares and self._recording is not None:
            self._push_diff((self._recording, path))
        else:
            self.dismiss(path)

    def on_key(self, event: Key) -> None:
        """Leave the prompt on Backspace where it is empty."""
        if event.key == "backspace" and self.has_class("-asking") and not self.query_one("#forks-file", Input).value:
            self._close_prompt()

    def _close_prompt(self) -> None:
        self.remove_class("-asking")
        self.set_focus(self.listing)

    def action_step_out(self) -> None:
        """Leave the prompt, then the view."""
        if self.has_class("-asking"):
            self._close_prompt()
        else:
            self.dismiss(None)


def _is_plain(name: str) -> bool:
    """Tell whether a name can be drawn as it is."""
    return safe.shown(name) == name
