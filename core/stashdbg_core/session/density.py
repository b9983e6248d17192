"""A run in a few hundred buckets: where its time went, which channels ran, where it failed.

Filled in slices, so that a million events cost no key press; a bucket not yet reached is empty.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from stashdbg_core.model import THROW
from stashdbg_core.session.columns import Columns

BUCKETS = 512


@dataclass(slots=True)
class Bucket:
    """Neighbouring events as one."""

    events: int = 0
    throws: int = 0
    ms: float = 0.0
    """Sum of durations."""
    channels: Counter[str] = field(default_factory=Counter)

    def add(self, other: Bucket) -> None:
        """Take in another bucket."""
        self.events += other.events
        self.throws += other.throws
        self.ms += other.ms
        self.channels.update(other.channels)

    @property
    def channel(self) -> str | None:
        """The channel with the most events; None while empty."""
        return self.channels.most_common(1)[0][0] if self.channels else None


class Density:
    """The buckets of a recording, by position.

    Args:
        columns: Fields of the events.
        count: Number of events.
    """

    def __init__(self, columns: Columns, count: int) -> None:
        self._columns = columns
        self.count = count
        self.size = min(count, BUCKETS)
        self.buckets = [Bucket() for _ in range(self.size)]
        self._at = 0

    @property
    def complete(self) -> bool:
        """Whether every event was looked at."""
        return self._at >= self.count

    def extend(self, events: int) -> None:
        """Look at up to so many further events."""
        until = min(self._at + events, self.count)
        channel_at, outcome_at, ms_at = self._columns.channel_at, self._columns.outcome_at, self._columns.ms_at
        for index in range(self._at, until):
            bucket = self.buckets[index * self.size // self.count]
            bucket.events += 1
            bucket.channels[channel_at(index)] += 1
            if outcome_at(index) == THROW:
                bucket.throws += 1
            ms = ms_at(index)
            if ms is not None and 0 <= ms < 1e15:
                bucket.ms += ms
        self._at = until

    def resampled(self, width: int) -> list[Bucket]:
        """Return ``width`` buckets that cover the run; with fewer events than columns, neighbours repeat."""
        if not self.size:
            return [Bucket() for _ in range(width)]
        if width >= self.size:
            return [self.buckets[column * self.size // width] for column in range(width)]
        merged = [Bucket() for _ in range(width)]
        for place, bucket in enumerate(self.buckets):
            merged[place * width // self.size].add(bucket)
        return merged
