"""What differs between two recordings, and why, in words for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from stashdbg_core.calls import MEASURED_CHANNELS
from stashdbg_core.diff.explain import Cause
from stashdbg_core.diff.result import DiffResult
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.words import counted

_NAMED, _POINTER = 3, 32

CAUSE_WORDS = {
    "first": "the earliest difference: nothing before it differs",
    "flows": "its input holds text of an earlier difference",
    "new": "new: its input differs, and holds no text that an earlier output has on one side only",
    "same-input": "new: the same input gave another output",
    "no-input": "unknown: no input was recorded",
    "read": "unknown: a value that is read has no input",
    "measured": "a value that is read has no input: same place, another value",
    "envelope": "the call says the same: only dates, ids or times taken differ",
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
    reads = {channel: count for channel, count in sorted(channels.items()) if channel in MEASURED_CHANNELS}
    calls = {channel: count for channel, count in sorted(channels.items()) if channel not in MEASURED_CHANNELS}
    one = sum(calls.values()) == 1
    of_calls = f"{_counts(calls)} {'call differs' if one else 'calls differ'} only in dates and ids"
    if not reads:
        return of_calls
    one = sum(reads.values()) == 1
    if calls:
        return f"{of_calls}, {_counts(reads)} {'value at the same place' if one else 'values at the same places'}"
    same = "same place, another value" if one else "same places, other values"
    return f"{_counts(reads)} {'value differs' if one else 'values differ'}: {same}"


def envelope_words(pointers: Sequence[str]) -> str:
    """Return which fields of a call that says something else differ only in when it was made, and which one it was."""
    shown = list(dict.fromkeys(_end_of(pointer) for pointer in pointers))
    more = f" and {len(shown) - _NAMED:,} more" if len(shown) > _NAMED else ""
    return f"also dates, ids and the like: {', '.join(shown[:_NAMED])}{more}"


def _end_of(pointer: str) -> str:
    """Return a pointer, of a long one its end, which says more."""
    shown = shorten(pointer, 400)
    return shown if len(shown) <= _POINTER else f"…{shown[1 - _POINTER :]}"


def _counts(channels: Mapping[str, int]) -> str:
    return " and ".join(f"{count:,} {channel}" for channel, count in channels.items())
