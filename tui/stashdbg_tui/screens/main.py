"""The debugger's one screen: a time axis, a cursor on it, and panes that follow the cursor.

Every move goes through the session; the panes are then told where it stands. Nothing on that path parses a large
value or lays anything out.
"""

from __future__ import annotations

from pathlib import Path
from time import monotonic

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.timer import Timer

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.debugger import Debugger
from stashdbg_tui.bindings import bindings
from stashdbg_tui.lanes import Rows
from stashdbg_tui.verbs.ablating import Ablating
from stashdbg_tui.verbs.moving import Moving
from stashdbg_tui.verbs.running import Running
from stashdbg_tui.verbs.trusting import Trusting
from stashdbg_tui.widgets.choice_line import ChoiceLine
from stashdbg_tui.widgets.key_line import KeyLine
from stashdbg_tui.widgets.notice import Notice
from stashdbg_tui.widgets.panel import Panel
from stashdbg_tui.widgets.payload_view import PayloadView
from stashdbg_tui.widgets.prompt_line import PromptLine
from stashdbg_tui.widgets.scrubber import Scrubber
from stashdbg_tui.widgets.status_line import StatusLine
from stashdbg_tui.widgets.tabs_line import TabsLine
from stashdbg_tui.widgets.timeline import Timeline

FOLLOW_SECONDS = 0.5
_REST = 4
"""How much longer than reading a file took it is left alone."""


class MainScreen(Running, Trusting, Moving, Ablating):
    """Scrubber, timeline, inspector, status and keys over one session."""

    AUTO_FOCUS = "#timeline"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-roomy")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012
    BINDINGS = bindings("main")

    def __init__(self) -> None:
        super().__init__()
        self._follow_timer: Timer | None = None
        self._look_again = 0.0

    def on_unmount(self) -> None:
        """Leave no process behind that reads a file on."""
        if self.session is not None:
            self.session.unfollow()

    def compose(self) -> ComposeResult:
        """Make the panes; they are filled when a recording is there."""
        # Textual asks for the breakpoints after it has laid the screen out; this saves doing that twice.
        for size, edges in zip(self.app.size, (self.HORIZONTAL_BREAKPOINTS, self.VERTICAL_BREAKPOINTS), strict=True):
            self.add_class([name for edge, name in edges if size >= edge][-1])
        yield Scrubber(id="scrubber")
        with Container(id="panes"):
            yield Timeline(id="timeline")
            with Vertical(id="inspector"):
                yield TabsLine(id="tabs")
                yield PayloadView(id="payload")
                yield Panel(id="panel")
        yield Notice(id="notice")
        yield StatusLine(id="status")
        yield PromptLine(id="prompt")
        yield ChoiceLine(id="choice")
        yield KeyLine(id="keys")

    def on_mount(self) -> None:
        """Take over what is kept between sessions."""
        self.prompt.history = self.history

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Apply styles anew when coming back, not when every widget has just got its own."""
        event.refresh_styles = event.refresh_styles and self.stack_updates > 0

    def show_opening(self, path: Path, part: float | None = None) -> None:
        """Say that a file is being read, and how far."""
        self.notice.show_opening(path, part)
        self.add_class("-notice")

    def show_progress(self, text: str) -> None:
        """Say how far the reading of what is shown has come."""
        self.status.progress = text
        self.status.show()

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
        self.stop_work()
        if session is not None and session.recording.path == recording.path and recording.path is not None:
            if session.recording is not recording:
                session.reload(recording)
        else:
            self._stop_following()
            session = self.session = self.open_debugger(recording)
            self.clear_search()
            self.filter_query, self.inverted, self.hides_repeats = "", False, False
            self.close_panel()
        self.status.session, self.status.progress = session, progress
        self.rows = Rows(None, session.count)
        self.timeline.show_session(session)
        self.scrubber.show_session(session)
        self.status.show()
        self.show_marks()
        self.show_run_keys()
        if not session.count:
            self.notice.show_empty(recording)
        self.set_class(not session.count, "-notice")
        if self.is_filtered:
            self.show_filtered()
        self.inspect()
        if progress is None:
            self.check_seal()
        if self.greeting is not None:
            self.status.show(self.greeting)
            self.greeting = None

    def action_stats(self) -> None:
        """Show tokens, durations and errors along the run."""
        if self.session is None:
            return
        from stashdbg_tui.screens.stats import StatsScreen

        self.app.push_screen(StatsScreen(self.session.recording))

    def action_follow_tail(self) -> None:
        """Stay on the last event of a file that grows, or stop to."""
        if self._follow_timer is not None:
            self._stop_following()
            self.status.show("no longer following")
        elif self.session is None or self.session.recording.path is None:
            self.status.show("nothing to follow: this recording is not in a file")
        else:
            self._start_following(self.session)

    def _start_following(self, session: Debugger) -> None:
        try:
            session.follow()
        except StashError as failure:
            if failure.code == ErrorCode.INVALID_INPUT:
                self.status.show("a file this large of another tool is not followed; Ctrl+O opens it again")
            else:
                self.say_failure(failure)
            return
        self._follow_timer = self.set_interval(FOLLOW_SECONDS, self._look_for_more)
        self.status.progress = "following"
        self.follow(session.last())
        self.status.show("following the file; F stops, and so does going back")

    def _stop_following(self) -> None:
        if self.session is not None:
            self.session.unfollow()
        if self._follow_timer is not None:
            self._follow_timer.stop()
            self._follow_timer = None
            self.status.progress = None

    def _look_for_more(self) -> None:
        """Take in what the file gained, and stay at the end if the cursor was there."""
        session = self.session
        if session is None:
            return
        if session.position < session.count - 1:
            self._stop_following()
            self.status.show("no longer following; F follows again")
            return
        started, before = monotonic(), session.recording
        if started < self._look_again:
            return
        try:
            session.refresh()
        except StashError as failure:
            self._stop_following()
            self.say_failure(failure)
            return
        # What has to be read whole is read less often the longer that takes.
        self._look_again = monotonic() + _REST * (monotonic() - started)
        if session.recording is not before:
            self.show_recording(session.recording, progress="following")
            self.follow(session.last())
        part = session.caught_up
        progress = "following" if part == 1 else f"following, {part:.0%} read"
        if progress != self.status.progress:
            self.status.progress = progress
            self.status.refresh()
