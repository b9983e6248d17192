"""A program run on from a fork: the recorded calls are served, then it goes live; all of it is recorded anew.

A call that is not in the recording runs for real when no recorded call of its lane is left to be asked for; one that
comes before that is a divergence, and stops the program unless it was wished otherwise. What is served goes on the new
tape as it was recorded.

Asked *what if*, it serves a whole recording with some outcomes put in by hand, and every call that this makes another
one runs for real.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.fork.override import Override
from stashdbg_core.model import Recording
from stashdbg_core.programs.runs.recording_run import RecordingRun
from stashdbg_core.programs.runs.replaying_run import divergence_answer, refusal, served_answer
from stashdbg_core.programs.tapes.answering import Asked, Say
from stashdbg_core.programs.tapes.secrets import Secrets, check_held
from stashdbg_core.programs.tapes.serving import Missed, Served, Serving
from stashdbg_core.programs.tapes.tape import ProgramTape
from stashdbg_core.programs.wire.frames import Origin
from stashdbg_core.record.call import Call
from stashdbg_core.record.masking import DEFAULT, Redaction
from stashdbg_core.replay.divergence import DivergenceReport
from stashdbg_core.replay.ignore import IgnorePattern
from stashdbg_core.replay.nearest import nearest_key
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.words import counted

if TYPE_CHECKING:
    from stashdbg_core.programs.wire.frames import Answer, Mode

_HINT = (
    "before the fork point the program has to do as recorded; fork again from a recording of the program as it is now, "
    "or let such calls run with --on-divergence live"
)
OnEarlyCall: TypeAlias = Literal["stop", "live"]
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class WhatIf:
    """How a run that is served a whole recording differs from it; a call that is not in it runs for real."""

    replaced: Mapping[int, Override] = field(default_factory=dict)
    """Outcomes put in by hand, by the ``seq`` of the recorded call."""
    again: frozenset[int] = frozenset()
    """``seq`` of recorded calls that run for real."""


class ContinuingRun(RecordingRun):
    """Serves the calls that a fork kept, and records the whole run.

    Args:
        tape: Where all calls go.
        recording: The fork; or any recording, which is then run on from its end.
        seed: As for ``Answering``; that of the recording.
        say: As for ``Answering``.
        rerun: Channel and key of recorded calls that run for real nevertheless.
        secrets: What placeholders in served values stand for.
        ignore: Parts of inputs that are not compared.
        redact: How live inputs are masked before they are compared.
        what_if: The recording is served whole, but for this.
        on_divergence: ``stop``: a call that is not recorded and comes before the point from which calls are live ends
            the program; ``live``: it runs for real, and is reported.
        max_calls: How many calls run for real at most; the next one ends the program.

    Raises:
        StashError: ``rerun`` names a call that the recording does not have, or ``secrets`` a placeholder.
    """

    mode: ClassVar[Mode] = "continue"

    def __init__(
        self,
        tape: ProgramTape,
        recording: Recording,
        seed: str,
        say: Say,
        *,
        rerun: Collection[Name] = (),
        secrets: Secrets | None = None,
        ignore: Sequence[IgnorePattern] = (),
        redact: Redaction = DEFAULT,
        what_if: WhatIf | None = None,
        on_divergence: OnEarlyCall = "stop",
        max_calls: int | None = None,
    ) -> None:
        super().__init__(tape, seed, say)
        self._goes_on = on_divergence == "live"
        self._max_calls = max_calls
        self._calls = 0
        self._what_if = what_if
        self._serving = Serving(recording, ignore, redact)
        self._serving.leave_out_unfinished()
        self._rerun = frozenset(rerun)
        for channel, key in rerun:
            if not self._serving.leave_out(channel, key):
                raise unknown_rerun(channel, key, self._serving.names)
        self._serving.leave_out_calls(what_if.again if what_if is not None else ())
        self._secrets = secrets or Secrets({})
        check_held(self._secrets.placeholders, recording)
        self._last: Answer | None = None

    def call(self, asked: Asked, origin: Origin) -> Answer:
        """Serve a call, or let it run."""
        if self._last is not None:
            return self._last
        if self._is_live(asked):
            return self.run_live(asked)
        try:
            found = self._serving.ask(asked.channel, asked.key, asked.given, asked.thread, asked.site, explain=False)
            if isinstance(found, Missed):
                return (self._missed(found) if self._parts(found) else None) or self.run_live(asked)
        except StashError as error:
            return self._stop(refusal(error, stop=True))
        return self._serve(self._as_told(found), asked)

    def value(self, asked: Asked, live: Json, origin: Origin, *, soft: bool) -> Answer:
        """Serve a value, or take the program's own."""
        if self._last is not None:
            return self._last
        if live is not ABSENT or self._is_live(asked):  # asked before, and told to run
            answer = super().value(asked, live, origin, soft=soft)
            if live is not ABSENT:
                self._serving.read_live()
            return answer
        try:
            found = self._serving.ask(
                asked.channel, asked.key, asked.given, asked.thread, asked.site, quiet=soft, explain=False, moves=True
            )
        except StashError as error:
            return self._stop(refusal(error, stop=True))
        if isinstance(found, Served):
            found = self._as_told(found)
            self.tape.put(super().begin(asked), found.event.outcome, found.tree)
            return {"value": self._secrets.filled(found.tree)}
        early = self._missed(found) if self._parts(found) and not soft else None
        return early or super().value(asked, live, origin, soft=soft)

    def run_live(self, asked: Asked) -> Answer:
        """Let a call run, unless as many have run as may."""
        with self._lock:
            self._calls += 1
            if self._max_calls is not None and self._calls > self._max_calls:
                return self._stop_at_limit(self._max_calls)
        return super().run_live(asked)

    def begin(self, asked: Asked) -> Call:
        """Take a place on the tape; what is not served runs for real."""
        call = super().begin(asked)
        self._serving.ran_live(call.seq)
        return call

    def report(self) -> DivergenceReport:
        """Return how the run went: what was served, what ran for real, where it diverged."""
        return self._serving.report(stopped=self._last is not None)

    def unreached(self) -> int | None:
        """Return the ``seq`` of the last call to be served, if the program ended by itself and never made it."""
        return None if self._last is not None else self._serving.unreached()

    def progress(self) -> tuple[int, int]:
        """Return how many calls were served so far, and how many ran for real."""
        return self._serving.matched(), self._serving.live

    def close(self, **facts: Json) -> None:
        """End the tape."""
        report = self.report()
        continued: dict[str, Json] = {
            "from": self._serving.recording.id,
            "served": report.matched,
            "live": report.live,
        }
        if self._what_if is not None:
            continued |= {"replaced": sorted(self._what_if.replaced), "again": sorted(self._what_if.again)}
        if self.limited:
            continued["maxCalls"] = self._max_calls
        if self._rerun:
            continued["rerun"] = [f"{channel}/{key}" for channel, key in sorted(self._rerun)]
        super().close(continued=continued, **facts)

    def _is_live(self, asked: Asked) -> bool:
        """Tell whether a call runs whatever is recorded: asked for by name, or made inside a process that runs."""
        return asked.parent is not None or (asked.channel, asked.key) in self._rerun

    def _parts(self, found: Missed) -> bool:
        """Tell whether a call that is not recorded comes too early: before the point from which calls are live."""
        return found.left and self._what_if is None

    def _as_told(self, found: Served) -> Served:
        """Return a recorded call with the outcome that was put in by hand, if one was."""
        override = self._what_if.replaced.get(found.event.seq) if self._what_if is not None else None
        if override is None:
            return found
        return Served(found.event.replaced(outcome=override.outcome), override.tree)

    def _serve(self, found: Served, asked: Asked) -> Answer:
        event = found.event
        tree = self._secrets.filled(found.tree)
        call = super().begin(asked)
        if call.seq is None:
            raise invalid_input("the recording has ended", hint="run on without it")
        try:
            answer = served_answer(found, asked, call.seq, tree)
        except StashError as error:
            self._serving.broke(event, error, asked.site)
            return self._stop(refusal(error, stop=True))
        self.tape.put(call, event.outcome, found.tree, float(event.ms or 0))
        return answer

    def _missed(self, found: Missed) -> Answer | None:
        """Take down a call that comes too early, and return the answer to it; None: it runs for real."""
        with self._lock:
            if self._goes_on and self._last is None:
                self._serving.passed_by(found)
                return None
            if self._last is None:
                self._serving.diverged(found)
            return self._stop(divergence_answer(found, _HINT, stop=True))

    def _stop_at_limit(self, limit: int) -> Answer:
        if not self.limited:
            self.limited = True
            text = f"ended after {counted(limit, 'live call')}, as many as --max-calls allows"
            self._serving.noted(text)
            self.note("limit", text)
        error = invalid_input("the program has made all the live calls it may", hint="give a larger --max-calls")
        return self._stop({"error": {"kind": "limit", "message": error.message, "hint": error.hint}, "stop": True})

    def _stop(self, answer: Answer) -> Answer:
        """End the program: this call and every later one gets the same answer."""
        with self._lock:
            self._last = self._last or answer
            self.stopped.set()
            return self._last


def unknown_rerun(channel: str, key: str, names: Sequence[Name]) -> StashError:
    """Return the error for a call to be run again that is not in the recording."""
    asked = shorten(f"{channel}/{key}", 80)
    known = [f"{one}/{other}" for one, other in names]
    near = nearest_key(f"{channel}/{key}", known)
    hint = f"did you mean {shorten(near, 80)}?" if near else f"it has {', '.join(shorten(n, 60) for n in known[:8])}"
    return invalid_input(f"--rerun {asked}: the recording has no such call", hint=hint if known else None)
