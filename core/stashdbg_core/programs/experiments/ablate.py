"""Which of the earlier outputs that ``why`` names make a difference to a call: each is taken out, and it is run again.

Calls whose inputs stay the same are served from the recording, the others run for real. What changes then counts only
where it does not change by itself: the same calls are run for real with nothing taken out, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.fork.override import Override
from stashdbg_core.fork.places import find_event
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.programs.experiments.ablation_verdict import Observed, Verdict, judged, observed
from stashdbg_core.programs.experiments.endings import live_calls
from stashdbg_core.programs.experiments.neutral import Neutral, neutralised
from stashdbg_core.programs.experiments.trials import Outcome, Progress, Settings, Trial, Trials, run_folder
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.runs.continuing_run import WhatIf
from stashdbg_core.programs.runs.program_run import unhooked
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.last_change import PayloadPart
from stashdbg_core.session.tasks import Task
from stashdbg_core.session.why import WhyNode, why_steps
from stashdbg_core.session.words import counted
from stashdbg_core.store.open import open_recording

MOST_TIMES = 100
TIMES = 3
_VALUES = ("clock", "random", "stdin")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Candidate:
    """An earlier output that will be taken out."""

    event: RecordedEvent
    hops: int
    """Links between it and the call that is asked about."""
    neutral: Neutral

    @property
    def seq(self) -> int:
        """Of the event."""
        return self.event.seq

    @property
    def override(self) -> Override:
        """The outcome that is served in its place."""
        return Override(self.event.outcome, self.neutral.tree)

    def to_json(self) -> dict[str, Json]:
        """Return the candidate as JSON."""
        return {
            "seq": self.seq,
            "channel": self.event.channel,
            "key": self.event.key,
            "hops": self.hops,
            "removed": list(self.neutral.removed) or None,
        }


@dataclass(frozen=True, slots=True)
class AblationPlan:
    """What will be taken out, one at a time, and what that may cost."""

    recording: Recording
    command: Command
    target: RecordedEvent
    position: int
    part: PayloadPart | None
    pointer: str | None
    candidates: tuple[Candidate, ...]
    skipped: tuple[int, ...]
    """``seq`` of events of the slice that are left as they are: nothing to take out, or made inside another call."""
    times: int
    live: tuple[tuple[str, str, int], ...]
    """Calls that run for real at most, over all runs, if the program makes none that it did not make before."""

    @property
    def runs(self) -> int:
        """How many runs there are at most: each candidate's, and as many with nothing taken out."""
        return (len(self.candidates) + 1) * self.times if self.candidates else 0

    @property
    def live_calls(self) -> int:
        """How many calls run for real at most."""
        return sum(count for _, _, count in self.live)

    def to_json(self) -> dict[str, Json]:
        """Return the plan as JSON."""
        return {
            "seq": self.target.seq,
            "part": self.part,
            "pointer": self.pointer,
            "command": self.command.words(),
            "candidates": [candidate.to_json() for candidate in self.candidates],
            "skipped": list(self.skipped),
            "times": self.times,
            "runs": self.runs,
            "live": [{"channel": channel, "key": key, "count": count} for channel, key, count in self.live],
            "liveCalls": self.live_calls,
        }

    def lines(self) -> list[str]:
        """Return the plan for people, unsanitised."""
        lines = [f"runs: {self.command.words()}"]
        for candidate in self.candidates:
            removed = candidate.neutral.removed
            what = ", ".join(repr(shorten(text, 40)) for text in removed[:3]) if removed else "all its texts"
            more = f" and {len(removed) - 3} more" if len(removed) > 3 else ""
            lines.append(f"  without {what}{more} of event {candidate.seq}, {call_words(candidate.event)}")
        if self.skipped:
            seqs = ", ".join(map(str, self.skipped))
            lines.append(f"left as they are, made inside another call or without a text to take out: event {seqs}")
        repeats = f"{self.times:,} times each" if self.times > 1 else "once each"
        lines.append(f"{repeats}, and as often with nothing taken out: {counted(self.runs, 'run')} at most")
        lines.append("calls with unchanged inputs are served; live at most, if it makes no more calls than before:")
        for channel, key, count in self.live[:_SHOWN]:
            lines.append(f"  {shorten(channel, 40)}  {shorten(key, 60)}  {counted(count, 'time')}")
        if len(self.live) > _SHOWN:
            lines.append(f"  and {counted(len(self.live) - _SHOWN, 'other')}")
        return lines if self.live else [*lines[:-1], "nothing goes live: no call comes after"]


@dataclass(frozen=True, slots=True)
class Ablated:
    """What taking one output out did."""

    candidate: Candidate
    verdict: Verdict
    live: int
    """Calls that ran for real, over its runs."""

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {**self.candidate.to_json(), **self.verdict.to_json(), "live": self.live}


@dataclass(frozen=True, slots=True)
class Ablation:
    """What came of all of them."""

    plan: AblationPlan
    results: tuple[Ablated, ...]
    controls: int
    """Runs with nothing taken out, in which the same calls ran for real; none where nothing had changed."""
    control_live: int
    folder: Path
    interrupted: bool
    limited: int = 0
    """Runs that were ended for making too many live calls; they count for nothing."""

    def to_json(self) -> dict[str, Json]:
        """Return the result as JSON."""
        return {
            "seq": self.plan.target.seq,
            "part": self.plan.part,
            "pointer": self.plan.pointer,
            "times": self.plan.times,
            "results": [result.to_json() for result in self.results],
            "unablated": {"runs": self.controls, "live": self.control_live},
            "skipped": list(self.plan.skipped),
            "folder": str(self.folder),
            "interrupted": self.interrupted,
            "limited": self.limited,
        }


def call_words(event: RecordedEvent) -> str:
    """Return a call's channel and key for a line."""
    return f"{shorten(event.channel, 40)} {shorten(event.key, 60)}"


def plan_ablation(
    recording: Recording,
    command: Command,
    at: int | str,
    *,
    pointer: str | None = None,
    part: PayloadPart | None = None,
    times: int = TIMES,
    only: Sequence[int] = (),
) -> AblationPlan:
    """Return what an ablation will do.

    Args:
        recording: The run; lies in a file.
        command: What is run.
        at: The call asked about: its ``seq``, or ``channel:key:ordinal``.
        pointer: One field of its value or input; else its whole input and outcome are.
        part: Which of them, where both have the field.
        times: How often each output is taken out.
        only: ``seq`` of the outputs that are taken out; all of the slice by default.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no such call or field, or no earlier output to take out.
    """
    if not 1 <= times <= MOST_TIMES:
        raise invalid_input(f"--times is 1 to {MOST_TIMES}", hint="leave it out for 3")
    position = find_event(recording, at)
    target = recording.events[position]
    if target.parent is not None:
        raise invalid_input(
            f"event {target.seq} was made inside event {target.parent}, which is served as one", hint="ask about that"
        )
    found = Task(why_steps(recording, position, pointer=pointer, part=part)).run()
    nodes = [node for node in found.nodes[1:] if not only or node.seq in only]
    unknown = sorted(set(only) - {node.seq for node in nodes})
    if unknown:
        raise invalid_input(
            f"event {unknown[0]} is not in the slice of event {target.seq}", hint="`stashdbg why` prints the slice"
        )
    found_at = {node.seq: _candidate(recording, node) for node in nodes}
    chosen = tuple(candidate for candidate in found_at.values() if candidate is not None)
    return AblationPlan(
        recording=recording,
        command=command,
        target=target,
        position=position,
        part=found.part,
        pointer=found.pointer,
        candidates=chosen,
        skipped=tuple(seq for seq, candidate in found_at.items() if candidate is None),
        times=times,
        live=_most_live(recording, chosen, times),
    )


def ablate(
    plan: AblationPlan,
    folder: Path,
    *,
    trials: Trials | None = None,
    progress: Progress | None = None,
    settings: Settings = Settings(),
) -> Ablation:
    """Take each output out, and say which make a difference; the recording of every run is kept.

    Args:
        plan: What is done.
        folder: Where the recordings go; it is made if it is not there.
        trials: What makes the runs, in threads here by default, and stops them from another thread.
        progress: Told how many runs are over.
        settings: How calls are compared, served and masked.

    Raises:
        StashError: There is nothing to take out, the program cannot be run, or a file cannot be written.
    """
    if plan.recording.path is None:
        raise invalid_input("an ablation needs a recording that lies in a file", hint="write it first")
    if not plan.candidates:
        raise invalid_input(
            f"no earlier output says anything that event {plan.target.seq} says, so there is nothing to take out",
            hint="`stashdbg why` shows what reaches a call",
        )
    base = Trial("continue", plan.recording.path, plan.command, settings=settings)
    with run_folder(folder):
        return _Runs(plan, folder, base, trials or Trials(), progress or (lambda done, total: None)).all()


class _Runs:
    """The runs of one ablation."""

    def __init__(self, plan: AblationPlan, folder: Path, base: Trial, trials: Trials, progress: Progress) -> None:
        self._plan = plan
        self._folder = folder
        self._base = base
        self._trials = trials
        self._progress = progress
        self._limited = 0

    def all(self) -> Ablation:
        plan, times = self._plan, self._plan.times
        made = [
            replace(
                self._base,
                path=self._folder / f"without-{candidate.seq}-run-{number}.json",
                what_if=WhatIf({candidate.seq: candidate.override}),
            )
            for candidate in plan.candidates
            for number in range(1, times + 1)
        ]
        seen = self._observe(made, 0)
        recorded = observed(plan.recording, plan.recording, plan.target, plan.position)
        by_candidate = [
            [one for number, one in seen if (number - 1) // times == place] for place in range(len(plan.candidates))
        ]
        telling = [runs for runs in by_candidate if any(one.differs(recorded) for one in runs)]
        again = frozenset(seq for runs in telling for one in runs for seq in one.again)
        controls = self._controls(again, len(made)) if telling and not self._trials.interrupted else []
        results = [
            Ablated(
                candidate,
                self._judged(recorded, controls, runs, candidate),
                sum(one.live for one in runs),
            )
            for candidate, runs in zip(plan.candidates, by_candidate, strict=True)
            if runs
        ]
        live = sum(one.live for one in controls)
        interrupted = self._trials.interrupted
        return Ablation(plan, tuple(results), len(controls), live, self._folder, interrupted, self._limited)

    def _judged(
        self, recorded: Observed, controls: list[Observed], runs: list[Observed], candidate: Candidate
    ) -> Verdict:
        """Return the verdict; none is causal before the live calls of its runs were made with nothing taken out."""
        plan = self._plan
        verdict = judged(recorded, controls, runs, candidate.neutral.removed, plan.part, plan.pointer)
        tested = bool(controls) or not any(one.again for one in runs)
        complete = len(runs) == plan.times and (not controls or len(controls) == plan.times)
        return verdict if tested and complete else replace(verdict, causal=False, complete=False)

    def _controls(self, again: frozenset[int], before: int) -> list[Observed]:
        made = [
            replace(self._base, path=self._folder / f"as-recorded-run-{number}.json", what_if=WhatIf(again=again))
            for number in range(1, self._plan.times + 1)
        ]
        return [one for _, one in self._observe(made, before)]

    def _observe(self, made: list[Trial], before: int) -> list[tuple[int, Observed]]:
        total = self._plan.runs
        outcomes = self._trials.run(made, lambda done, _: self._progress(before + done, total))
        self._limited += sum(outcome.result.limited for outcome in outcomes)
        whole = [outcome for outcome in outcomes if not (outcome.killed or outcome.result.limited)]
        return [(outcome.number, self._observed(outcome)) for outcome in whole]

    def _observed(self, outcome: Outcome) -> Observed:
        result = outcome.result
        if result.path is None or result.report is None:
            raise unhooked(self._plan.command)
        recording = open_recording(result.path)
        live = frozenset(event.seq for event in live_calls(recording, result.report.live_seqs))
        return observed(self._plan.recording, recording, self._plan.target, self._plan.position, live)


def _candidate(recording: Recording, node: WhyNode) -> Candidate | None:
    event = recording.events[node.position]
    if event.parent is not None or event.damage is not None:
        return None
    try:
        tree = recording.blobs.tree(event.ref)
    except StashError:
        return None
    evidence = [one for link in node.links for one in link.evidence]
    neutral = neutralised(tree, evidence, whole=any(link.more for link in node.links))
    return None if neutral is None else Candidate(event, node.hops, neutral)


def _most_live(recording: Recording, candidates: Sequence[Candidate], times: int) -> tuple[tuple[str, str, int], ...]:
    """Count the calls after each candidate, and after the first once more for the runs with nothing taken out."""
    seqs = [candidate.seq for candidate in candidates]
    if not seqs:
        return ()
    counts: Counter[tuple[str, str]] = Counter()
    for event in recording.events:
        if event.parent is None and event.channel not in _VALUES:
            name = (event.channel, event.key)
            counts[name] += times * (sum(event.seq > seq for seq in seqs) + (event.seq > min(seqs)))
    return tuple((*name, count) for name, count in counts.items() if count)
