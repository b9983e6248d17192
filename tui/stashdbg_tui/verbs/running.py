"""Running a program on from what is on the screen: preview, events as they happen, the end, the difference.

The run belongs to the core and goes on whatever is shown; here is only what follows it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import SuspendNotSupported
from textual.message import Message
from textual.timer import Timer

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_tui.bindings import keys_now
from stashdbg_tui.commands import command
from stashdbg_tui.verbs.forking import Forking
from stashdbg_tui.verbs.panes import Panes
from stashdbg_tui.widgets.panel import PanelRow
from stashdbg_tui.widgets.plain_rows import output_rows

# The first frame needs none of the verbs: what they take is imported by the verb that takes it.
if TYPE_CHECKING:
    from stashdbg_core.programs.runs.run_plan import RunPlan
    from stashdbg_core.programs.runs.watched_run import WatchedRun
    from stashdbg_tui.screens.run import ChosenRun

_TICK_SECONDS = 0.2


class Looked(Message):
    """The recording of the program that runs was looked at."""

    def __init__(self, run: WatchedRun, recording: Recording | None, error: StashError | None, *, last: bool) -> None:
        super().__init__()
        self.run = run
        self.recording = recording
        """What it is now; None if it has gained nothing."""
        self.error = error
        self.last = last
        """Whether the program had ended before it was looked at."""


class ParentFound(Message):
    """It is known what a run is compared with."""

    def __init__(self, parent: Recording, made: Recording, *, opens: bool) -> None:
        super().__init__()
        self.parent = parent
        self.made = made
        self.opens = opens
        """Whether the run is still to be shown."""


class Running(Panes, Forking):
    """A program that runs on, and its end."""

    def __init__(self) -> None:
        super().__init__()
        self.greeting: str | None = None
        """Said once, when the next recording is shown."""
        self.live: WatchedRun | None = None
        """The program that runs, or ran last."""
        self._plan: RunPlan | None = None
        self._shown: Recording | None = None
        """Its recording, as far as it was looked at."""
        self._run_timer: Timer | None = None
        self._looking_at_run = False
        self._output_seen = -1, 0
        """Which version of the output is shown, and in which width."""
        self._after_stop: str | None = None
        """What to do when the program has ended: the name of an action."""
        self._sides: tuple[Recording, Recording] | None = None
        """What the run that ended is compared with, and its recording."""

    def on_unmount(self) -> None:
        """Leave no program behind."""
        if self.live is not None and not self.live.over:
            self.live.stop()

    def end_program(self) -> None:
        """Stop the program, however the screen was left."""
        if self.live is not None and not self.live.over:
            self.live.stop()
            self.live.join()

    @property
    def runs(self) -> bool:
        """Whether a program runs."""
        return self.live is not None and self._run_timer is not None

    # Starting

    def action_run_program(self) -> None:
        """Show what running on would do, or the output of what runs."""
        if self.runs:
            self.list_rows("run")
            self.enter_panel()
            return
        if self.session is None:
            return
        if self.partial:
            self.status.show(self.partial)
            return
        from stashdbg_core.programs.process.command import recorded_command
        from stashdbg_tui.screens.run import RunDialog

        if recorded_command(self.session.recording) is None:
            self.status.show("the recording does not say which program made it; stashdbg continue FILE -- CMD runs one")
            return
        self.app.push_screen(RunDialog(self.session.recording), self._chosen_run)

    def _chosen_run(self, chosen: ChosenRun | None) -> None:
        if chosen is None:
            self.status.show("nothing was run")
        elif chosen.in_terminal:
            self._run_in_terminal(chosen.plan)
        else:
            self._watch(chosen.plan)

    def _watch(self, plan: RunPlan) -> None:
        from stashdbg_core.programs.runs.watched_run import WatchedRun

        self._plan, self._shown, self._sides = plan, None, None
        self.live = WatchedRun(lambda say, output: plan.program(say, output), plan.command.words(60))
        self.live.start()
        self._run_timer = self.set_interval(_TICK_SECONDS, self._look_at_run)
        self.list_rows("run")
        self.show_keys()
        self._look_at_run()

    def _run_in_terminal(self, plan: RunPlan) -> None:
        """Give the terminal to the program until it ends."""
        from stashdbg_core.programs.runs.program_run import unhooked
        from stashdbg_tui.terminal_run import run_in_terminal

        try:
            with self.app.suspend():
                result = run_in_terminal(plan)
        except SuspendNotSupported:
            self.status.show("the screen cannot be given up here; without the tick, the program runs beside it")
        except StashError as failure:
            self.say_failure(failure)
        else:
            self._plan, self.live = plan, None
            if result.path is None:
                self.status.show(unhooked(plan.command).message)
            else:
                self._find_parent(plan.recording, result.path)

    # Following

    def _look_at_run(self) -> None:
        """Show how far the run is; what its recording gained is read in a thread."""
        live = self.live
        if live is None:
            return
        if self._is_of_run:
            self.status.progress = live.words()
            self.status.refresh()
        if self.panel.kind == "run" and (live.tail.version, self.panel.size.width) != self._output_seen:
            self.list_rows("run")
        if not self._looking_at_run and not self.busy:
            self._looking_at_run = True
            self._look(live, last=live.over)

    @property
    def _is_of_run(self) -> bool:
        """Whether the screen shows the run, or before there is anything of it what is run on from."""
        if self.session is None or self._plan is None:
            return False
        return self.session.recording.id == (self._shown or self._plan.recording).id

    @work(thread=True, group="run", exit_on_error=False)
    def _look(self, live: WatchedRun, *, last: bool) -> None:
        try:
            found, failure = live.look(), None
        except StashError as error:
            found, failure = None, error
        self.post_message(Looked(live, found, failure, last=last))

    @on(Looked)
    def _looked(self, message: Looked) -> None:
        self._looking_at_run = False
        if message.run is not self.live or self._run_timer is None:
            return
        if message.recording is not None and len(message.recording.events):
            self._show_grown(message.recording, message.run.words())
        if message.last:
            self._ended(message.run, message.error)

    def _show_grown(self, recording: Recording, progress: str) -> None:
        """Show more of the run: at its end the cursor goes along, elsewhere it stays."""
        session = self.session
        if session is not None and self._is_of_run:
            begins, at_end = self._shown is None, session.at_end
            has_panel = self.panel.kind == "run"
            if not begins:
                session.reload(recording)  # its name changes when it is whole
            self.show_recording(recording, progress=progress, partial="the program is still running")
            if has_panel and begins:
                self.list_rows("run")
            if begins or at_end:
                self._go_to_end()
        self._shown = recording

    def _ended(self, live: WatchedRun, error: StashError | None) -> None:
        """Say how it ended, and look for what to compare it with."""
        if self._run_timer is not None:
            self._run_timer.stop()
            self._run_timer = None
        for line in live.ending() if error is None else [error.message]:
            live.tail.note(line)
        if live.path is not None:
            live.tail.note(f"recorded in {shorten(str(live.path), 200)}")
        if self._is_of_run:
            self.status.progress, self.partial = None, ""
        if self.panel.kind == "run":
            self.list_rows("run")
        said = shorten(live.ending()[0], 100) if error is None else shorten(error.message, 100)
        if self._shown is not None and live.path is not None and self._plan is not None:
            self._take_up(self._shown)
            said = f"{said}; {self._compare_words}"
            self._find_parent(self._plan.recording, self._shown)
        self.status.show(said)
        self.show_keys()
        if self._after_stop is not None:
            self.call_later(self.run_action, self._after_stop)

    @work(thread=True, exclusive=True, group="parent", exit_on_error=False)
    def _find_parent(self, start: Recording, made: Recording | Path) -> None:
        """Find what a run is compared with: the parent of what it was run on from, or that itself."""
        from stashdbg_core.programs.runs.parents import parent_of
        from stashdbg_core.store.open import open_recording

        try:
            opened = open_recording(made) if isinstance(made, Path) else made
        except StashError as failure:
            self.app.call_from_thread(self.say_failure, failure)
            return
        self.post_message(ParentFound(parent_of(opened) or start, opened, opens=opened is not made))

    @on(ParentFound)
    def _parent_found(self, message: ParentFound) -> None:
        self._sides = message.parent, message.made
        if message.opens:
            self._take_up(message.made)
            self.show_recording(message.made)
            self._go_to_end()
            self.status.show(f"recorded in {message.made.path and message.made.path.name}; {self._compare_words}")

    def _go_to_end(self) -> None:
        if self.session is not None and not self.session.at_end:
            self.follow(self.session.last())

    def _take_up(self, made: Recording) -> None:
        if made.path is not None:
            self.stash_app.take_up(made.path)

    @property
    def _compare_words(self) -> str:
        return f"{(keys_now(self.app, command('compare')) or [':compare'])[0]} shows the difference"

    def action_compare(self) -> None:
        """Show what a run has changed; elsewhere choose what to compare with."""
        sides, session = self._sides, self.session
        if sides is None or session is None or session.recording.id != sides[1].id:
            super().action_compare()
            return
        from stashdbg_tui.screens.diff import DiffScreen

        self.app.push_screen(DiffScreen(sides, limits=self.stash_app.limits))

    # Its output

    def list_rows(self, kind: str) -> None:
        """List something in the panel anew."""
        if kind != "run" or self.live is None:
            super().list_rows(kind)
            return
        panel, live = self.panel, self.live
        was_open = panel.kind == "run"
        at_end = not was_open or panel.top >= panel.row_count - panel.page_rows
        width = panel.size.width or self.size.width
        self._output_seen = live.tail.version, width
        rows = output_rows(live.tail.lines(), width - 2)
        stop = (keys_now(self.app, command("program.stop")) or [":stop"])[0]
        title = f"Output of {live.name}" + (f" · {stop} stops it" if self.runs else "")
        self.open_panel("run", title, rows or [PanelRow([("  it has written nothing yet", "muted")])], focus=False)
        panel.cursor = -1  # lines that are only read
        if at_end:
            panel.call_after_refresh(panel.scroll_to_row, len(rows))  # it may have no height yet

    def action_copy(self, what: str) -> None:
        """Copy; of a run, the command that makes it without a screen."""
        if what != "command" or self._plan is None or self.panel.kind != "run":
            super().action_copy(what)
            return
        from stashdbg_tui.copying import to_clipboard

        self.status.show(to_clipboard(self.app, self._plan.command_line(), named=True))

    # Stopping, and leaving

    def action_stop_program(self) -> None:
        """Tell the program to end."""
        if self.live is None or not self.runs:
            self.status.show("no program is running")
            return
        self.live.stop()
        self.status.show("told it to end; it is killed if it does not within 5 seconds")

    def holds_back(self, action: str) -> bool:
        """Ask, while a program runs, before an action that leaves it; tell whether it has to wait."""
        if self.live is None or not self.runs or self._after_stop is not None:
            return False
        name = shorten(self.live.name, 40)
        self.ask_choice(f"{name} is running", (("s", "stop it and leave", f"stop_and('{action}')"),))
        return True

    def action_stop_and(self, action: str) -> None:
        """Stop the program, and do something when it has ended."""
        self._after_stop = action
        self.action_stop_program()
