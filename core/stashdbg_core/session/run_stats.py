"""Tokens, durations and errors of a run along its time axis, by channel and by name, gathered in slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.model import THROW, Recording
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.tasks import Steps
from stashdbg_core.session.usage import Usage, UsageTotals, usage_steps

Measure: TypeAlias = Literal["events", "ms", "errors", "tokens"]
MEASURES: tuple[Measure, ...] = ("events", "ms", "errors", "tokens")
BUCKETS = 240
_BARS = " ▁▂▃▄▅▆▇█"
_MEASURED = 4096
_MOST_NAMES = 500


@dataclass(slots=True)
class Series:
    """One channel along the run."""

    events: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    ms: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    errors: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    tokens: list[float] = field(default_factory=lambda: [0.0] * BUCKETS)
    """In and out together."""

    def along(self, measure: Measure) -> list[float]:
        """Return one of the four along the run."""
        found: list[float] = getattr(self, measure)
        return found

    def total(self, measure: Measure) -> float:
        """Return the sum of one of the four."""
        return sum(self.along(measure))


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

    def by_channel(self, measure: Measure) -> list[tuple[str, Series]]:
        """Return the channels that have any of a measure, the one with most first."""
        found = [(channel, series) for channel, series in self.channels.items() if series.total(measure)]
        return sorted(found, key=lambda item: -item[1].total(measure))

    def to_json(self, buckets: int) -> dict[str, Json]:
        """Return events, milliseconds, errors and tokens by channel in so many stretches of the run."""
        return {
            channel: {measure: [round(x, 3) for x in merged(series.along(measure), buckets)] for measure in MEASURES}
            for channel, series in self.channels.items()
        }

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
    for index, usage in stats.usage.along:
        stats.channels[columns.channel_at(index)].tokens[bucket_of(index, count)] += usage.input + usage.output
    return stats


def merged(values: Sequence[float], width: int) -> list[float]:
    """Return values in ``width`` places, neighbours added up."""
    found = [0.0] * width
    for place, value in enumerate(values):
        found[place * width // len(values)] += value
    return found


def sparkline(values: Sequence[float], width: int) -> str:
    """Return values as bars, neighbours added up; what is not nothing is never drawn as nothing."""
    bars = merged(values, width)
    top = max(bars, default=0.0)
    if not top:
        return " " * width
    return "".join(_BARS[max(math.ceil(value / top * (len(_BARS) - 1)), 1) if value else 0] for value in bars)
