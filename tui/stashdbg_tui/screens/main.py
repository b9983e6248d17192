"""The debugger's one screen: a time axis, a cursor on it, and panes that follow the cursor.

Every move goes through the session; the panes are then told where it stands. Nothing on that path parses a large
value or lays anything out.
"""

from __future__ import annotations

from pathlib import Path

from textual import getters, on, work
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.inspection import Inspection, Part, inspect_part, is_quick
from stashdbg_core.session.session import Move, Session
from stashdbg_tui.bindings import bindings
from stashdbg_tui.copying import copy_note, save_value
from stashdbg_tui.screens.prompt import Answer, answer
from stashdbg_tui.widgets.key_line import KeyLine
from stashdbg_tui.widgets.notice import Notice
from stashdbg_tui.widgets.payload_view import PayloadView
from stashdbg_tui.widgets.prompt_line import PromptLine
from stashdbg_tui.widgets.scrubber import Scrubber
from stashdbg_tui.widgets.status_line import StatusLine
from stashdbg_tui.widgets.tabs_line import TabsLine
from stashdbg_tui.widgets.timeline import Timeline


class Inspected(Message):
    """A large value was read and can be shown."""

    def __init__(self, position: int, inspection: Inspection) -> None:
        super().__init__()
        self.position = position
        self.inspection = inspection


class MainScreen(Screen[None]):
    """Scrubber, timeline, inspector, status and keys over one session."""

    CSS_PATH = "main.tcss"
    AUTO_FOCUS = "#timeline"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-roomy")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012
    BINDINGS = bindings("main")

    timeline = getters.query_one("#timeline", Timeline)
    payload = getters.query_one("#payload", PayloadView)
    tabs = getters.query_one("#tabs", TabsLine)
    scrubber = getters.query_one("#scrubber", Scrubber)
    status = getters.query_one("#status", StatusLine)
    prompt = getters.query_one("#prompt", PromptLine)
    notice = getters.query_one("#notice", Notice)

    def __init__(self) -> None:
        super().__init__()
        self.session: Session | None = None
        self.part: Part = "value"
        self._pane_before: str | None = None

    def compose(self) -> ComposeResult:
        """Make the panes; they are filled when a recording is there."""
        yield Scrubber(id="scrubber")
        with Container(id="panes"):
            yield Timeline(id="timeline")
            with Vertical(id="inspector"):
                yield TabsLine(id="tabs")
                yield PayloadView(id="payload")
        yield Notice(id="notice")
        yield StatusLine(id="status")
        yield PromptLine(id="prompt")
        yield KeyLine(id="keys")

    # What is shown

    def show_opening(self, path: Path) -> None:
        """Say that a file is being read."""
        self.notice.show_opening(path)
        self.add_class("-notice")

    def show_failure(self, path: Path, error: StashError) -> None:
        """Say that a file could not be read; what was open before stays open."""
        if self.session is not None and self.session.count:
            self.remove_class("-notice")
            self.status.show(error.message)
        else:
            self.notice.show_failure(path, error)
            self.add_class("-notice")

    def show_recording(self, recording: Recording, *, progress: str | None = None) -> None:
        """Show a recording; one that is already on the screen keeps its cursor."""
        session = self.session
        if session is not None and session.recording.path == recording.path and recording.path is not None:
            session.reload(recording)
        else:
            session = self.session = Session(recording)
        self.status.session, self.status.progress = session, progress
        self.timeline.show_session(session)
        self.scrubber.show_session(session)
        self.status.show()
        if not session.count:
            self.notice.show_empty(recording)
        self.set_class(not session.count, "-notice")
        self._inspect()

    def _follow(self, move: Move) -> None:
        """Let every pane follow a move, or say why there was none."""
        if not move.made:
            self.status.show(move.reason)
            return
        self.timeline.show_cursor(move.position)
        self.scrubber.show_cursor(move.position)
        self.status.show()
        self._inspect()

    def _inspect(self) -> None:
        """Show the part of the event at the cursor, a large one as soon as it is read."""
        session = self.session
        event = session.event if session is not None else None
        if session is None or event is None:
            self.payload.show_lines(None)
        elif is_quick(session.recording, event, self.part):
            self.workers.cancel_group(self, "inspect")
            self._show_inspection(inspect_part(session.recording, event, self.part))
        else:
            self.payload.show_lines(None)
            self.tabs.show(self.part, "reading…")
            self._inspect_later(session.recording, event, session.position, self.part)

    @work(thread=True, exclusive=True, group="inspect", exit_on_error=False)
    def _inspect_later(self, recording: Recording, event: RecordedEvent, position: int, part: Part) -> None:
        worker = get_current_worker()
        inspection = inspect_part(recording, event, part)
        if not worker.is_cancelled:
            self.post_message(Inspected(position, inspection))

    def _show_inspection(self, inspection: Inspection) -> None:
        self.payload.show_lines(inspection.lines)
        words = inspection.words + (" · CRLF line ends" if inspection.lines.has_crlf else "")
        self.tabs.show(inspection.part, words, trouble=inspection.trouble)

    @on(Inspected)
    def _inspected(self, message: Inspected) -> None:
        if self.session is not None and (message.position, message.inspection.part) == (
            self.session.position,
            self.part,
        ):
            self._show_inspection(message.inspection)

    # Moves

    def action_move(self, verb: str, by: int = 1) -> None:
        """Make a move of the session by its name."""
        if self.session is not None:
            moves = {
                "first": self.session.first,
                "last": self.session.last,
                "back": self.session.back,
                "forward": self.session.forward,
            }
            self._follow(self.session.step(by) if verb == "step" else moves[verb]())

    def action_page(self, pages: float) -> None:
        """Move by pages of the timeline."""
        if self.session is not None:
            self._follow(self.session.page(round(pages * max(self.timeline.page_rows - 1, 1))))

    @on(Timeline.Chosen)
    def _chosen(self, message: Timeline.Chosen) -> None:
        if self.session is not None:
            if message.position != self.session.position:
                self._follow(self.session.jump(message.position))
            if message.opened:
                self.action_open()

    @on(Scrubber.Chosen)
    def _scrubbed(self, message: Scrubber.Chosen) -> None:
        if self.session is not None:
            self._follow(self.session.jump(message.position))

    # The prompt

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let a colon be typed while the prompt is open."""
        return action != "prompt" or not self.has_class("-prompt")

    def action_prompt(self) -> None:
        """Ask where to go."""
        self._pane_before = self.focused.id if self.focused is not None else None
        self.add_class("-prompt")
        self.prompt.open()

    @on(PromptLine.Left)
    def _prompt_left(self) -> None:
        self.remove_class("-prompt")
        self.set_focus(self.query_one(f"#{self._pane_before or 'timeline'}"))

    @on(PromptLine.Entered)
    async def _prompt_entered(self, message: PromptLine.Entered) -> None:
        self._prompt_left()
        found: Answer = answer(message.text)
        if found.action is not None:
            await self.run_action(found.action)
        elif found.file is not None:
            self.action_write(found.file)
        elif found.problem is not None:
            self.status.show(found.problem)
        elif self.session is not None and found.place:
            self._follow(self.session.goto(found.place))

    # The inspector

    def action_tab(self, part: Part) -> None:
        """Show another part of the event."""
        if part != self.part:
            self.part = part
            self._inspect()

    @on(TabsLine.Chosen)
    def _tab_chosen(self, message: TabsLine.Chosen) -> None:
        self.action_tab(message.part)

    def action_wrap(self) -> None:
        """Fold long lines or stop to."""
        self.status.show(
            "long lines fold" if self.payload.toggle_wrap() else "long lines run on; l and h scroll sideways"
        )

    def action_copy(self) -> None:
        """Copy the whole value shown, where the terminal takes it."""
        if self.session is not None and self.session.event is not None:
            text, note = copy_note(self.session.recording, self.session.event, self.part)
            if text is not None:
                self.app.copy_to_clipboard(text)
            self.status.show(note)

    def action_write(self, file: str) -> None:
        """Write the whole value shown to a new file."""
        if self.session is not None and self.session.event is not None:
            self.status.show(save_value(self.session.recording, self.session.event, self.part, file))

    # Panes

    def action_pane(self, by: int) -> None:
        """Give the focus to the other pane; a zoomed screen shows it instead."""
        other = self.payload if self.timeline.has_focus else self.timeline
        if self.has_class("-zoom"):
            self.toggle_class("-zoom-inspector")
            self.toggle_class("-zoom-timeline")
        self.set_focus(other)

    def action_open(self) -> None:
        """Look into the value."""
        if self.timeline.has_focus:
            self.action_pane(1)

    def action_zoom(self) -> None:
        """Fill the screen with the focused pane, or bring the other back."""
        zoomed = not self.has_class("-zoom")
        inspector = self.payload.has_focus
        self.set_class(zoomed, "-zoom")
        self.set_class(zoomed and inspector, "-zoom-inspector")
        self.set_class(zoomed and not inspector, "-zoom-timeline")

    def action_dismiss_view(self) -> None:
        """Step out of what was opened last: a zoom, the inspector, a notice in the status line."""
        if self.has_class("-zoom"):
            self.action_zoom()
        elif self.payload.has_focus:
            self.action_pane(1)
        else:
            self.clear_selection()
            self.status.show()
