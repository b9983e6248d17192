"""Which items of two sequences are the same, in order: the longest common subsequence, or close to it where that costs.

Items are numbers that stand for contents. The work is bounded whatever they are: exact by bit vectors (Hyyrö,
"Bit-parallel LCS-length computation revisited", 2004) while the table has at most ``EXACT_CELLS`` cells, by anchors
beyond that (items, or short runs of items, that occur once on both sides: patience), and by equal occurrences where
there are none.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

EXACT_CELLS = 16_000_000
"""Cells of one exact table, one bit each; 16 million take 2 MB and some 30 ms."""
_TOTAL_CELLS = 8 * EXACT_CELLS
"""Cells of all the tables of one call; past this every gap is matched by occurrence."""

_RUNS = (1, 4, 16, 64)
"""Lengths of the runs that may be anchors; few distinct items still make long runs that occur once."""

Pair = tuple[int, int]
"""An index of the first sequence, and one of the second."""


def matches(one: Sequence[int], other: Sequence[int]) -> list[Pair]:
    """Return index pairs of equal items, ascending on both sides.

    Args:
        one: Numbers; equal ones stand for equal items.
        other: The sequence compared.
    """
    shared = set(one).intersection(other)
    if len(shared) == 0:
        return []
    # What the other side has nowhere cannot match: leaving it out first keeps tables small and changes nothing.
    kept = [place for place, item in enumerate(one) if item in shared]
    kept_other = [place for place, item in enumerate(other) if item in shared]
    aligner = _Aligner([one[place] for place in kept], [other[place] for place in kept_other])
    return [(kept[i], kept_other[j]) for i, j in aligner.run()]


def longest_rising(numbers: Sequence[int]) -> list[int]:
    """Return the indexes of a longest strictly increasing subsequence (patience sorting, n log n)."""
    tops: list[int] = []
    piles: list[int] = []
    below: list[int] = []
    for index, number in enumerate(numbers):
        pile = bisect_left(tops, number)
        below.append(piles[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(number)
            piles.append(index)
        else:
            tops[pile] = number
            piles[pile] = index
    found: list[int] = []
    index = piles[-1] if piles else -1
    while index >= 0:
        found.append(index)
        index = below[index]
    return found[::-1]


def rising_most(numbers: Sequence[int], preferred: Sequence[int]) -> list[int]:
    """Return the indexes of a longest rising subsequence, of those one with the most preferred items.

    Args:
        numbers: All different.
        preferred: 1 for an item that should rather be kept than another, else 0.
    """
    lowest_after = [*accumulate(reversed(numbers), min)][::-1]
    found: list[int] = []
    highest, start = -1, 0
    for index, number in enumerate(numbers):
        highest = max(highest, number)
        if index + 1 == len(numbers) or highest < lowest_after[index + 1]:  # nothing crosses this point
            if index == start:
                found.append(index)
            else:
                found += _heaviest_rising(numbers, preferred, start, index + 1)
            start = index + 1
    return found


def _heaviest_rising(numbers: Sequence[int], preferred: Sequence[int], start: int, end: int) -> list[int]:
    """Return the indexes between ``start`` and ``end`` of a heaviest rising subsequence (Fenwick tree of maxima)."""
    ranks = {number: rank for rank, number in enumerate(sorted(numbers[start:end]), 1)}
    size = end - start
    best: list[tuple[int, int]] = [(0, -1)] * (size + 1)
    before: list[int] = []
    top = (0, -1)
    for index in range(start, end):
        rank = at = ranks[numbers[index]]
        reached = (0, -1)
        while at:
            reached = max(reached, best[at])
            at &= at - 1
        before.append(reached[1])
        weight = (reached[0] + size + 1 + preferred[index], index)
        top = max(top, weight)
        while rank <= size:
            best[rank] = max(best[rank], weight)
            rank += rank & -rank
    found: list[int] = []
    index = top[1]
    while index >= 0:
        found.append(index)
        index = before[index - start]
    return found[::-1]


class _Aligner:
    def __init__(self, one: list[int], other: list[int]) -> None:
        self._one = one
        self._other = other
        self._cells = _TOTAL_CELLS
        self._found: list[Pair] = []

    def run(self) -> list[Pair]:
        pending = [(0, len(self._one), 0, len(self._other))]
        while pending:
            low, high, low_other, high_other = self._trimmed(*pending.pop())
            cells = (high - low) * (high_other - low_other)
            if not cells:
                continue
            if cells <= min(EXACT_CELLS, self._cells):
                self._cells -= cells
                self._take(_exact(self._one[low:high], self._other[low_other:high_other]), low, low_other)
                continue
            anchors = self._anchors(low, high, low_other, high_other)
            if not anchors:
                pairs = _by_occurrence(self._one[low:high], self._other[low_other:high_other])
                self._take(pairs, low, low_other)
                continue
            self._found += anchors
            for place, other_place in anchors:
                pending.append((low, place, low_other, other_place))
                low, low_other = place + 1, other_place + 1
            pending.append((low, high, low_other, high_other))
        return sorted(self._found)

    def _take(self, pairs: list[Pair], low: int, low_other: int) -> None:
        self._found += [(low + i, low_other + j) for i, j in pairs]

    def _trimmed(self, low: int, high: int, low_other: int, high_other: int) -> tuple[int, int, int, int]:
        """Pair what both ranges begin and end with, and return what lies between."""
        one, other = self._one, self._other
        while low < high and low_other < high_other and one[low] == other[low_other]:
            self._found.append((low, low_other))
            low, low_other = low + 1, low_other + 1
        while low < high and low_other < high_other and one[high - 1] == other[high_other - 1]:
            high, high_other = high - 1, high_other - 1
            self._found.append((high, high_other))
        return low, high, low_other, high_other

    def _anchors(self, low: int, high: int, low_other: int, high_other: int) -> list[Pair]:
        """Return the starts of runs that occur once in each range, as far as they rise together."""
        one, other = self._one[low:high], self._other[low_other:high_other]
        for length in _RUNS:
            places, others = _once(one, length), _once(other, length)
            pairs = [(place, others[run]) for run, place in places.items() if run in others]
            if pairs:
                return [(low + pairs[at][0], low_other + pairs[at][1]) for at in longest_rising([j for _, j in pairs])]
        return []


def _once(items: list[int], length: int) -> dict[tuple[int, ...], int]:
    """Return where each run of ``length`` items starts, of those that occur once, in ascending order."""
    runs = list(zip(*(items[start:] for start in range(length)), strict=False))
    counts = Counter(runs)
    return {run: place for place, run in enumerate(runs) if counts[run] == 1}


def _exact(one: list[int], other: list[int]) -> list[Pair]:
    """Return a longest common subsequence; a bit a cell."""
    masks: dict[int, int] = {}
    for place, item in enumerate(one):
        masks[item] = masks.get(item, 0) | (1 << place)
    everything = (1 << len(one)) - 1
    row, rows = everything, []
    for item in other:
        hits = row & masks.get(item, 0)
        row = ((row + hits) | (row - hits)) & everything
        rows.append(row)
    found: list[Pair] = []
    place, line = len(one), len(other)
    while place and line:
        if rows[line - 1] >> (place - 1) & 1:
            place -= 1
            continue
        line -= 1
        if not line or rows[line - 1] >> (place - 1) & 1:
            place -= 1
            found.append((place, line))
    return found[::-1]


def _by_occurrence(one: list[int], other: list[int]) -> list[Pair]:
    """Pair the nth occurrence of an item with the nth, as far as that rises: a common subsequence, seldom longest."""
    places: dict[int, list[int]] = {}
    for place, item in enumerate(other):
        places.setdefault(item, []).append(place)
    seen: Counter[int] = Counter()
    pairs: list[Pair] = []
    for place, item in enumerate(one):
        count = seen[item]
        seen[item] = count + 1
        if item in places and count < len(places[item]):
            pairs.append((place, places[item][count]))
    return [pairs[at] for at in longest_rising([j for _, j in pairs])]
