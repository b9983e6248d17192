"""Which event of one recording is which event of another.

By content: within a channel and key, first what is the same (the same outcome, value and input), in order; then what
moved; then, between those, equal inputs, equal values, and what is left one by one. Then across the keys of a channel,
so that two models compare. One inserted call is one addition. By identity: the same channel, key and ordinal.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal, TypeAlias

from stashdbg_core.diff.contents import Contents
from stashdbg_core.diff.sequences import matches, rising_most

AlignMode: TypeAlias = Literal["content", "identity"]

NONE = -1
"""In place of the partner of an event that has none."""

_Key: TypeAlias = Callable[[int], Hashable]


class Alignment:
    """Partners of the events of two recordings, by position."""

    def __init__(self, one: Contents, other: Contents) -> None:
        self.one = one
        self.other = other
        self.partner = array("q", [NONE]) * one.count
        """Of each event of the first, its position in the second."""
        self.partner_of_other = array("q", [NONE]) * other.count
        self.equal = bytearray(one.count)
        """Whether the partner holds the same."""
        self._whole: dict[tuple[int, int], tuple[bytes, bytes]] = {}

    def pair(self, place: int, other: int) -> None:
        """Make two events partners, and find out whether they hold the same."""
        self.partner[place], self.partner_of_other[other] = other, place
        self.equal[place] = self._same(place, other)

    def anchors(self) -> list[int]:
        """Return the positions in the first whose partners rise, the most there can be; the other pairs moved.

        Where it is all one, what changed is said to have moved, and not what is the same.
        """
        places = [place for place, other in enumerate(self.partner) if other != NONE]
        others = [self.partner[place] for place in places]
        return [places[at] for at in rising_most(others, [self.equal[place] for place in places])]

    def whole(self, side: int, place: int) -> tuple[bytes, bytes]:
        """Return digests of an event's value and input by canonical form, each made once."""
        known = self._whole.get((side, place))
        if known is None:
            known = self._whole[side, place] = (self.other if side else self.one).whole(place)
        return known

    def _same(self, place: int, other: int) -> bool:
        one, two = self.one, self.other
        if one.names[place] != two.names[other] or one.outcomes[place] != two.outcomes[other]:
            return False
        if one.values[place] == two.values[other] and one.inputs[place] == two.inputs[other]:
            return True
        return self.whole(0, place) == self.whole(1, other)


def align(one: Contents, other: Contents, mode: AlignMode = "content") -> Alignment:
    """Pair the events of two recordings."""
    alignment = Alignment(one, other)
    if mode == "identity":
        _by_identity(alignment)
        return alignment
    groups, others = _grouped(one), _grouped(other)
    for name, places in groups.items():
        if name in others:
            _pair_group(alignment, places, others[name])
    _across_keys(alignment, groups, others)
    return alignment


def _by_identity(alignment: Alignment) -> None:
    free: dict[Hashable, list[int]] = defaultdict(list)
    for place, name in enumerate(alignment.other.names):
        free[(*name, alignment.other.ordinals[place])].append(place)
    for queue in free.values():
        queue.reverse()
    for place, name in enumerate(alignment.one.names):
        queue = free.get((*name, alignment.one.ordinals[place]), [])
        if queue:
            alignment.pair(place, queue.pop())


def _grouped(contents: Contents) -> dict[tuple[str, str], list[int]]:
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, name in enumerate(contents.names):
        groups[name].append(place)
    return groups


def _pair_group(alignment: Alignment, places: list[int], others: list[int]) -> None:
    one, other = alignment.one, alignment.other
    exact = _matched(
        places, others,
        lambda at: (one.outcomes[at], one.values[at], one.inputs[at]),
        lambda at: (other.outcomes[at], other.values[at], other.inputs[at]),
    )  # fmt: skip
    for place, place_other in exact:
        alignment.pair(place, place_other)
    if len(exact) == len(places) or len(exact) == len(others):
        return

    def content_of(at: int) -> Hashable:
        return one.outcomes[at], alignment.whole(0, at)

    def content_of_other(at: int) -> Hashable:
        return other.outcomes[at], alignment.whole(1, at)

    gaps = _gaps(places, others, exact)
    gaps = _refined(alignment, gaps, content_of, content_of_other)
    _moved(alignment, gaps, content_of, content_of_other)
    gaps = _refined(alignment, gaps, lambda at: alignment.whole(0, at)[1], lambda at: alignment.whole(1, at)[1])
    _distinct_inputs(alignment, places, others, gaps)
    gaps = _refined(alignment, gaps, lambda at: alignment.whole(0, at)[0], lambda at: alignment.whole(1, at)[0])
    for free, free_other in gaps:
        for place, place_other in zip(_free(alignment, free), _free_other(alignment, free_other), strict=False):
            alignment.pair(place, place_other)


_Gap: TypeAlias = tuple[list[int], list[int]]


def _gaps(places: Sequence[int], others: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[_Gap]:
    """Return what lies between pairs, on both sides; stretches empty on one side are kept, for what moved."""
    gaps: list[_Gap] = []
    low = low_other = 0
    for place, place_other in pairs:
        high, high_other = bisect_left(places, place, low), bisect_left(others, place_other, low_other)
        if low < high or low_other < high_other:
            gaps.append((list(places[low:high]), list(others[low_other:high_other])))
        low, low_other = high + 1, high_other + 1
    if low < len(places) or low_other < len(others):
        gaps.append((list(places[low:]), list(others[low_other:])))
    return gaps


def _refined(alignment: Alignment, gaps: list[_Gap], key: _Key, key_other: _Key) -> list[_Gap]:
    """Pair what has equal keys, in order, within each gap; return the smaller gaps left."""
    refined: list[_Gap] = []
    for places, others in gaps:
        free, free_other = _free(alignment, places), _free_other(alignment, others)
        pairs = _matched(free, free_other, key, key_other) if free and free_other else []
        for place, other in pairs:
            alignment.pair(place, other)
        refined += _gaps(free, free_other, pairs)
    return refined


def _moved(alignment: Alignment, gaps: list[_Gap], key: _Key, key_other: _Key) -> None:
    """Pair what is the same on both sides wherever it stands."""
    free = [place for places, _ in gaps for place in _free(alignment, places)]
    free_other = [place for _, others in gaps for place in _free_other(alignment, others)]
    if not free or not free_other:
        return
    queues: dict[Hashable, list[int]] = defaultdict(list)
    for place in reversed(free_other):
        queues[key_other(place)].append(place)
    for place in free:
        queue = queues.get(key(place))
        if queue:
            alignment.pair(place, queue.pop())


def _distinct_inputs(alignment: Alignment, places: list[int], others: list[int], gaps: list[_Gap]) -> None:
    """Pair across gaps calls whose input occurs once on each side: such an input says which call it is."""
    free = [place for part, _ in gaps for place in _free(alignment, part)]
    free_other = [place for _, part in gaps for place in _free_other(alignment, part)]
    if not free or not free_other:
        return
    once = _once(free, alignment.one, [alignment.whole(0, at)[1] for at in free], places)
    once_other = _once(free_other, alignment.other, [alignment.whole(1, at)[1] for at in free_other], others)
    for digest, place in once.items():
        if digest in once_other:
            alignment.pair(place, once_other[digest])


def _once(free: list[int], contents: Contents, digests: list[bytes], places: list[int]) -> dict[bytes, int]:
    """Return the places of inputs that occur once among ``places``, by digest."""
    counts: dict[bytes, int] = defaultdict(int)
    for place in places:
        counts[contents.inputs[place]] += 1
    found: dict[bytes, int] = {}
    twice: set[bytes] = set()
    for place, digest in zip(free, digests, strict=True):
        if not contents.inputs[place] or counts[contents.inputs[place]] > 1 or digest in found:
            twice.add(digest)
        found[digest] = place
    return {digest: place for digest, place in found.items() if digest not in twice}


def _across_keys(
    alignment: Alignment, groups: dict[tuple[str, str], list[int]], others: dict[tuple[str, str], list[int]]
) -> None:
    """Pair what is left of a channel under different keys, between the same neighbours: by input, else in order.

    In order only where neither recording uses the other's key, as when one model takes the place of another.
    """
    one, other = alignment.one, alignment.other
    free, free_other = _free(alignment, range(one.count)), _free_other(alignment, range(other.count))
    if not free or not free_other:
        return
    anchors = alignment.anchors()
    anchors_other = [alignment.partner[place] for place in anchors]
    stretches: dict[tuple[str, int], _Gap] = defaultdict(lambda: ([], []))
    for place in free:
        stretches[one.names[place][0], bisect_left(anchors, place)][0].append(place)
    for place in free_other:
        stretches[other.names[place][0], bisect_left(anchors_other, place)][1].append(place)
    gaps = [gap for gap in stretches.values() if gap[0] and gap[1]]
    gaps = _refined(
        alignment, gaps,
        lambda at: alignment.whole(0, at)[1] or (0, at), lambda at: alignment.whole(1, at)[1] or (1, at),
    )  # fmt: skip
    for places, place_others in gaps:
        unknown = [at for at in _free(alignment, places) if one.names[at] not in others]
        unknown_other = [at for at in _free_other(alignment, place_others) if other.names[at] not in groups]
        for place, place_other in zip(unknown, unknown_other, strict=False):
            alignment.pair(place, place_other)


def _matched(places: Sequence[int], others: Sequence[int], key: _Key, key_other: _Key) -> list[tuple[int, int]]:
    """Return the places of a common subsequence by key."""
    numbers: dict[Hashable, int] = {}
    one = [numbers.setdefault(key(place), len(numbers)) for place in places]
    other = [numbers.setdefault(key_other(place), len(numbers)) for place in others]
    return [(places[i], others[j]) for i, j in matches(one, other)]


def _free(alignment: Alignment, places: Iterable[int]) -> list[int]:
    return [place for place in places if alignment.partner[place] == NONE]


def _free_other(alignment: Alignment, places: Iterable[int]) -> list[int]:
    return [place for place in places if alignment.partner_of_other[place] == NONE]
