"""Before a program runs on from a recording: what is served, what goes live, and the command to confirm or type.

Ends with the run as it was shown last, or None. Nothing is started here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from textual import on
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Button, Input

from stashdbg_core.model import Recording
from stashdbg_core.programs.runs.preview import Preview
from stashdbg_core.programs.runs.run_plan import RunOffer, RunPlan, RunWishes, offer_run, plan_run, preview_run
from stashdbg_tui.screens.dialog import Dialog, Fact, Field
from stashdbg_tui.widgets.panel import Panel
from stashdbg_tui.widgets.plain_rows import headed_rows, room_in_dialog
from stashdbg_tui.widgets.tick_box import TickBox

_AROUND = 17
"""Lines of the dialog that are not the preview."""
_ROOMY = 28
"""Lines of a screen from which on there is a blank around the list."""
_FEWEST = 4
_CHANGED = "this is what will run now; Run starts it"


@dataclass(frozen=True, slots=True)
class ChosenRun:
    """A run, and whether it has the terminal to itself."""

    plan: RunPlan
    in_terminal: bool


@dataclass(frozen=True, slots=True)
class _Offered:
    offer: RunOffer
    preview: Preview
    plan: RunPlan | None
    """The run of the command as it was recorded, where that may run."""


class RunDialog(Dialog[ChosenRun]):
    """What will happen, said before it does.

    Args:
        recording: What is run on from; its command is known.
    """

    heading = "Run the program on"

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self._recording = recording
        self._offer: RunOffer | None = None
        self._plan: RunPlan | None = None
        """What is shown, if it can be run."""
        self._lines: list[str] = []

    def body(self) -> Iterable[Widget]:
        """Return the command, what it will do, and what can be changed."""
        yield Fact("recorded", id="run-recorded")
        yield Fact("", id="run-refusal")
        yield Fact("in folder", id="run-folder")
        yield Panel(id="run-preview")
        yield Field("command", "run-command", placeholder="type it; it does not run because a file says so")
        yield Field("save as", "run-file")
        yield Field("--rerun", "run-rerun", placeholder="CHANNEL/KEY … of recorded calls to make for real again")
        yield Field("--secret", "run-secrets", placeholder="PLACEHOLDER=env:NAME …")
        yield TickBox("needs the terminal: asks or draws", id="run-terminal")

    def buttons(self) -> Iterable[Button]:
        """Return what can be done."""
        yield self.button("Run", "run", usual=True)
        yield self.button("Copy the command line", "copy")
        yield self.button("Close", "leave")

    def on_mount(self) -> None:
        """Find out what will happen."""
        for name in ("recorded", "refusal", "folder"):
            self.query_one(f"#run-{name}", Fact).display = False
        for name in ("rerun", "secrets"):
            self._show_field(name, shown=False)
        self.show_buttons("leave")
        self.say("looking at what is recorded…")
        self.work_on("offer", lambda progress: _offered(self._recording))

    def on_resize(self, event: Resize) -> None:
        """Give the preview what room there is."""
        self._fit()

    def act(self, button: str) -> None:
        """Run what is shown, or show first what was changed."""
        offer, wishes = self._offer, self._wishes()
        if offer is None or self.working:
            return
        if button == "copy":
            self._copy()
        elif self._plan is not None and self._plan.wishes == wishes:
            self.dismiss(ChosenRun(self._plan, self.query_one(TickBox).value))
        else:
            self.say("looking at what that would do…")
            self.work_on("plan", lambda progress: plan_run(offer, wishes))

    def done(self, kind: str, result: object) -> None:
        """Show what was found."""
        if isinstance(result, _Offered):
            self._show_offer(result)
        elif isinstance(result, RunPlan):
            before = self._plan
            self._show_plan(result)
            if before is not None and replace(before.wishes, file="") == replace(result.wishes, file=""):
                self.act("run")
            else:
                self.say(_CHANGED, "bold $text-warning")
                self.query_one("#do-run", Button).focus()

    def failed(self, kind: str) -> None:
        """Forget what was shown: it is not what was typed."""
        self._plan = None if kind == "offer" else self._plan

    def _show_offer(self, found: _Offered) -> None:
        offer = self._offer = found.offer
        if not offer.command_text:
            self.query_one("#run-recorded", Fact).show(offer.recorded.words())
        self.query_one("#run-refusal", Fact).show(offer.refusal_words)
        self.query_one("#run-command", Input).value = offer.command_text
        self.query_one("#run-file", Input).value = offer.path.name
        if found.plan is not None:
            self._plan = replace(found.plan, wishes=self._wishes())
            self.query_one("#run-folder", Fact).show(str(offer.recorded.cwd))
        self._show_preview(found.preview)
        self._show_field("rerun", shown=bool(found.preview.effects))
        self._show_field("secrets", shown=bool(found.preview.placeholders))
        self.show_buttons("run", "copy", "leave")
        self.say("what runs live is real: it costs what it costs, and does what it does", "$text-warning")
        if found.plan is None:
            self.query_one("#run-command", Input).focus()

    def _show_plan(self, plan: RunPlan) -> None:
        self._plan = plan
        self.query_one("#run-folder", Fact).show(str(plan.command.cwd))
        self._show_preview(plan.preview)

    def _show_preview(self, preview: Preview) -> None:
        self._lines = preview.lines()[1:]
        self._fit()

    def _fit(self) -> None:
        rows = headed_rows(self._lines, room_in_dialog(self.app.size.width))
        panel = self.query_one(Panel)
        panel.show_rows("preview", "", rows)
        panel.cursor = -1
        height = min(len(rows), max(self.size.height - _AROUND, _FEWEST))
        panel.styles.height = panel.styles.max_height = height
        panel.can_focus = len(rows) > height
        panel.styles.margin = (1, 0) if self.size.height >= _ROOMY else 0

    def _copy(self) -> None:
        from stashdbg_tui.copying import to_clipboard

        if self._plan is None or self._plan.wishes != self._wishes():
            self.say("press Run once to see what was typed")
        else:
            self.say(to_clipboard(self.app, self._plan.command_line(), named=True))

    def _wishes(self) -> RunWishes:
        return RunWishes(*(self.typed(f"run-{name}") for name in ("command", "rerun", "secrets", "file")))

    def _show_field(self, name: str, *, shown: bool) -> None:
        parent = self.query_one(f"#run-{name}", Input).parent
        assert isinstance(parent, Field)
        parent.display = shown

    @on(TickBox.Changed)
    def _ticked(self, event: TickBox.Changed) -> None:
        event.stop()


def _offered(recording: Recording) -> _Offered:
    offer = offer_run(recording)
    if offer.refusal is not None:
        return _Offered(offer, preview_run(offer), None)
    plan = plan_run(offer, RunWishes())
    return _Offered(offer, plan.preview, plan)
