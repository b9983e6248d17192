"""Stretches of a text to mask, and how overlapping ones are settled."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeAlias

Take: TypeAlias = Callable[[str, str], str]
"""Gets a secret and its kind, returns its placeholder."""


class Span(NamedTuple):
    """``text[start:end]`` is a secret of a kind."""

    start: int
    end: int
    kind: str
    replacement: str | None = None
    """What to write instead of a placeholder, for a stretch that was masked inside."""


def settle(spans: Iterable[Span], protected: Iterable[tuple[int, int]]) -> list[Span]:
    """Return disjoint spans in order that cover all of ``spans`` but what is ``protected``.

    Of overlapping spans the first given names the kind of what it covers; what sticks out keeps its own.
    """
    taken = _Taken()
    for start, end in protected:
        taken.add(start, end)
    settled: list[Span] = []
    for span in spans:
        for start, end in taken.outside(span.start, span.end):
            whole = (start, end) == (span.start, span.end)
            settled.append(Span(start, end, span.kind, span.replacement if whole else None))
        taken.add(span.start, span.end)
    settled.sort()
    return settled


def holds(stretches: list[tuple[int, int]], start: int, end: int) -> bool:
    """Tell whether one of these sorted, disjoint stretches holds all of ``start`` to ``end``."""
    at = bisect_right(stretches, start, key=lambda stretch: stretch[0]) - 1
    return at >= 0 and end <= stretches[at][1]


class _Taken:
    """Sorted disjoint stretches, touching ones joined."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def outside(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of ``start`` to ``end`` that are free."""
        parts: list[tuple[int, int]] = []
        at = bisect_right(self._ends, start)
        while at < len(self._starts) and self._starts[at] < end and start < end:
            if self._starts[at] > start:
                parts.append((start, self._starts[at]))
            start = self._ends[at]
            at += 1
        if start < end:
            parts.append((start, end))
        return parts

    def add(self, start: int, end: int) -> None:
        first = bisect_left(self._ends, start)
        last = bisect_right(self._starts, end)
        if first < last:
            start, end = min(start, self._starts[first]), max(end, self._ends[last - 1])
        self._starts[first:last] = [start]
        self._ends[first:last] = [end]
