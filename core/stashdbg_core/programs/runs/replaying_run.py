"""A program run again offline: every call is answered from the recording, or is a divergence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.errors import ErrorCode, StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.programs.tapes.answering import Answering, Asked, Say
from stashdbg_core.programs.tapes.served import call_answer, http_answer
from stashdbg_core.programs.tapes.serving import Missed, Served, Serving
from stashdbg_core.programs.wire.frames import Origin
from stashdbg_core.record.masking import DEFAULT, Redaction
from stashdbg_core.replay.divergence import DivergenceReport
from stashdbg_core.replay.ignore import IgnorePattern

if TYPE_CHECKING:
    from stashdbg_core.programs.wire.frames import Answer, Mode

REFUSED = "refused"
"""Kind of a note on a connection or process that the program tried and did not get."""
_GO_ON = "the program differs from the recorded one; --on-divergence collect goes on to find all that differs"
OnDivergence: TypeAlias = Literal["stop", "collect"]


class ReplayingRun(Answering):
    """Serves a recording to the program it was made of.

    Args:
        recording: What is served.
        seed: As for ``Answering``; that of the recording.
        say: As for ``Answering``.
        on_divergence: ``stop``: the program ends at the first; ``collect``: it goes on where a recorded call stands at
            the same place, though with another input.
        ignore: Parts of inputs that are not compared.
        redact: How live inputs are masked before they are compared.
    """

    mode: ClassVar[Mode] = "replay"

    def __init__(
        self,
        recording: Recording,
        seed: str,
        say: Say,
        *,
        on_divergence: OnDivergence = "stop",
        ignore: Sequence[IgnorePattern] = (),
        redact: Redaction = DEFAULT,
    ) -> None:
        super().__init__(seed, say)
        self._serving = Serving(recording, ignore, redact)
        self._collects = on_divergence == "collect"
        self._last: Answer | None = None

    def call(self, asked: Asked, origin: Origin) -> Answer:
        """Serve a call."""
        if self._last is not None:
            return self._last
        try:
            found = self._serving.ask(asked.channel, asked.key, asked.given, asked.thread, asked.site)
        except StashError as error:
            return self._refused(error)
        if isinstance(found, Missed):
            if not self._collects or found.stand_in is None:
                return self._missed(found)
            self._serving.diverged(found, stands_in=True)
            found = found.stand_in
        try:
            return served_answer(found, asked, found.event.seq, found.tree)
        except StashError as error:
            self._serving.broke(found.event, error, asked.site)
            return self._refused(error)

    def value(self, asked: Asked, live: Json, origin: Origin, *, soft: bool) -> Answer:
        """Serve a value; one that a library drew and nobody recorded is its own."""
        if self._last is not None:
            return self._last
        own: Answer = {"run": True} if live is ABSENT else {}
        try:
            found = self._serving.ask(
                asked.channel, asked.key, asked.given, asked.thread, asked.site, quiet=soft, moves=True
            )
        except StashError as error:
            return own if soft else self._refused(error)
        if isinstance(found, Served):
            return {"value": found.tree}
        if soft:
            return own
        if not self._collects:
            return self._missed(found)
        self._serving.diverged(found)
        return own

    def note(self, kind: str, message: str, origin: Origin | None = None) -> None:
        """Take a note; a connection or process that was refused is something the recorded run did not do."""
        if kind == REFUSED:
            self._serving.refused(message)
        super().note(kind, message, origin)

    def ended(self, seq: int, outcome: str, tree: Json, ms: float) -> None:
        """Refuse: no call runs."""
        raise invalid_input("a replay runs no call", hint="end only calls that were answered with run")

    def report(self) -> DivergenceReport:
        """Return how the replay went so far."""
        return self._serving.report(stopped=self._last is not None)

    def close(self, **facts: Json) -> None:
        """End the run; there is nothing to write."""

    def _missed(self, found: Missed) -> Answer:
        """Take down a divergence, and say so."""
        with self._lock:
            if self._last is not None:
                return self._last
            self._serving.diverged(found)
            return self._said(divergence_answer(found, _GO_ON, stop=not self._collects))

    def _refused(self, error: StashError) -> Answer:
        """Answer a call whose recorded outcome cannot be served; a run can't go on from there as it did."""
        with self._lock:
            return self._last or self._said(refusal(error, stop=not self._collects))

    def _said(self, answer: Answer) -> Answer:
        """Return an answer; if it ends the program, every later call gets it too."""
        if not self._collects:
            self._last = answer
            self.stopped.set()
        return answer


def served_answer(found: Served, asked: Asked, seq: int, tree: Json) -> Answer:
    """Return a recorded outcome as the answer to a call."""
    if asked.request is not None:
        return http_answer(found.event, seq, tree, asked.request)
    return call_answer(found.event, seq, tree)


def divergence_answer(found: Missed, hint: str, *, stop: bool) -> Answer:
    """Return the answer to a call that no recorded one is."""
    error = found.divergence.error()
    nearest = found.divergence.nearest and found.divergence.code is ErrorCode.DIVERGENCE
    kind = "exhausted" if error.code is ErrorCode.RECORDING_EXHAUSTED else "divergence"
    return {"error": {"kind": kind, "message": error.message, "hint": error.hint if nearest else hint}, "stop": stop}


def refusal(error: StashError, *, stop: bool) -> Answer:
    """Return the answer to a call whose recorded outcome cannot be served."""
    kind = "exhausted" if error.code is ErrorCode.RECORDING_EXHAUSTED else "unservable"
    return {"error": {"kind": kind, "message": error.message, "hint": error.hint}, "stop": stop}
