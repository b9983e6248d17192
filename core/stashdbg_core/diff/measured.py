"""Which value of a clock or of chance is which: by place, for the value itself says nothing.

A place is between two calls, in a function, in a lane; the first says most, and lanes of a pool least.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Sequence

from stashdbg_core.diff.contents import Contents
from stashdbg_core.diff.pairing import EQUAL, Alignment, Gap, Key
from stashdbg_core.diff.sequences import rising_most


def pair_measured(alignment: Alignment) -> None:
    """Pair measured values; the other calls are paired already."""
    one, other = alignment.one, alignment.other
    if not any(map(one.is_measured, range(one.count))) or not any(map(other.is_measured, range(other.count))):
        return
    lanes, lanes_other = one.lanes, other.lanes
    whole = range(one.count), range(other.count)
    _pair_between_calls(alignment, *whole, _places(one, lanes), _places(other, lanes_other))
    # Which worker of a pool takes a task is chance, and so is how lanes that run at a time interleave.
    places, places_other = _places(one), _places(other)
    _pair_between_calls(alignment, *whole, places, places_other)
    of_lane, of_lane_other = _by_lane(lanes), _by_lane(lanes_other)
    for lane in of_lane.keys() & of_lane_other.keys():
        _pair_between_calls(alignment, of_lane[lane], of_lane_other[lane], places, places_other)
    # Where a function has another name, the clock is still the same.
    _pair_between_calls(alignment, *whole, one.names.__getitem__, other.names.__getitem__)


def _places(contents: Contents, lanes: Sequence[str | None] | None = None) -> Key:
    """Return what tells where a value was read: clock, function and, if they are given, lane."""
    return lambda at: (contents.names[at], contents.outcomes[at], contents.site(at), lanes and lanes[at])


def _by_lane(lanes: Sequence[str | None]) -> dict[str | None, list[int]]:
    found: dict[str | None, list[int]] = defaultdict(list)
    for at, lane in enumerate(lanes):
        found[lane].append(at)
    return found


def _pair_between_calls(
    alignment: Alignment, events: Sequence[int], others: Sequence[int], place: Key, place_other: Key
) -> None:
    """Pair measured values of some events that lie between the same calls of these."""
    one, other = alignment.one, alignment.other
    free = [at for at in alignment.free(events) if one.is_measured(at)]
    free_other = [at for at in alignment.free_other(others) if other.is_measured(at)]
    if not free or not free_other:
        return
    anchors, anchors_other = _anchors(alignment, events, set(others))
    stretches: dict[int, Gap] = defaultdict(lambda: ([], []))
    for at in free:
        stretches[bisect_left(anchors, at)][0].append(at)
    for at in free_other:
        stretches[bisect_left(anchors_other, at)][1].append(at)
    for gap in stretches.values():
        if gap[0] and gap[1]:
            _pair_stretch(alignment, gap, place, place_other)


def _anchors(alignment: Alignment, events: Sequence[int], others: set[int]) -> tuple[list[int], list[int]]:
    """Return the pairs among some events, as many as are in the same order on both sides."""
    paired = [at for at in events if alignment.partner[at] in others]
    partners = [alignment.partner[at] for at in paired]
    kept = rising_most(partners, [alignment.verdicts[at] == EQUAL for at in paired])
    return [paired[at] for at in kept], [partners[at] for at in kept]


def _pair_stretch(alignment: Alignment, gap: Gap, place: Key, place_other: Key) -> None:
    """Pair values that were read between the same calls, in order; what one side read more is left."""
    one, other = alignment.one, alignment.other
    places, others = gap
    alike = [_known(one, at) for at in places] == [_known(other, at) for at in others]
    if alike or list(map(place, places)) == list(map(place_other, others)):
        for at, at_other in zip(places, others, strict=True):
            alignment.pair(at, at_other)
        return
    # What is equal shows which ones both sides read.
    gaps = alignment.refine(
        [gap],
        lambda at: (place(at), alignment.whole(0, at)[0]),
        lambda at: (place_other(at), alignment.whole(1, at)[0]),
    )
    alignment.refine(gaps, place, place_other)


def _known(contents: Contents, at: int) -> Hashable:
    return contents.names[at], contents.outcomes[at], contents.values[at], contents.inputs[at]
