"""A choice of what to open, narrowed down by typing: recent files and sessions nearby, or the runs of one file.

Ends with the name to open, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from textual import getters, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Middle
from textual.content import Content
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Input, Label, Static

from stashdbg_core.session.choices import Choice, narrowed
from stashdbg_tui import safe
from stashdbg_tui.command import Scope
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.widgets.key_line import key_words
from stashdbg_tui.widgets.pick_list import PickList

_KEYS = (("↑ ↓", "move"), ("Enter", "open"), ("Esc", "clear or close"), ("Ctrl+Q", "quit"))
_WORDS_OF_FILES = "words of a title, a tool, a folder, a day"
WORDS_OF_RUNS = "words of a title, a time, an outcome"
Pieces = Sequence[tuple[str, str]]
_CLOSES: Pieces = (("Esc closes", "$muted"),)
_NOTHING: Pieces = (
    ("nothing to open yet\n\n", "bold"),
    ("Nothing was opened here before, and no sessions of Claude Code, Codex,\n", "$muted"),
    ("Gemini CLI, Copilot CLI, pi or Inspect lie in their usual folders.\n\n", "$muted"),
    ("stashdbg FILE", "bold"),
    ("  opens a recording, or another tool's file\n", ""),
    ("stashdbg demo", "bold"),
    ("  opens the run that ships with stashdbg\n\n", ""),
    *_CLOSES,
)
NOTHING_IN_FOLDER: Pieces = (
    ("nothing to open in this folder\n\n", "bold"),
    ("Neither a recording nor another tool's file lies in it or two folders down.\n\n", "$muted"),
    ("stashdbg record -o run.json -- CMD", "bold"),
    ("  records a program\n\n", ""),
    *_CLOSES,
)


class ChoicesFound(Message):
    """What there is to choose from is known."""

    def __init__(self, choices: Sequence[Choice]) -> None:
        super().__init__()
        self.choices = choices


class PickScreen(LeftOnce, Screen[Path | None]):
    """The choice.

    Args:
        title: What is chosen.
        find: Returns what there is to choose from; called in a thread.
        said: Said in the status line until something is typed.
        hint: Which words narrow the choice down.
        looking: Said while it is looked for.
        empty: Said where there is nothing.
    """

    CSS_PATH = "pick.tcss"
    AUTO_FOCUS = "#pick-search"
    SCOPES: ClassVar[tuple[Scope, ...]] = ("app",)
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "step_out", show=False),
        Binding("up,ctrl+k", "go(-1)", show=False),
        Binding("down,ctrl+j", "go(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    listing = getters.query_one("#pick-list", PickList)

    def __init__(
        self,
        title: str,
        find: Callable[[], Sequence[Choice]],
        *,
        said: str = "",
        hint: str = _WORDS_OF_FILES,
        looking: str = "looking for sessions…",
        empty: Pieces = _NOTHING,
    ) -> None:
        super().__init__()
        self._title = title
        self._find = find
        self._said = said
        self._hint = hint
        self._looking = looking
        self._none = empty
        self._all: Sequence[Choice] = ()
        self.ready = False

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static(safe.line(self._title), id="pick-title")
        with Horizontal(id="pick-field"):
            yield Label("search", markup=False)
            yield Input(id="pick-search", compact=True, placeholder=self._hint)
        yield PickList(id="pick-list")
        with Middle(id="pick-notice"):
            yield Static(Content.assemble(*self._none), id="pick-empty")
        yield Static(safe.line(self._said or self._looking), id="pick-status")
        yield Static(key_words(_KEYS), id="pick-keys")

    def on_mount(self) -> None:
        """Start to look."""
        self._look()

    @work(thread=True, exclusive=True, group="choices", exit_on_error=False)
    def _look(self) -> None:
        self.post_message(ChoicesFound(self._find()))

    @on(ChoicesFound)
    def _show(self, message: ChoicesFound) -> None:
        if self.is_left:
            return
        self.ready = True
        self._all = message.choices
        self.set_class(not self._all, "-empty")
        self._narrow()
        if self._said:
            self.say(self._said)

    def say(self, text: str) -> None:
        """Say something in the status line."""
        self.query_one("#pick-status", Static).update(safe.line(text))

    @on(Input.Changed, "#pick-search")
    def _narrow(self) -> None:
        if not self.ready:
            return
        text = self.query_one("#pick-search", Input).value
        shown = narrowed(self._all, text)
        self.listing.show_choices(shown)
        if not text:
            self.say(f"{len(self._all):,} to choose from" if self._all else "")
        elif shown:
            self.say(f"{len(shown):,} of {len(self._all):,}")
        else:
            self.say(f"none of {len(self._all):,} has these words; Esc clears them")

    def action_go(self, by: int) -> None:
        """Move the cursor."""
        self.listing.go(by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a page."""
        self.listing.go(by * max(self.listing.page_rows // 2 - 1, 1))

    @on(Input.Submitted, "#pick-search")
    def _choose(self) -> None:
        if self.listing.chosen is not None:
            self.dismiss(self.listing.chosen.path)

    @on(PickList.Chosen)
    def _pointed(self, message: PickList.Chosen) -> None:
        self.listing.go(message.index - self.listing.cursor)
        if message.opened:
            self._choose()

    def action_step_out(self) -> None:
        """Clear the search, then leave."""
        field = self.query_one("#pick-search", Input)
        if field.value:
            field.value = ""
        else:
            self.dismiss(None)
