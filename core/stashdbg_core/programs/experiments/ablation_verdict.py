"""What taking an output out did to a later call, beyond what changes in every run anyway.

A call's input, and what it gave, are compared field by field with what was recorded. A field that also changes when
nothing is taken out shows nothing. Only what changes in each run, and would not by itself, is called causal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.diff import NOTHING, Difference, diff_recordings, differences
from stashdbg_core.diff.preview import preview
from stashdbg_core.diff.structure import Nothing
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.programs.experiments.endings import said_by
from stashdbg_core.programs.experiments.neutral import is_carried
from stashdbg_core.programs.experiments.parting import parted
from stashdbg_core.session.last_change import PayloadPart
from stashdbg_core.session.pointers import Absent, resolve

Effect: TypeAlias = Literal["same", "carried", "changed", "sometimes", "varies", "not made"]
"""``carried``: changed, but only in that the neutral text stands where the removed one stood; ``sometimes``: changed in
some of the runs; ``varies``: it also changes when nothing is taken out; ``not made``: the call did not come."""
_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Observed:
    """The call that is asked about, as it was in one run."""

    made: bool
    given: Json | Nothing = NOTHING
    outcome: str = ""
    raw: Json | Nothing = NOTHING
    """What it gave."""
    said: Json | Nothing = NOTHING
    """The same; of a model, its texts and tool calls."""
    again: frozenset[int] = frozenset()
    """``seq`` of the recorded calls whose counterparts ran for real."""
    live: int = 0
    is_model: bool = False

    def differs(self, other: Observed) -> bool:
        """Tell whether the call is not the same in another run."""
        return (
            self.made != other.made
            or self.outcome != other.outcome
            or next(_fields(self.given, other.given), None) is not None
            or next(_fields(self.raw, other.raw), None) is not None
        )


@dataclass(frozen=True, slots=True)
class PartVerdict:
    """What happened to the input, or to what came of the call."""

    effect: Effect
    runs: int = 0
    """In how many runs."""
    pointer: str | None = None
    """Example: a field that changed."""
    before: str | None = None
    after: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "effect": self.effect,
            "runs": self.runs,
            "pointer": self.pointer,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What taking an output out did to the call."""

    causal: bool
    given: PartVerdict
    outcome: PartVerdict
    of: int
    """How many runs there were."""
    complete: bool = True
    """Whether all runs that it takes came to their end; before that, nothing is causal."""

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "causal": self.causal,
            "input": self.given.to_json(),
            "outcome": self.outcome.to_json(),
            "of": self.of,
            "complete": self.complete,
        }


def observed(
    recorded: Recording, run: Recording, target: RecordedEvent, position: int, live: frozenset[int] = frozenset()
) -> Observed:
    """Return the call that is asked about as it was in a run.

    Args:
        recorded: The run that is asked about.
        run: Another run, or the same.
        target: The call in ``recorded``.
        position: Its index.
        live: ``seq`` in ``run`` of the calls that ran for real.
    """
    if run is recorded:
        return _seen(run, target, frozenset(), 0)
    rows = diff_recordings(recorded, run).rows
    again = frozenset(
        recorded.events[row.a].seq
        for row in rows
        if row.a is not None and row.b is not None and run.events[row.b].seq in live
    )
    found = next((row.b for row in rows if row.a == position), None)
    event = run.events[found] if found is not None else _at_same_place(run, target)
    return Observed(False, again=again, live=len(live)) if event is None else _seen(run, event, again, len(live))


def judged(
    recorded: Observed,
    controls: Sequence[Observed],
    runs: Sequence[Observed],
    removed: Sequence[str],
    part: PayloadPart | None,
    pointer: str | None,
) -> Verdict:
    """Return what an ablation did.

    Args:
        recorded: The call as it was.
        controls: The same in runs with nothing taken out.
        runs: The same in runs without the output.
        removed: The texts that were taken out.
        part: Input or value, if one field is asked about.
        pointer: The field.
    """
    given, outcome = _Part("given", pointer if part == "input" else None), _Part("said", None)
    if part == "value" and pointer is not None:
        outcome = _Part("raw", pointer)
    asked = [outcome] if part == "value" else [given] if part == "input" else [given, outcome]
    of_given = given.verdict(recorded, controls, runs, removed)
    of_outcome = outcome.verdict(recorded, controls, runs, removed)
    causal = any(
        _tells(found.effect, carried_counts=one is outcome or not recorded.is_model)
        for one, found in ((given, of_given), (outcome, of_outcome))
        if one in asked and found.runs == len(runs)
    )
    return Verdict(causal, of_given, of_outcome, len(runs))


def _tells(effect: Effect, *, carried_counts: bool) -> bool:
    """Tell whether a change is one; a model is sent every earlier message, so that a text stands there says nothing."""
    return effect in ("changed", "not made") or (effect == "carried" and carried_counts)


@dataclass(slots=True)
class _Part:
    """One side of a call, or one field of it."""

    name: Literal["given", "raw", "said"]
    pointer: str | None
    _varying: set[str] = field(default_factory=set)

    def verdict(
        self, recorded: Observed, controls: Sequence[Observed], runs: Sequence[Observed], removed: Sequence[str]
    ) -> PartVerdict:
        if any(not control.made for control in controls):
            return PartVerdict("varies")
        for control in controls:
            self._varying |= {one.pointer for one in self._between(recorded, control)}
        missing = sum(not run.made for run in runs)
        found = [self._changes(recorded, run, removed) for run in runs if run.made]
        changed = [run for run in found if run.own]
        carried = [run for run in found if run.carried and not run.own]
        total = missing + len(changed)
        if total:
            effect: Effect = "sometimes" if total < len(runs) else "changed" if changed else "not made"
            return self._example(effect, total, changed[0].own[0] if changed else None)
        if carried:
            effect = "carried" if len(carried) == len(runs) else "sometimes"
            return self._example(effect, len(carried), carried[0].carried[0])
        varying = [run for run in found if run.varying]
        return PartVerdict("varies" if varying else "same", len(varying))

    def _changes(self, recorded: Observed, run: Observed, removed: Sequence[str]) -> _Changes:
        found = _Changes([], [], [])
        for one in self._between(recorded, run):
            if any(_within(one.pointer, known) or _within(known, one.pointer) for known in self._varying):
                found.varying.append(one)
            elif one.before is not NOTHING and one.after is not NOTHING and is_carried(one.before, one.after, removed):
                found.carried.append(one)
            else:
                found.own.append(one)
        return found

    def _between(self, one: Observed, other: Observed) -> Iterator[Difference]:
        before: Json | Nothing = getattr(one, self.name)
        after: Json | Nothing = getattr(other, self.name)
        if self.name != "given" and one.outcome != other.outcome:
            yield from _fields([one.outcome, before], [other.outcome, after])
            return
        if self.pointer is not None:
            before, after = (_at(tree, self.pointer) for tree in (before, after))
        yield from _fields(before, after)

    def _example(self, effect: Effect, runs: int, change: Difference | None) -> PartVerdict:
        if change is None:
            return PartVerdict(effect, runs)
        before, after = _shown(change.before, change.after)
        return PartVerdict(effect, runs, (self.pointer or "") + change.pointer, before, after)


@dataclass(frozen=True, slots=True)
class _Changes:
    own: list[Difference]
    carried: list[Difference]
    varying: list[Difference]


def _seen(run: Recording, event: RecordedEvent, again: frozenset[int], live: int) -> Observed:
    given = NOTHING if event.input_ref is None else _tree(run, event.input_ref)
    raw = _tree(run, event.ref)
    try:
        said = said_by(run, event) if event.channel == "llm" else raw
    except StashError:
        said = raw
    return Observed(True, given, event.outcome, raw, said, again, live, event.channel == "llm")


def _at_same_place(run: Recording, target: RecordedEvent) -> RecordedEvent | None:
    name = (target.channel, target.key, target.ordinal)
    return next((event for event in run.events if (event.channel, event.key, event.ordinal) == name), None)


def _tree(recording: Recording, ref: str) -> Json | Nothing:
    try:
        return recording.blobs.tree(ref)
    except StashError:
        return NOTHING


def _at(tree: Json | Nothing, pointer: str) -> Json | Nothing:
    if tree is NOTHING:
        return NOTHING
    found = resolve(tree, pointer)
    return NOTHING if isinstance(found, Absent) else found


def _fields(before: Json | Nothing, after: Json | Nothing) -> Iterator[Difference]:
    if before is NOTHING and after is NOTHING:
        return
    if before is NOTHING or after is NOTHING:
        yield Difference(None, None, before, after)
        return
    yield from differences(before, after)


def _shown(before: Json | Nothing, after: Json | Nothing) -> tuple[str | None, str | None]:
    """Return both sides of a change on a line each; of long texts, the stretch where they part."""
    if type(before) is str and type(after) is str:
        before, after = parted(before, after)
    one, other = (None if side is NOTHING else preview(side, _SHOWN) for side in (before, after))
    return one, other


def _within(pointer: str, outer: str) -> bool:
    return pointer == outer or pointer.startswith(outer + "/")
