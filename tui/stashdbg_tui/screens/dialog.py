"""What the dialogs share: a frame, rows of facts and fields, one line of words, and work that Esc stops."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import ClassVar, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Button, Input, Label, Static
from textual.worker import Worker, get_current_worker

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.screens.left_once import LeftOnce

T = TypeVar("T")
Progress = Callable[[int, int], object]


class Stopped(Exception):
    """The user stopped the work; raised out of a report of progress."""


class Fact(Horizontal):
    """A label, and a text that folds beside it."""

    def __init__(self, label: str, text: Content | str = "", *, id: str | None = None) -> None:
        super().__init__(id=id, classes="fact")
        self._label = label
        self._text = text if isinstance(text, Content) else safe.line(text)

    def compose(self) -> ComposeResult:
        """Make both."""
        yield Label(Content(self._label), classes="fact-label")
        yield Static(self._text, classes="fact-text")

    def show(self, text: Content | str) -> None:
        """Show another text; an empty one hides the row."""
        self._text = text if isinstance(text, Content) else safe.line(text)
        self.display = bool(self._text.plain)
        if self.is_mounted:
            self.query_one(".fact-text", Static).update(self._text)


class Field(Horizontal):
    """A label, and a line to type in."""

    def __init__(self, label: str, field_id: str, value: str = "", placeholder: str = "") -> None:
        super().__init__(classes="field")
        self._label = label
        self._input = Input(value, placeholder, id=field_id, compact=True, max_length=4096, select_on_focus=False)

    def compose(self) -> ComposeResult:
        """Make both."""
        yield Label(Content(self._label), classes="fact-label")
        yield self._input


class Done(Message):
    """Work of a dialog came to its end."""

    def __init__(self, kind: str, result: object, failure: StashError | None) -> None:
        super().__init__()
        self.kind = kind
        self.result = result
        self.failure = failure


class Progressed(Message):
    """How far work of a dialog is."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words

    def can_replace(self, message: Message) -> bool:
        """Only the last one counts."""
        return isinstance(message, Progressed)


class Dialog(LeftOnce, ModalScreen[T]):
    """A frame in the middle of the screen. Subclasses say what is in it, and what is done."""

    CSS_PATH = "dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = bindings("dialog")
    heading = ""
    """Over the frame; a text of ours."""
    writing = False
    """Whether a file is being written, which is not stopped half way."""

    def compose(self) -> ComposeResult:
        """Make the frame, what is in it, a line of words and the buttons."""
        with VerticalScroll(id="dialog", classes="dialog", can_focus=False) as frame:
            frame.border_title = self.heading
            frame.border_subtitle = "Esc closes"
            yield from self.body()
            yield Static(Content(""), id="dialog-words")
            with Horizontal(id="dialog-buttons"):
                yield from self.buttons()

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """Return what the dialog tells and asks."""

    @abstractmethod
    def buttons(self) -> Iterable[Button]:
        """Return what can be done, the usual thing first."""

    @abstractmethod
    def act(self, button: str) -> None:
        """Do what a button says; Enter in a field presses the first one."""

    @abstractmethod
    def done(self, kind: str, result: object) -> None:
        """Take the result of work."""

    # What is said

    def say(self, words: str, style: str = "$muted") -> None:
        """Show a sentence."""
        self.query_one("#dialog-words", Static).update(Content.styled(safe.block(words).plain, style))

    def say_failure(self, failure: StashError) -> None:
        """Say what is wrong and what to do."""
        self.say(f"{failure.message}{f'{chr(10)}{failure.hint}' if failure.hint else ''}", "bold $text-error")

    def typed(self, field_id: str) -> str:
        """Return what stands in a field."""
        return self.query_one(f"#{field_id}", Input).value.strip()

    @staticmethod
    def button(label: str, name: str, *, usual: bool = False) -> Button:
        """Return a button."""
        return Button(Content(label), id=f"do-{name}", variant="primary" if usual else "default", compact=True)

    def show_buttons(self, *names: str) -> None:
        """Show only these buttons, and give the focus to the first."""
        for button in self.query(Button):
            button.display = (button.id or "").removeprefix("do-") in names
        if names:
            self.query_one(f"#do-{names[0]}", Button).focus()

    # What is done

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        event.stop()
        name = (event.button.id or "").removeprefix("do-")
        if name == "leave":
            self.action_leave()
        else:
            self.act(name)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        first = next((button for button in self.query(Button) if button.display), None)
        if first is not None and not self.working:
            self.act((first.id or "").removeprefix("do-"))

    @property
    def working(self) -> bool:
        """Whether work is going on."""
        return any(worker.group == "dialog" and not worker.is_finished for worker in self.workers)

    @work(thread=True, exclusive=True, group="dialog", exit_on_error=False)
    def work_on(self, kind: str, run: Callable[[Progress], object]) -> None:
        """Do work in a thread; ``done`` gets its result, and a failure is said."""
        worker: Worker[None] = get_current_worker()

        def progress(done: int, total: int) -> None:
            if worker.is_cancelled:
                raise Stopped
            self.post_message(Progressed(f"{done:,} of {total:,} events"))

        try:
            result = run(progress)
        except Stopped:
            return
        except StashError as failure:
            self._post_done(worker, Done(kind, None, failure))
        except MemoryError:
            self._post_done(worker, Done(kind, None, _no_memory()))
        else:
            self._post_done(worker, Done(kind, result, None))

    def _post_done(self, worker: Worker[None], message: Done) -> None:
        if not worker.is_cancelled:
            self.post_message(message)

    @on(Progressed)
    def _progressed(self, message: Progressed) -> None:
        if self.working:
            self.say(f"{message.words}; Esc stops")

    @on(Done)
    def _done(self, message: Done) -> None:
        self.writing = False
        if message.failure is not None:
            self.say_failure(message.failure)
            self.failed(message.kind)
        else:
            self.done(message.kind, message.result)

    def failed(self, kind: str) -> None:
        """Let the user try again after a failure."""

    def action_leave(self) -> None:
        """Stop the work, or close."""
        if self.working and self.writing:
            self.say("writing; wait for the end")
        elif self.working:
            self.workers.cancel_group(self, "dialog")
            self.say("stopped; nothing was written")
        else:
            self.close()

    def close(self) -> None:
        """Close with nothing to tell."""
        self.dismiss(None)


def _no_memory() -> StashError:
    return StashError("there is not enough memory", code=ErrorCode.NOT_FOUND, hint="close other programs")
