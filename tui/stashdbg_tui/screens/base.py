"""What every verb of the main screen stands on: its panes, its session, and work done between two keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from textual import getters
from textual.screen import Screen
from textual.widget import Widget

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.debugger import Debugger
from stashdbg_core.session.inspection import Part
from stashdbg_core.session.session import Move
from stashdbg_core.session.tasks import Steps, Task
from stashdbg_tui.widgets.choice_line import ChoiceLine
from stashdbg_tui.widgets.notice import Notice
from stashdbg_tui.widgets.panel import Panel, PanelRow
from stashdbg_tui.widgets.payload_view import PayloadView
from stashdbg_tui.widgets.prompt_line import PromptLine
from stashdbg_tui.widgets.scrubber import Scrubber
from stashdbg_tui.widgets.status_line import StatusLine
from stashdbg_tui.widgets.tabs_line import TabsLine
from stashdbg_tui.widgets.timeline import Timeline
from stashdbg_tui.workers.slices import work_in_slices

if TYPE_CHECKING:
    from stashdbg_tui.app import StashApp

T = TypeVar("T")

PanelKind = Literal["marks", "lanes", "watches", "recordings", "why", "run"]


class SessionScreen(Screen[None]):
    """Panes over one session."""

    timeline = getters.query_one("#timeline", Timeline)
    payload = getters.query_one("#payload", PayloadView)
    tabs = getters.query_one("#tabs", TabsLine)
    scrubber = getters.query_one("#scrubber", Scrubber)
    status = getters.query_one("#status", StatusLine)
    prompt = getters.query_one("#prompt", PromptLine)
    choice = getters.query_one("#choice", ChoiceLine)
    panel = getters.query_one("#panel", Panel)
    notice = getters.query_one("#notice", Notice)

    def __init__(self) -> None:
        super().__init__()
        self.session: Debugger | None = None
        self.part: Part = "value"
        self.partial = ""
        """Why what needs all of the recording has to wait; empty where all of it is shown."""
        self.awaits_end = False
        """Whether the cursor goes on to the end of what is still being read."""
        self._tasks: dict[str, Task[Any]] = {}
        self._entered_from: Widget | None = None

    @property
    def stash_app(self) -> StashApp:
        """The app, with what is ours in it."""
        return cast("StashApp", self.app)

    @property
    def busy(self) -> bool:
        """Whether something is being worked on between keys."""
        return bool(self._tasks)

    @abstractmethod
    def show_recording(self, recording: Recording, *, progress: str | None = None, partial: str = "") -> None:
        """Show a recording; one that is already on the screen keeps its cursor.

        Args:
            recording: The run.
            progress: Said in the status line as long as there may be more of it.
            partial: Why what needs all of it has to wait.
        """

    @abstractmethod
    def inspect(self) -> None:
        """Show the part of the event at the cursor."""

    def follow(self, move: Move) -> bool:
        """Let every pane follow a move, or say why there was none; tell whether there was one."""
        self.awaits_end = False
        if move.reason is not None:
            self.say_reason(move.reason)
            return False
        self.timeline.show_cursor(move.position)
        self.scrubber.show_cursor(move.position)
        self.status.show()
        self.inspect()
        if self.panel.kind == "watches":
            self.list_rows("watches")
        return True

    def say_reason(self, reason: str) -> None:
        """Say why the cursor stays, and that there is more to come where that may be why."""
        self.status.show(f"{reason}; {self.partial}" if self.partial else reason)

    @abstractmethod
    def list_rows(self, kind: str) -> None:
        """List something in the panel anew."""

    def show_line(self, line: int | None) -> None:
        """Put the inspector's cursor on a line that was looked for, if there is one."""
        if line is not None:
            self.payload.go_to_line(line, open_it=True)

    # Work between two keys

    def work_on(
        self,
        group: str,
        steps: Steps[T] | Task[T],
        done: Callable[[T], object],
        progress: Callable[[], object] | None = None,
    ) -> None:
        """Do work in slices between keys, in place of what the group was doing; small work is done at once."""
        self.stop_work(group)
        task: Task[T] = steps if isinstance(steps, Task) else Task(steps)
        self._tasks[group] = task

        def over(result: T) -> None:
            self._tasks.pop(group, None)
            done(result)

        def failed(failure: StashError) -> None:
            self._tasks.pop(group, None)
            self.say_failure(failure)

        work_in_slices(self, task, over, failed, progress)

    def stop_work(self, *groups: str) -> bool:
        """Stop what groups, or all of them, are working on; tell whether they were."""
        stopped = False
        for group in groups or tuple(self._tasks):
            task = self._tasks.pop(group, None)
            if task is not None:
                task.cancel()
                stopped = True
        return stopped

    def say_failure(self, failure: StashError) -> None:
        """Say in the status line why something cannot be done, and what to do."""
        hint = f"; {failure.hint}" if failure.hint else ""
        self.status.show(f"{failure.message}{hint}")

    # The panel

    def open_panel(self, kind: PanelKind, title: str, rows: Sequence[PanelRow], *, focus: bool = True) -> None:
        """Show a list below the inspector."""
        self.panel.show_rows(kind, title, rows)
        self.panel.styles.max_height = None if kind == "run" else len(rows) + 1  # what a program writes grows
        self.add_class("-panel")
        if focus:
            self.enter_panel()
        self.show_keys()

    def enter_panel(self) -> None:
        """Give the focus to the list; it goes back to where it was."""
        if not self.panel.has_focus:
            self._entered_from = self.payload if self.payload.has_focus else self.timeline
        self.set_focus(self.panel)

    def close_panel(self) -> None:
        """Take the list away."""
        had_focus = self.panel.has_focus
        self.remove_class("-panel")
        self.panel.kind = ""
        if had_focus:
            self.set_focus(self._entered_from or self.timeline)

    @abstractmethod
    def show_keys(self) -> None:
        """Let the last line name the keys of the pane in focus."""
