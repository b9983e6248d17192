"""Matches of a pattern in a long text, looked for only where one can begin.

Both functions yield what ``pattern.finditer(text)`` does, given that every match holds one of some places: within
``lead`` characters after its start, or within a window that ends with the place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

LONG = 2048
"""Characters from which on this is faster than going through the text."""


def places_of(text: str, *words: str) -> list[int]:
    """Return where any of some words stand, in order."""
    places: list[int] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            places.append(at)
            at = text.find(word, at + 1)
    if len(words) > 1:
        places.sort()
    return places


def matches_at(pattern: re.Pattern[str], text: str, places: Sequence[int], lead: int) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, tried at every position that is near enough to a place."""
    at = 0
    for place in places:
        at = max(at, place - lead)
        while at <= place:
            match = pattern.match(text, at)
            if match is not None:
                yield match
            at = at + 1 if match is None else match.end()


def matches_near(
    pattern: re.Pattern[str], text: str, windows: Iterable[tuple[int, int]], reach: int
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, each of which begins within a window: from its first position to its place.

    Whether one begins somewhere shows within ``reach`` characters after the place.
    """
    at = 0
    for first, last in _joined(windows):
        at = max(at, first)
        while at <= last:
            found = pattern.search(text, at, last + reach)
            if found is None:
                break
            match = pattern.match(text, found.start()) or found  # as long as it is in the whole text
            yield match
            at = match.end()


def _joined(windows: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield windows, given in order, those that overlap as one."""
    first = last = -1
    for start, place in windows:
        if start > last:
            if last >= 0:
                yield first, last
            first = start
        last = place
    if last >= 0:
        yield first, last
