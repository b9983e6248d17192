"""Which of the outputs that reached a call are causal: what testing them costs, the runs, and what came of each.

Ends with the ``seq`` of an event to jump to, or None.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from textual import on
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Button, Input

from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.opening.files import place_of
from stashdbg_core.programs.experiments.ablate import Ablated, Ablation, AblationPlan, ablate, call_words, plan_ablation
from stashdbg_core.programs.experiments.ablation_words import ablation_command_line, effect_words, verdict_words
from stashdbg_core.programs.experiments.trials import Trials
from stashdbg_core.programs.runs.run_plan import RunOffer, chosen_command, offer_run
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.why import Slice
from stashdbg_core.store.atomic import free_path
from stashdbg_tui.copying import to_clipboard
from stashdbg_tui.screens.dialog import Dialog, Fact, Field, Progressed
from stashdbg_tui.widgets.panel import Panel, PanelRow
from stashdbg_tui.widgets.plain_rows import headed_rows, plain_row, room_in_dialog

_AROUND = 15
"""Lines of the dialog that are not the list."""
_ROOMY = 28
"""Lines of a screen from which on there is a blank around the list."""
_FEWEST = 5
_TIMES = "3"
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class _Planned:
    offer: RunOffer
    plan: AblationPlan
    typed: bool
    runnable: bool
    wishes: tuple[str, str]


class AblateDialog(Dialog[int]):
    """The cost first, then the runs, then the verdicts.

    Args:
        recording: The run.
        found: What ``why`` listed.
    """

    heading = "Test which outputs are causal"

    def __init__(self, recording: Recording, found: Slice) -> None:
        super().__init__()
        self._recording = recording
        self._found = found
        self._planned: _Planned | None = None
        self._trials: Trials | None = None
        self.result: Ablation | None = None

    def body(self) -> Iterable[Widget]:
        """Return the command, what will be done or was found, and what can be changed."""
        yield Fact("recorded", id="ablate-recorded")
        yield Fact("", id="ablate-refusal")
        yield Panel(id="ablate-rows")
        yield Field("command", "ablate-command", placeholder="type it; it does not run because a file says so")
        yield Field("times each", "ablate-times", _TIMES)

    def buttons(self) -> Iterable[Button]:
        """Return what can be done."""
        yield self.button("Run", "run", usual=True)
        yield self.button("Copy the command line", "copy")
        yield self.button("Close", "leave")

    def on_mount(self) -> None:
        """Find out what it costs."""
        self.query_one("#ablate-recorded", Fact).display = False
        self.query_one("#ablate-refusal", Fact).display = False
        self.show_buttons("leave")
        self.say("looking at what can be taken out…")
        self.work_on("offer", lambda progress: self._plan(offer_run(self._recording), ("", _TIMES), shows=True))

    def on_unmount(self) -> None:
        """Leave no program behind."""
        if self._trials is not None:
            self._trials.stop()

    def on_resize(self, event: Resize) -> None:
        """Give the list what room there is."""
        self._fit()

    def act(self, button: str) -> None:
        """Run what is shown, or show first what was changed."""
        planned, wishes = self._planned, self._wishes()
        if planned is None or self.working:
            return
        if planned.wishes != wishes or not planned.runnable:
            self.work_on("plan", lambda progress: self._plan(planned.offer, wishes))
        elif button == "copy":
            self._copy(planned)
        else:
            self._trials = trials = Trials()
            self.show_buttons("leave")
            self.say(f"0 of {planned.plan.runs:,} runs; Esc stops")
            self.work_on("ablate", lambda progress: self._run(planned.plan, trials))

    def done(self, kind: str, result: object) -> None:
        """Show what was found."""
        if isinstance(result, Ablation):
            self._trials, self.result = None, result
            self._show_result(result)
        elif isinstance(result, _Planned):
            self._show_plan(result, first=kind == "offer")

    def failed(self, kind: str) -> None:
        """Let the user try again."""
        self._trials = None
        if self._planned is not None:
            self.show_buttons("run", "copy", "leave")

    def action_leave(self) -> None:
        """Stop the runs, or close."""
        if self._trials is not None and self.working:
            self._trials.stop()
            self.say("stopping the programs…")
        else:
            super().action_leave()

    # In a thread

    def _plan(self, offer: RunOffer, wishes: tuple[str, str], *, shows: bool = False) -> _Planned:
        """Return what would be done; ``shows``: only to be shown, where the command has to be typed yet."""
        text, times = wishes
        if not times.isdecimal() or not times.isascii() or len(times) > 4:
            raise invalid_input("times each is a number", hint="3 tells a change from chance")
        only_shown = shows and offer.refusal is not None
        command, typed = (offer.recorded, False) if only_shown else chosen_command(offer, text)
        found = self._found
        plan = plan_ablation(
            self._recording, command, found.seq, pointer=found.pointer, part=found.part, times=int(times)
        )
        return _Planned(offer, plan, typed, runnable=not only_shown, wishes=wishes)

    def _run(self, plan: AblationPlan, trials: Trials) -> Ablation:
        assert plan.recording.path is not None
        own = place_of(plan.recording.path)
        folder = free_path(own.with_name(f"{own.name.removesuffix('.journal').removesuffix('.json')}-ablation"))

        def progress(done: int, total: int) -> None:
            self.post_message(Progressed(f"{done:,} of {total:,} runs"))

        return ablate(plan, folder, trials=trials, progress=progress)

    # What is shown

    def _show_plan(self, planned: _Planned, *, first: bool) -> None:
        offer, before = planned.offer, self._planned
        if first:
            if not offer.command_text:
                self.query_one("#ablate-recorded", Fact).show(offer.recorded.words())
            self.query_one("#ablate-refusal", Fact).show(offer.refusal_words)
            self.query_one("#ablate-command", Input).value = offer.command_text
        self._planned = _Planned(offer, planned.plan, planned.typed, planned.runnable, self._wishes())
        self._fit()
        self.show_buttons("run", "copy", "leave")
        if not first and before is not None:
            self.say("this is what will run now; Run starts it", "bold $text-warning")
        else:
            self.say("what runs live is real: it costs what it costs, and does what it does", "$text-warning")
            if not planned.runnable:
                self.query_one("#ablate-command", Input).focus()

    def _show_result(self, found: Ablation) -> None:
        self._fit()
        causal = sum(result.verdict.causal for result in found.results)
        said = f"causal: {causal} of {len(found.results)} that were tested"
        if found.controls:
            said += f"; compared with {found.controls} runs with nothing taken out"
        if found.interrupted:
            said += "; stopped, and the runs that had not ended count for nothing"
        self.say(f"{said}\nthe recordings are in {shorten(str(found.folder), 200)}")
        for name in ("command", "times"):
            field = self.query_one(f"#ablate-{name}", Input).parent
            assert isinstance(field, Field)
            field.display = False
        self.show_buttons("leave")
        panel = self.query_one(Panel)
        panel.focus(scroll_visible=False)
        self.query_one("#dialog").border_subtitle = "Enter jumps to the event · Esc closes"

    def _fit(self) -> None:
        width = room_in_dialog(self.app.size.width)
        if self.result is not None:
            rows = [row for result in self.result.results for row in _result_rows(result, width)]
        elif self._planned is not None:
            rows = headed_rows(self._planned.plan.lines()[1:], width)
        else:
            rows = []
        panel = self.query_one(Panel)
        panel.show_rows("result" if self.result is not None else "plan", "", rows)
        if self.result is None:
            panel.cursor = -1
        height = min(len(rows), max(self.size.height - _AROUND, _FEWEST))
        panel.styles.height = panel.styles.max_height = height
        panel.can_focus = self.result is not None or len(rows) > height
        panel.styles.margin = (1, 0) if self.size.height >= _ROOMY else 0

    def _copy(self, planned: _Planned) -> None:
        self.say(to_clipboard(self.app, ablation_command_line(planned.plan, typed=planned.typed), named=True))

    def _wishes(self) -> tuple[str, str]:
        return self.typed("ablate-command"), self.typed("ablate-times")

    @on(Panel.Chosen)
    def _chosen(self, message: Panel.Chosen) -> None:
        if isinstance(message.target, tuple):
            self.dismiss(message.target[0])


def _result_rows(result: Ablated, width: int) -> list[PanelRow]:
    event, verdict = result.candidate.event, result.verdict
    look = "evidence" if verdict.causal else "muted"
    head = [("without ", "muted"), (f"event {event.seq}  {call_words(event)}: ", "strong")]
    rows = [PanelRow([*head, (verdict_words(verdict), look)], (event.seq,))]
    for name, part in (("input", verdict.given), ("outcome", verdict.outcome)):
        rows += plain_row(f"  {name:<9}", effect_words(part, verdict.of), "text", width)
        if part.pointer is not None:
            rows += plain_row("    ", part.pointer[:_SHOWN] or "whole", "muted", width)
            rows += plain_row("      recorded  ", (part.before or "(absent)")[:_SHOWN], "text", width)
            rows += plain_row("      without   ", (part.after or "(absent)")[:_SHOWN], "text", width)
    return rows
