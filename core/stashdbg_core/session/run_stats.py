"""Tokens, durations and errors of a run along its time axis, by channel and by name, gathered in slices."""

from __future__ import annotations

from dataclasses import dataclass, field

from stashdbg_core.model import THROW, Recording
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.tasks import Steps
from stashdbg_core.session.usage import Usage, UsageTotals, usage_steps

BUCKETS = 240
_MEASURED = 4096
_MOST_NAMES = 500


@dataclass(slots=True)
class Series:
    """One channel along the run."""

    events: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    ms: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    errors: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)

    def total(self, name: str) -> float:
        """Return the sum of ``events``, ``ms`` or ``errors``."""
        found: list[float] = getattr(self, name)
        return sum(found)


@dataclass(slots=True)
class NameStats:
    """One channel and key."""

    calls: int = 0
    errors: int = 0
    ms: float = 0.0
    slowest: float = 0.0


@dataclass(slots=True)
class RunStats:
    """What a run took."""

    count: int
    channels: dict[str, Series] = field(default_factory=dict)
    names: dict[tuple[str, str], NameStats] = field(default_factory=dict)
    usage: UsageTotals = field(default_factory=UsageTotals)

    def tokens(self) -> list[float]:
        """Return the tokens along the run, in and out together."""
        along = [0.0] * BUCKETS
        for index, usage in self.usage.along:
            along[bucket_of(index, self.count)] += usage.input + usage.output
        return along

    def usage_of(self, channel: str, key: str) -> Usage | None:
        """Return what a name used; None where no call said so."""
        found = self.usage.by_call.get((channel, key))
        return found[1] if found is not None else None


def bucket_of(index: int, count: int) -> int:
    """Return the bucket of an event; a short run spreads over all of them."""
    return min(index * BUCKETS // max(count, 1), BUCKETS - 1)


def run_stats_steps(recording: Recording) -> Steps[RunStats]:
    """Gather in slices.

    Raises:
        StashError: The file cannot be read any more.
    """
    count = len(recording.events)
    stats, columns = RunStats(count), columns_of(recording.events)
    for index in range(count):
        channel, key = columns.channel_at(index), columns.key_at(index)
        series = stats.channels.setdefault(channel, Series())
        name = stats.names.get((channel, key))
        if name is None:
            known = (channel, key) if len(stats.names) < _MOST_NAMES else (channel, "…")
            name = stats.names.setdefault(known, NameStats())
        bucket = bucket_of(index, count)
        series.events[bucket] += 1
        name.calls += 1
        ms = columns.ms_at(index)
        if ms is not None and 0 <= ms < 1e15:
            series.ms[bucket] += ms
            name.ms += ms
            name.slowest = max(name.slowest, ms)
        if columns.outcome_at(index) == THROW:
            series.errors[bucket] += 1
            name.errors += 1
        if index % _MEASURED == _MEASURED - 1:
            yield
    stats.usage = yield from usage_steps(recording)
    return stats
