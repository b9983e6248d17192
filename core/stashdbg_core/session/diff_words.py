"""What differs between two recordings, and why, in words for people."""

from __future__ import annotations

from collections import Counter

from stashdbg_core.diff.explain import Cause
from stashdbg_core.diff.result import DiffResult
from stashdbg_core.session.words import counted

CAUSE_WORDS = {
    "first": "the earliest difference: nothing before it differs",
    "flows": "its input holds text of an earlier difference",
    "new": "new: its input differs, and holds no text that an earlier output has on one side only",
    "same-input": "new: the same input gave another output",
    "no-input": "unknown: no input was recorded",
    "read": "unknown: a value that is read has no input",
    "measured": "a value that is read has no input: same place, another value",
    "order": "order only: the same call at another place",
    "end": "from here on the other recording has no calls",
}
"""Each verdict of ``explain`` in words."""


def cause_words(cause: Cause) -> str:
    """Return why a row differs, without the texts that show it."""
    if cause.verdict == "first" and cause.measured_before:
        before = counted(cause.measured_before, "measured value")
        return f"the earliest difference but for {before} before it"
    return CAUSE_WORDS[cause.verdict]


def measured_words(result: DiffResult) -> str:
    """Return how many measured values differ, by channel: ``138 clock values differ: same places, other values``."""
    channels = Counter(event.channel for row in result.measured if (event := result.event_a(row)) is not None)
    counts = " and ".join(f"{count:,} {channel}" for channel, count in sorted(channels.items()))
    if len(result.measured) == 1:
        return f"{counts} value differs: same place, another value"
    return f"{counts} values differ: same places, other values"
