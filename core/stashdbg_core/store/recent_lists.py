"""The lists stored last, to find how far a new one begins as one of them did."""

from __future__ import annotations

KEPT = 8
MAX_ITEMS = 20_000
MAX_BYTES = 4_000_000


class RecentLists:
    """A few lists of item texts, the latest first; one that goes on where another began takes its place."""

    def __init__(self) -> None:
        self._lists: list[list[bytes]] = []

    def common_start(self, texts: list[bytes]) -> int:
        """Return how many items a list has in common with the beginning of a recent one, and keep it as the latest.

        Lists too large to be kept have nothing in common with any.
        """
        if len(texts) > MAX_ITEMS or sum(map(len, texts)) > MAX_BYTES:
            return 0
        longest, place = 0, -1
        for number, known in enumerate(self._lists):
            common = _common(known, texts)
            if common > longest:
                longest, place = common, number
        if place >= 0 and longest * 2 >= len(self._lists[place]):
            del self._lists[place]
        self._lists.insert(0, texts)
        del self._lists[KEPT:]
        return longest


def _common(one: list[bytes], other: list[bytes]) -> int:
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(place for place in range(length) if one[place] != other[place])
