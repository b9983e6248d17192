"""Which event of one recording is which event of another.

By content: within a channel and key, first what is the same (the same outcome, value and input), in order; then what
moved; then, between those, equal inputs, equal values, and what is left one by one. Then across the keys of a channel,
so that two models compare. One inserted call is one addition. Values of a clock or of chance say nothing of which call
is which: those are paired last, by place. By identity: the same channel, key and ordinal.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable
from typing import Literal, TypeAlias

from stashdbg_core.diff.contents import Contents
from stashdbg_core.diff.measured import pair_measured
from stashdbg_core.diff.pairing import Alignment, Gap, Key, gaps_between, matched

AlignMode: TypeAlias = Literal["content", "identity"]


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
    pair_measured(alignment)
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
    """Return the calls by channel and key; measured values are none that content tells apart."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, name in enumerate(contents.names):
        if not contents.is_measured(place):
            groups[name].append(place)
    return groups


def _pair_group(alignment: Alignment, places: list[int], others: list[int]) -> None:
    one, other = alignment.one, alignment.other
    exact = matched(
        places, others,
        lambda at: (one.outcomes[at], one.values[at], one.inputs[at]),
        lambda at: (other.outcomes[at], other.values[at], other.inputs[at]),
    )  # fmt: skip
    for place, place_other in exact:
        alignment.pair(place, place_other)
    if len(exact) == len(places) or len(exact) == len(others):
        return

    def content_of(at: int) -> Hashable:
        return one.outcomes[at], alignment.said(0, at)

    def content_of_other(at: int) -> Hashable:
        return other.outcomes[at], alignment.said(1, at)

    gaps = gaps_between(places, others, exact)
    gaps = alignment.refine(gaps, content_of, content_of_other)
    _moved(alignment, gaps, content_of, content_of_other)
    gaps = alignment.refine(gaps, lambda at: alignment.said(0, at)[1], lambda at: alignment.said(1, at)[1])
    _distinct_inputs(alignment, places, others, gaps)
    gaps = alignment.refine(gaps, lambda at: alignment.said(0, at)[0], lambda at: alignment.said(1, at)[0])
    for free, free_other in gaps:
        for place, place_other in zip(alignment.free(free), alignment.free_other(free_other), strict=False):
            alignment.pair(place, place_other)


def _moved(alignment: Alignment, gaps: list[Gap], key: Key, key_other: Key) -> None:
    """Pair what is the same on both sides wherever it stands."""
    free = [place for places, _ in gaps for place in alignment.free(places)]
    free_other = [place for _, others in gaps for place in alignment.free_other(others)]
    if not free or not free_other:
        return
    queues: dict[Hashable, list[int]] = defaultdict(list)
    for place in reversed(free_other):
        queues[key_other(place)].append(place)
    for place in free:
        queue = queues.get(key(place))
        if queue:
            alignment.pair(place, queue.pop())


def _distinct_inputs(alignment: Alignment, places: list[int], others: list[int], gaps: list[Gap]) -> None:
    """Pair across gaps calls whose input occurs once on each side: such an input says which call it is."""
    free = [place for part, _ in gaps for place in alignment.free(part)]
    free_other = [place for _, part in gaps for place in alignment.free_other(part)]
    if not free or not free_other:
        return
    once = _once(free, alignment.one, [alignment.said(0, at)[1] for at in free], places)
    once_other = _once(free_other, alignment.other, [alignment.said(1, at)[1] for at in free_other], others)
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
    free = alignment.free(place for places in groups.values() for place in places)
    free_other = alignment.free_other(place for places in others.values() for place in places)
    if not free or not free_other:
        return
    anchors = alignment.anchors()
    anchors_other = [alignment.partner[place] for place in anchors]
    stretches: dict[tuple[str, int], Gap] = defaultdict(lambda: ([], []))
    for place in sorted(free):
        stretches[one.names[place][0], bisect_left(anchors, place)][0].append(place)
    for place in sorted(free_other):
        stretches[other.names[place][0], bisect_left(anchors_other, place)][1].append(place)
    gaps = [gap for gap in stretches.values() if gap[0] and gap[1]]
    gaps = alignment.refine(
        gaps, lambda at: alignment.said(0, at)[1] or (0, at), lambda at: alignment.said(1, at)[1] or (1, at)
    )
    for places, place_others in gaps:
        unknown = [at for at in alignment.free(places) if one.names[at] not in others]
        unknown_other = [at for at in alignment.free_other(place_others) if other.names[at] not in groups]
        for place, place_other in zip(unknown, unknown_other, strict=False):
            alignment.pair(place, place_other)
