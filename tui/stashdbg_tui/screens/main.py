"""The debugger's one screen: a time axis, a cursor on it, and panes that follow the cursor.

Every move goes through the session; the panes are then told where it stands. Nothing on that path parses a large
value or lays anything out.
"""

from __future__ import annotations

from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_tui.bindings import bindings
from stashdbg_tui.screens.main_keys import main_keys
from stashdbg_tui.verbs.ablating import Ablating
from stashdbg_tui.verbs.running import Running
from stashdbg_tui.verbs.tracing import FIELD_PARTS
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


class MainScreen(Running, Trusting, Ablating):
    """Scrubber, timeline, inspector, status and keys over one session."""

    AUTO_FOCUS = "#timeline"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide"), (160, "-roomy")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]  # noqa: RUF012
    BINDINGS = bindings("main")

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
        yield KeyLine(main_keys("timeline", "program.run", "program.stop"), id="keys")

    def on_mount(self) -> None:
        """Take over what is kept between sessions."""
        self.prompt.history = self.history

    def on_descendant_focus(self) -> None:
        """Name the keys of the pane that has the focus."""
        self.show_keys()

    def show_keys(self) -> None:
        """Let the last line name the keys of the pane in focus that do something there."""
        known = self.session is not None and "command" in self.session.recording.meta
        idle = [] if known and not self.runs else ["program.run"]
        idle += [] if self.runs else ["program.stop"]
        idle += [] if any(row.target is not None for row in self.panel.rows) else ["panel.choose", "panel.drop"]
        idle += [] if self.panel.kind in ("marks", "watches") else ["panel.drop"]
        idle += [] if self.part in FIELD_PARTS else ["trace.last", "trace.origin"]
        pane = self.focused.id if self.focused is not None else None
        self.query_one("#keys", KeyLine).show(main_keys(pane, *idle))
        self.tabs.show_focus(self.payload.has_focus)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Apply styles anew when coming back, not when every widget has just got its own."""
        event.refresh_styles = event.refresh_styles and self.stack_updates > 0

    def show_opening(self, path: Path, part: float | None = None) -> None:
        """Say that a file is being read, and how far."""
        self.notice.show_opening(path, part)
        self.add_class("-notice")

    def show_progress(self, text: str, partial: str | None = None) -> None:
        """Say how far the reading of what is shown has come, and if it is new why what needs all of it has to wait."""
        self.status.progress = text
        self.partial = self.partial if partial is None else partial
        self.status.show()

    def show_failure(self, path: Path, error: StashError) -> None:
        """Say that a file could not be read; what was open before stays open."""
        if self.session is not None and self.session.count:
            self.remove_class("-notice")
            self.status.show(error.message)
        else:
            self.notice.show_failure(path, error)
            self.add_class("-notice")

    def show_recording(self, recording: Recording, *, progress: str | None = None, partial: str = "") -> None:
        """Show a recording; one that is already on the screen keeps its cursor."""
        session = self.session
        self.stop_work()
        if session is not None and session.recording.path == recording.path and recording.path is not None:
            if session.recording is not recording:
                session.reload(recording)
            if self.awaits_end and not partial:
                session.last()
        else:
            self.stop_following()
            self.clear_search()
            session = self.session = self.open_debugger(recording)
            self.close_panel()
        self.partial, self.awaits_end = partial, False
        self.status.session, self.status.progress = session, progress
        self.timeline.show_session(session)
        self.scrubber.show_session(session)
        self.status.show()
        self.show_marks()
        self.show_keys()
        if not session.count:
            self.notice.show_empty(recording)
        self.set_class(not session.count, "-notice")
        if session.narrows:
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
