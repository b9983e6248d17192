"""Finds what a live call is answered with: matching, reading and taking down, one call at a time.

The lock is held from the match to the read outcome, so that two calls never get one recorded call, and divergences are
in the report in the order in which calls started.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from stashdbg_core.calls import ABSENT, CallOptions, current_call
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.record.masking import Redaction
from stashdbg_core.record.sites import Sites
from stashdbg_core.replay.divergence import Divergence, DivergenceReport
from stashdbg_core.replay.findings import MOST_MISSING, Findings
from stashdbg_core.replay.ignore import Ignore
from stashdbg_core.replay.inputs import Inputs
from stashdbg_core.replay.matcher import Match, Matcher, MatchMode
from stashdbg_core.replay.outcomes import Outcomes, Raised, event_name
from stashdbg_core.replay.streams import Playback
from stashdbg_core.replay.tape_index import DIVERGED, UNUSED
from stashdbg_core.values import StreamRecord, TypeRegistry

OnDivergence: TypeAlias = Literal["throw", "collect"]
Want: TypeAlias = Literal["sync", "async"] | None
"""The kind of stream that is asked for; None: whatever was recorded."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How a replay matches, and what it does about a call that does not."""

    match: MatchMode
    strict: bool
    on_divergence: OnDivergence
    live_tail: bool


class Live:
    """The call runs for real."""


LIVE: Final = Live()
Answer: TypeAlias = "tuple[RecordedEvent, Any] | Live"
"""The recorded call with its outcome, see ``Outcomes.read``; or ``LIVE``."""


class Answers:
    """Answers the calls of one replay, from any thread."""

    def __init__(
        self, recording: Recording, rules: Rules, types: TypeRegistry | None, ignore: Ignore, redact: Redaction
    ) -> None:
        self._events = recording.events
        self._rules = rules
        self._ignore = ignore
        self._inputs = Inputs(recording, types, ignore, redact)
        self._matcher = Matcher(recording, self._inputs, match=rules.match, strict=rules.strict)
        self._outcomes = Outcomes(recording, types)
        self._by_input = rules.match == "input"
        self._compares = rules.strict or self._by_input
        self._lock = threading.Lock()
        self._sites = Sites()
        self._found = Findings()

    def site(self) -> str | None:
        """Return the place in the program that is making a call."""
        return self._sites.current()

    def to(
        self, channel: str, key: str, input: Any, options: CallOptions, *, want: Want = None, site: str | None = None
    ) -> Answer:
        """Return the answer to a call.

        Raises:
            StashError: A divergence that is raised; or the outcome can't be served.
        """
        channel, key = self._inputs.name(channel, key)
        live = self._inputs.live(channel, key, input) if self._compares else None
        if live is not None and self._by_input:
            live.digest  # noqa: B018 -- worked out before the lock is taken
        with self._lock:
            match = self._matcher.match(channel, key, live, has_input=input is not ABSENT)
            if match.event is None and self._rules.live_tail:
                return self._live()
            if match.divergence is not None:
                self._diverged(match.divergence, site, served=match.event is not None)
            assert match.event is not None  # a divergence without an event was raised
            return self._served(match.event, match, options, want, site)

    def playback(self, event: RecordedEvent, record: StreamRecord, options: CallOptions, site: str | None) -> Playback:
        """Return a recorded stream ready to be played to the program."""

        def beyond(reason: str) -> StashError:
            divergence = _of(event, reason, site or self.site())
            with self._lock:
                self._found.keep(divergence)
            return divergence.error()

        def left(how: str) -> None:
            with self._lock:
                self._found.note(f"{event_name(event)}: the stream was {how}")

        outcomes = self._outcomes
        return Playback(
            record,
            chunk=lambda tree: outcomes.chunk(event, tree, options.returns),
            error=outcomes.error,
            beyond=beyond,
            left=left,
            ms=event.ms,
        )

    def consumed(self) -> int:
        """Return how many recorded calls were served."""
        return self._found.consumed

    def remaining(self) -> list[RecordedEvent]:
        """Return the recorded calls never asked for."""
        with self._lock:
            return [self._events[position] for position in self._matcher.index.unused()]

    def divergences(self) -> list[Divergence]:
        """Return the divergences met so far."""
        with self._lock:
            return list(self._found.divergences)

    def report(self) -> DivergenceReport:
        """Return how the replay went so far."""
        with self._lock:
            index = self._matcher.index
            unused = [self._events[position] for position in islice(index.unused(), MOST_MISSING)]
            problems = list(self._inputs.problems.values())
            return self._found.report(unused, index.state.count(UNUSED), self._ignore.names, problems)

    def _served(self, event: RecordedEvent, match: Match, options: CallOptions, want: Want, site: str | None) -> Answer:
        index = self._matcher.index
        try:
            outcome = self._outcomes.read(event, options.returns)
        except StashError as problem:
            if self._rules.live_tail and problem.code is ErrorCode.RECORDING_EXHAUSTED:
                return self._live()
            index.state[match.position] = DIVERGED
            raise
        if want is not None and not _fits(outcome, want):
            index.state[match.position] = DIVERGED
            was = f"{outcome.kind} stream" if isinstance(outcome, StreamRecord) else "plain value"
            reason = f"recorded as {_a(was)}, asked for as {_a(want)} stream"
            self._diverged(_of(event, reason, site), site, served=False)
        self._found.consumed += 1
        self._found.unchecked += match.unchecked
        if match.divergence is not None:
            self._found.mismatched += 1
            index.serve(match.position, event.seq)
        return event, outcome

    def _live(self) -> Live:
        self._found.ran_live(current_call.get())
        return LIVE

    def _diverged(self, divergence: Divergence, site: str | None, *, served: bool) -> None:
        """Keep a divergence with its site; raise it unless the call is served all the same."""
        divergence = replace(divergence, site=site or self.site())
        self._found.keep(divergence)
        if not served or self._rules.on_divergence == "throw":
            raise divergence.error()


def _of(event: RecordedEvent, reason: str, site: str | None) -> Divergence:
    return Divergence("extra-call", event.channel, event.key, event.ordinal, reason, event.seq, site=site)


def _fits(outcome: Any, want: Want) -> bool:
    return isinstance(outcome, Raised) or (isinstance(outcome, StreamRecord) and outcome.kind == want)


def _a(words: str) -> str:
    return f"an {words}" if words.startswith("a") else f"a {words}"
