"""The state of a recording's seal, in words that fit a line: for the whole, for an event, for a part of it.

Light, for the screen has it from its first frame on; ``trust`` finds it out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

if TYPE_CHECKING:
    from stashdbg_core.seal.result import Uncovered, VerifyResult

SealWord: TypeAlias = Literal["none", "checking", "sealed", "redacted", "broken", "unknown"]


@dataclass(frozen=True, slots=True)
class SealState:
    """How a recording stands to its seal."""

    word: SealWord
    words: str
    """For the status line; safe text."""
    result: VerifyResult | None = None
    path: Path | None = None
    """The seal file that was read."""
    _broken: dict[int, tuple[str, ...]] = field(default_factory=dict)
    _uncovered: dict[int, tuple[Uncovered, ...]] = field(default_factory=dict)

    @property
    def short(self) -> str:
        """``words`` in fewer letters, where room is scarce."""
        return self.words.replace("redacted and not covered", "redacted")

    @property
    def marks_events(self) -> bool:
        """Whether there is anything to say of single events."""
        return bool(self._broken or self._uncovered)

    def broken_words(self, seq: int) -> str:
        """Return the verdicts on an event, ``value edited, notes edited``; empty if it is as it was sealed."""
        return ", ".join(self._broken.get(seq, ()))

    def is_broken(self, seq: int, part: str) -> bool:
        """Whether a part of an event is not what was sealed."""
        result = self.result
        return result is not None and any((found.seq, found.part) == (seq, part) for found in result.broken)

    def uncovered_parts(self, seq: int) -> tuple[str, ...]:
        """Return the parts of an event that the seal says nothing about."""
        return tuple(part.part for part in self._uncovered.get(seq, ()))

    def event_words(self, seq: int) -> str:
        """Return what ``words`` do not say of an event and the seal; mostly nothing."""
        told = self.result is not None and self.result.broken_at == seq
        broken = "" if told else self.broken_words(seq)
        parts = self.uncovered_parts(seq)
        hidden = f"{' and '.join(parts)} not covered" if parts else ""
        return " · ".join(words for words in (f"seal broken: {broken}" if broken else "", hidden) if words)


NO_SEAL: Final = SealState("none", "no seal")
CHECKING: Final = SealState("checking", "checking the seal…")
