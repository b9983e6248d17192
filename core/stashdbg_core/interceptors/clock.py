"""A clock whose readings are recorded, and read back on replay: channel ``clock``."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from stashdbg_core.calls import Tape
from stashdbg_core.interceptors.tape_of import HasTape, tape_of

CLOCK = "clock"


class DeterministicClock:
    """Reads a clock through a tape; each reading is one call, in seconds since the epoch."""

    def __init__(self, tape: Tape, source: Callable[[], float], key: str) -> None:
        self._tape = tape
        self._source = source
        self._key = key

    def time(self) -> float:
        """Return seconds since the epoch, as ``time.time`` does."""
        return self._tape.call(CLOCK, self._key, self._source)

    __call__ = time

    def now(self, tz: tzinfo = UTC) -> datetime:
        """Return the reading as an aware ``datetime``; the time zone of the machine has no part in it."""
        return datetime.fromtimestamp(self.time(), tz)


def create_deterministic_clock(
    stash: Tape | HasTape, source: Callable[[], float] = time.time, key: str = "now"
) -> DeterministicClock:
    """Make a clock that records its readings, or replays them.

    Args:
        stash: What records or replays.
        source: The real clock; any function of no arguments that returns a number.
        key: Tells several clocks of a program apart.
    """
    return DeterministicClock(tape_of(stash), source, key)
