"""What a replay found that the recording does not have, as data and for people.

A divergence always says which side is the recording. Nothing in it is longer than a line, whatever the payloads were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.replay.field_changes import Change
from stashdbg_core.sanitize import shorten

DivergenceKind: TypeAlias = Literal["input-mismatch", "extra-call", "missing-call"]
_NAME = 80
_SHOWN = 20
"""Divergences that the report for people spells out; the data has them all."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A recorded call that might have been meant, and why it was not taken."""

    seq: int
    key: str
    ordinal: int
    reason: str
    changes: tuple[Change, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the candidate as JSON."""
        return {
            "seq": self.seq,
            "key": self.key,
            "ordinal": self.ordinal,
            "reason": self.reason,
            "changes": [change.to_json() for change in self.changes],
        }


@dataclass(frozen=True, slots=True)
class Divergence:
    """One call that is on one side only, or not with the same input."""

    kind: DivergenceKind
    channel: str
    key: str
    ordinal: int
    """Of the live call for a mismatch or an extra call, of the recorded one for a missing call."""
    reason: str
    """One sentence for people, without a full stop."""
    seq: int | None = None
    """The recorded event; None for a call that the recording does not have."""
    changes: tuple[Change, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    site: str | None = None
    """Where the program made the call."""
    code: ErrorCode = ErrorCode.DIVERGENCE

    def to_json(self) -> dict[str, Json]:
        """Return the divergence as JSON with stable keys."""
        return {
            "kind": self.kind,
            "seq": self.seq,
            "channel": self.channel,
            "key": self.key,
            "ordinal": self.ordinal,
            "reason": self.reason,
            "site": self.site,
            "changes": [change.to_json() for change in self.changes],
            "nearest": [candidate.to_json() for candidate in self.nearest],
        }

    def error(self) -> StashError:
        """Return the error that a replay raises for it; ``details`` is ``to_json()``."""
        text = f"{call_name(self.channel, self.key)}: {self.reason}"
        if self.changes:
            recorded, live = _sides(self.changes[0])
            text += f", at {_where(self.changes[0])}; recorded: {recorded} / live: {live}"
        if self.site:
            text += f" (called at {shorten(self.site, _NAME)})"
        return StashError(text, code=self.code, hint=self._hint(), details=self.to_json())

    def _hint(self) -> str:
        if self.nearest and self.code is ErrorCode.DIVERGENCE:
            best = self.nearest[0]
            return (
                f"the nearest recorded call is seq {best.seq} {shorten(best.key, _NAME)} #{best.ordinal}: {best.reason}"
            )
        if self.code is ErrorCode.RECORDING_EXHAUSTED:
            return "the program makes more calls than were recorded; record again, or replay with live_tail=True"
        return (
            "the program changed since it was recorded; record again, or replay with on_divergence='collect' to see all"
        )

    def lines(self) -> list[str]:
        """Return the divergence as lines for people."""
        place = "not recorded" if self.seq is None else f"seq {self.seq}"
        head = f"{self.kind}  {place}  {call_name(self.channel, self.key)} #{self.ordinal}"
        out = [head + (f"  at {shorten(self.site, _NAME)}" if self.site else ""), f"  {self.reason}"]
        for change in self.changes:
            recorded, live = _sides(change)
            out += [f"  {_where(change)}", f"    recorded: {recorded}", f"    live:     {live}"]
        for candidate in self.nearest:
            name = f"{shorten(candidate.key, _NAME)} #{candidate.ordinal}"
            out.append(f"  nearest: seq {candidate.seq} {name}: {candidate.reason}")
        return out


@dataclass(frozen=True, slots=True)
class DivergenceReport:
    """How a replay went so far."""

    divergences: tuple[Divergence, ...]
    """In the order they were met, then the recorded calls that were never made."""
    matched: int
    """Calls served whose recorded counterpart was theirs."""
    unused: int
    """Recorded calls never asked for; calls made inside a served call do not count."""
    unchecked: int
    """Calls served whose input was not compared, because a side had none or the check was off."""
    live: int = 0
    """Calls that ran for real, past the recording, and values read for real, as from a clock."""
    live_values: int = 0
    """How many of ``live`` are such values."""
    live_seqs: tuple[int, ...] = ()
    """Their places on the tape that was recorded meanwhile, if one was."""
    dropped: int = 0
    """Divergences beyond those kept."""
    ignored: tuple[str, ...] = ()
    """What was left out when inputs were compared."""
    notes: tuple[str, ...] = ()
    """Oddities that are not divergences, such as a stream left early."""

    @property
    def first(self) -> Divergence | None:
        """The first divergence, or None."""
        return self.divergences[0] if self.divergences else None

    @property
    def ok(self) -> bool:
        """Whether the replay did what was recorded, all of it and nothing else."""
        return not self.divergences

    def to_json(self) -> dict[str, Json]:
        """Return the report as JSON with stable keys."""
        return {
            "matched": self.matched,
            "unused": self.unused,
            "unchecked": self.unchecked,
            "live": self.live,
            "liveValues": self.live_values,
            "liveSeqs": list(self.live_seqs),
            "ignored": list(self.ignored),
            "notes": list(self.notes),
            "divergences": [divergence.to_json() for divergence in self.divergences],
            "dropped": self.dropped,
            "exitCode": 0 if self.ok else 1,
        }

    def __str__(self) -> str:
        lines = [self._summary()]
        for divergence in self.divergences[:_SHOWN]:
            lines += divergence.lines()
        more = len(self.divergences) + self.dropped - _SHOWN
        if more > 0:
            lines.append(f"and {more} more")
        lines += [f"note: {note}" for note in self.notes]
        if self.ignored:
            lines.append("ignored in inputs: " + ", ".join(shorten(pattern, _NAME) for pattern in self.ignored))
        return "\n".join(lines)

    @property
    def live_words(self) -> str:
        """What ran for real, as a phrase: ``3 live``, ``1 value live``, or ``2 calls and 1 value live``."""
        calls, values = self.live - self.live_values, self.live_values
        if not values:
            return f"{calls:,} live"
        said = f"{values:,} value{'s' * (values != 1)} live"
        return f"{calls:,} call{'s' * (calls != 1)} and {said}" if calls else said

    def _summary(self) -> str:
        diverged = sum(d.kind != "missing-call" for d in self.divergences) + self.dropped
        parts = [f"{self.matched} matched", f"{diverged} diverged", f"{self.unused} recorded but never made"]
        if self.unchecked:
            parts.append(f"input not checked for {self.unchecked}")
        if self.live:
            parts.append(self.live_words)
        return ", ".join(parts)


def call_name(channel: str, key: str) -> str:
    """Return a call's channel and key for a message."""
    return f"{shorten(channel, _NAME)} {shorten(key, _NAME)}"


def _where(change: Change) -> str:
    return shorten(change.pointer, _NAME) or "the whole input"


def _sides(change: Change) -> tuple[str, str]:
    return change.recorded or "(absent)", change.live or "(absent)"
