"""Partners of the events of two recordings, and how stretches of them are paired."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeAlias

from stashdbg_core.diff.contents import Contents
from stashdbg_core.diff.sequences import matches, rising_most
from stashdbg_core.model import RETURN

NONE = -1
"""In place of the partner of an event that has none."""
DIFFERENT, EQUAL, MEASURED = range(3)
"""Verdicts on a pair: it holds something else, the same, or differs only in what was measured at the same place."""

Key: TypeAlias = Callable[[int], Hashable]
Gap: TypeAlias = tuple[list[int], list[int]]
"""Events of either side that may be partners."""


class Alignment:
    """Partners of the events of two recordings, by position."""

    def __init__(self, one: Contents, other: Contents) -> None:
        self.one = one
        self.other = other
        self.partner = array("q", [NONE]) * one.count
        """Of each event of the first, its position in the second."""
        self.partner_of_other = array("q", [NONE]) * other.count
        self.verdicts = bytearray(one.count)
        """Of each pair, by the place of the first: ``EQUAL``, ``MEASURED`` or ``DIFFERENT``."""
        self._whole: dict[tuple[int, int], tuple[bytes, bytes]] = {}
        self._said: dict[tuple[int, int], tuple[bytes, bytes]] = {}

    def pair(self, place: int, other: int) -> None:
        """Make two events partners, and find out whether they hold the same."""
        self.partner[place], self.partner_of_other[other] = other, place
        self.verdicts[place] = self._verdict(place, other)

    def anchors(self) -> list[int]:
        """Return the positions in the first whose partners rise, the most there can be; the other pairs moved.

        Where it is all one, what changed is said to have moved, and not what is the same.
        """
        places = [place for place, other in enumerate(self.partner) if other != NONE]
        others = [self.partner[place] for place in places]
        return [places[at] for at in rising_most(others, [self.verdicts[place] == EQUAL for place in places])]

    def whole(self, side: int, place: int) -> tuple[bytes, bytes]:
        """Return digests of an event's value and input by canonical form, each made once."""
        known = self._whole.get((side, place))
        if known is None:
            known = self._whole[side, place] = (self.other if side else self.one).whole(place)
        return known

    def said(self, side: int, place: int) -> tuple[bytes, bytes]:
        """Return digests as ``whole`` does, without what says only when and which."""
        known = self._said.get((side, place))
        if known is None:
            known = self._said[side, place] = (self.other if side else self.one).said(place)
        return known

    def free(self, places: Iterable[int]) -> list[int]:
        """Return those events of the first that have no partner."""
        return [place for place in places if self.partner[place] == NONE]

    def free_other(self, places: Iterable[int]) -> list[int]:
        """Return those events of the second that have no partner."""
        return [place for place in places if self.partner_of_other[place] == NONE]

    def refine(self, gaps: Iterable[Gap], key: Key, key_other: Key) -> list[Gap]:
        """Pair what has equal keys, in order, within each gap; return the smaller gaps left."""
        smaller: list[Gap] = []
        for places, others in gaps:
            free, free_other = self.free(places), self.free_other(others)
            pairs = matched(free, free_other, key, key_other) if free and free_other else []
            for place, other in pairs:
                self.pair(place, other)
            smaller += gaps_between(free, free_other, pairs)
        return smaller

    def _verdict(self, place: int, other: int) -> int:
        one, two = self.one, self.other
        if one.names[place] != two.names[other] or one.outcomes[place] != two.outcomes[other]:
            return DIFFERENT
        if one.values[place] == two.values[other] and one.inputs[place] == two.inputs[other]:
            return EQUAL
        value, given = self.said(0, place)
        value_other, given_other = self.said(1, other)
        read_alike = given != given_other and self._read_alike(place, other)
        if given != given_other and not read_alike:
            return DIFFERENT
        if value != value_other:
            return MEASURED if one.is_measured(place) and one.outcomes[place] == RETURN else DIFFERENT
        whole, whole_other = self.whole(0, place), self.whole(1, other)
        return EQUAL if whole[0] == whole_other[0] and (read_alike or whole[1] == whole_other[1]) else MEASURED

    def _read_alike(self, place: int, other: int) -> bool:
        """Tell whether two values were read by the same function of a program, which is all their inputs say."""
        site = self.one.read_site(place)
        return site is not None and site == self.other.read_site(other)


def gaps_between(places: Sequence[int], others: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[Gap]:
    """Return what lies between pairs, on both sides; stretches empty on one side are kept, for what moved."""
    gaps: list[Gap] = []
    low = low_other = 0
    for place, place_other in pairs:
        high, high_other = bisect_left(places, place, low), bisect_left(others, place_other, low_other)
        if low < high or low_other < high_other:
            gaps.append((list(places[low:high]), list(others[low_other:high_other])))
        low, low_other = high + 1, high_other + 1
    if low < len(places) or low_other < len(others):
        gaps.append((list(places[low:]), list(others[low_other:])))
    return gaps


def matched(places: Sequence[int], others: Sequence[int], key: Key, key_other: Key) -> list[tuple[int, int]]:
    """Return the places of a common subsequence by key."""
    numbers: dict[Hashable, int] = {}
    one = [numbers.setdefault(key(place), len(numbers)) for place in places]
    other = [numbers.setdefault(key_other(place), len(numbers)) for place in others]
    return [(places[i], others[j]) for i, j in matches(one, other)]
