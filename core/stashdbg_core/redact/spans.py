"""Stretches of a text to mask, and how overlapping ones are settled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


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
    taken = sorted(protected)
    settled: list[Span] = []
    for span in spans:
        for start, end in _outside(span.start, span.end, taken):
            whole = (start, end) == (span.start, span.end)
            settled.append(Span(start, end, span.kind, span.replacement if whole else None))
        taken = _with(taken, span.start, span.end)
    settled.sort()
    return settled


def _outside(start: int, end: int, taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    for first, last in taken:
        if last <= start:
            continue
        if first >= end:
            break
        if first > start:
            parts.append((start, first))
        start = max(start, last)
    if start < end:
        parts.append((start, end))
    return parts


def _with(taken: list[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for first, last in sorted([*taken, (start, end)]):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged
