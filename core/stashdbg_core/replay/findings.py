"""What one replay has found so far: counts, divergences, notes. Bounded, and the report is cut from it at any time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stashdbg_core.model import RecordedEvent
from stashdbg_core.replay.divergence import Divergence, DivergenceReport

_MOST_KEPT = 1000
"""Divergences kept; more are counted."""
MOST_MISSING = 100
"""Calls never made that a report spells out; ``unused`` counts all."""
_MOST_NOTES = 100


class Findings:
    """Counts and lists of one replay; the replayer holds its lock around every use."""

    def __init__(self) -> None:
        self.divergences: list[Divergence] = []
        self.dropped = 0
        """Divergences beyond those kept."""
        self.consumed = 0
        """Recorded calls served."""
        self.mismatched = 0
        """Recorded calls served although the input differs."""
        self.unchecked = 0
        self.live = 0
        self.live_values = 0
        """How many of them are values that the program read, which no limit on calls counts."""
        self._live_seqs: list[int] = []
        self._notes: list[str] = []

    def keep(self, divergence: Divergence) -> None:
        """Take down a divergence."""
        if len(self.divergences) < _MOST_KEPT:
            self.divergences.append(divergence)
        else:
            self.dropped += 1

    def ran_live(self, seq: int | None) -> None:
        """Count a call that runs for real; ``seq`` is its place on the tape that is recorded meanwhile, if any."""
        self.live += 1
        if seq is not None:
            self._live_seqs.append(seq)

    def note(self, text: str) -> None:
        """Take down an oddity."""
        if len(self._notes) < _MOST_NOTES:
            self._notes.append(text)

    def report(
        self, unused: Sequence[RecordedEvent], count: int, ignored: tuple[str, ...], problems: Iterable[str]
    ) -> DivergenceReport:
        """Return the state as a report.

        Args:
            unused: The first of the recorded calls that were never asked for.
            count: How many there are.
            ignored: What was not compared.
            problems: Why inputs could not be compared.
        """
        missing = [_missing(event) for event in unused[:MOST_MISSING]]
        return DivergenceReport(
            divergences=(*self.divergences, *missing),
            matched=self.consumed - self.mismatched,
            unused=count,
            unchecked=self.unchecked,
            live=self.live,
            live_values=self.live_values,
            live_seqs=tuple(self._live_seqs),
            dropped=self.dropped + count - len(missing),
            ignored=ignored,
            notes=(*self._notes, *problems)[:_MOST_NOTES],
        )


def _missing(event: RecordedEvent) -> Divergence:
    reason = "recorded, but the program never made it"
    return Divergence("missing-call", event.channel, event.key, event.ordinal, reason, event.seq, site=event.site)
