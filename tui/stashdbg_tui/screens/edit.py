"""Editing an outcome into a fork: an editor inside the screen, a broken draft, and the fork before it is saved.

Each screen ends with one word of what a person wants next; none of them removes a draft.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, Label, Static, TextArea

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import sanitize_line
from stashdbg_core.session.fork_edit import Proposal, named_path, save_fork, suggested_path
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.screens.left_once import LeftOnce
from stashdbg_tui.widgets.diff_text import DiffText
from stashdbg_tui.widgets.key_line import key_words

Wish = Literal["edit", "inline", "done", "drop"]
"""Edit again in the user's editor, or here; the editor's window is closed; throw the draft away."""
_DRAFT = (("e", "edit again"), ("i", "edit here"), ("x", "throw it away"), ("Esc", "keep it for later"))
_SAVES = (("Enter", "save"), ("Tab", "the difference, e edits"), ("Esc", "keep draft"))
_RUNS = (("Enter", "save"), ("Ctrl+R", "save and run"), *_SAVES[1:])


class SafeTextArea(TextArea):
    """A text area that draws no character that acts on the terminal; what is edited stays as it is."""

    def get_line(self, line_index: int) -> Text:
        """Return a line as drawn: one visible character for each."""
        line = self.document.get_line(line_index)
        if sanitize_line(line.replace("\t", "")) != line.replace("\t", ""):
            line = "".join(char if char == "\t" else _visible(char) for char in line)
        return Text(line, end="", no_wrap=True)


class InlineScreen(LeftOnce, Screen[str | None]):
    """The draft in an editor of our own; ends with the text, or None where nothing changed.

    Args:
        title: What is edited; recorded text.
        text: The draft.
    """

    CSS_PATH = "edit.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("editor")

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title_text = title
        self._text = text

    def compose(self) -> ComposeResult:
        """Make the area."""
        yield Static(safe.line(self._title_text), classes="edit--title", markup=False)
        yield SafeTextArea(self._text, id="inline-area", soft_wrap=True, show_line_numbers=True, tab_behavior="indent")
        yield Static(
            key_words((("Esc/Ctrl+O", "go on to the difference; nothing is saved yet"),)),
            classes="edit--help",
        )

    def action_done(self) -> None:
        """Hand the text on."""
        text = self.query_one(TextArea).text
        self.dismiss(None if text == self._text else text)


class DraftScreen(LeftOnce, ModalScreen[Wish | None]):
    """What is wrong with a draft, and what to do about it; None leaves it for later.

    Args:
        title: A few words of ours.
        message: Why, and what helps; may hold recorded text.
        waits: Whether an editor's window may still be open.
    """

    CSS_PATH = "edit.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("draft")

    def __init__(self, title: str, message: str, *, waits: bool = False) -> None:
        super().__init__()
        self._about = title
        self._message = message
        self._waits = waits

    def compose(self) -> ComposeResult:
        """Make the box."""
        saved = (("Enter", "it is saved and closed"),) if self._waits else ()
        with Vertical(id="draft"):
            yield Static(Content.assemble((self._about, "bold")), markup=False)
            yield Static(safe.block(self._message), markup=False)
            yield Static(key_words((*saved, *_DRAFT)), classes="edit--help")

    def action_choose(self, wish: Wish | None = None) -> None:
        """End with a choice."""
        if wish != "done" or self._waits:
            self.dismiss(wish)


class ForkSaved(Message):
    """The fork is on disk and open."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording


class ForkRefused(Message):
    """The fork could not be written."""

    def __init__(self, error: StashError) -> None:
        super().__init__()
        self.error = error


class ForkScreen(LeftOnce, Screen["Recording | Wish | None"]):
    """A fork before it is saved: what it is, the difference, and its name.

    Args:
        proposal: The fork.
    """

    CSS_PATH = "edit.tcss"
    AUTO_FOCUS = "#fork-file"
    BINDINGS: ClassVar[list[BindingType]] = bindings("proposal")

    def __init__(self, proposal: Proposal) -> None:
        super().__init__()
        self._proposal = proposal
        self._suggested = suggested_path(proposal.edit.recording)
        self._is_saving = False
        self.runs = False
        """Whether the program is to be run on from the fork."""

    def compose(self) -> ComposeResult:
        """Make the parts."""
        yield Static("Fork here", classes="edit--title", markup=False)
        yield Static(safe.block("\n".join(self._proposal.words())), classes="edit--said")
        yield DiffText(id="fork-diff")
        yield Static("", id="fork-trouble", classes="edit--trouble", markup=False)
        with Horizontal(id="fork-name"):
            yield Label("save as", markup=False)
            yield Input(self._suggested.name, id="fork-file", compact=True, select_on_focus=False)
        yield Static(key_words(_RUNS if self.can_run else _SAVES), classes="edit--help")

    @property
    def can_run(self) -> bool:
        """Whether it is known which program made the recording."""
        return "command" in self._proposal.edit.recording.meta

    def action_run(self) -> None:
        """Save, and then show what running on would do."""
        if self.can_run:
            self.runs = True
            self._save_as(self.query_one(Input).value)

    def on_mount(self) -> None:
        """Show the difference."""
        self.query_one(DiffText).show_blocks(self._proposal.blocks())

    def action_other(self) -> None:
        """Change between the name and the difference."""
        field, text = self.query_one(Input), self.query_one(DiffText)
        self.set_focus(text if field.has_focus else field)

    def action_again(self, wish: Wish) -> None:
        """Edit the draft again."""
        self.dismiss(wish)

    def action_layout(self) -> None:
        """Change between side by side and unified."""
        self.query_one(DiffText).toggle_beside()

    def action_wrap(self) -> None:
        """Fold long lines or stop to."""
        self.query_one(DiffText).toggle_wrap()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.runs = False
        self._save_as(event.value)

    def _save_as(self, name: str) -> None:
        if self._is_saving:
            return
        try:
            path = named_path(name, self._suggested)
        except StashError as refusal:
            self._refuse(refusal)
            return
        self._is_saving = True
        self._say("saving…")
        self._save(path)

    @work(thread=True, exclusive=True, group="fork", exit_on_error=False)
    def _save(self, path: Path) -> None:
        from stashdbg_core.store.open import open_recording

        try:
            self.post_message(ForkSaved(open_recording(save_fork(self._proposal, path))))
        except StashError as refusal:
            self.post_message(ForkRefused(refusal))

    @on(ForkSaved)
    def _saved(self, message: ForkSaved) -> None:
        self.dismiss(message.recording)

    @on(ForkRefused)
    def _refused(self, message: ForkRefused) -> None:
        self._is_saving = False
        self._refuse(message.error)

    def _refuse(self, error: StashError) -> None:
        self._say(f"{error.message}{f'; {error.hint}' if error.hint else ''}")

    def _say(self, text: str) -> None:
        self.query_one("#fork-trouble", Static).update(safe.line(text))


def _visible(char: str) -> str:
    shown = sanitize_line(char)
    return shown if len(shown) == 1 else "\ufffd"
