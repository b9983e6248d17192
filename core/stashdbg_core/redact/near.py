"""Matches of a pattern in a long text, looked for only where one can begin.

Both functions yield what ``pattern.finditer(text)`` does, given that every match has one of some places within ``lead``
characters after its start. Each position is tried once at most.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
    pattern: re.Pattern[str], text: str, places: Sequence[int], lead: int, reach: int
) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern; whether one begins somewhere shows within ``reach`` characters after a place."""
    at = 0
    for first, last in _stretches(places, lead):
        at = max(at, first)
        while at <= last:
            found = pattern.search(text, at, last + reach)
            if found is None:
                break
            match = pattern.match(text, found.start()) or found  # as long as it is in the whole text
            yield match
            at = match.end()


def _stretches(places: Sequence[int], lead: int) -> Iterator[tuple[int, int]]:
    """Yield where matches may begin, and the last place that each stretch leads to."""
    first = last = -1
    for place in places:
        if last < 0 or place - lead > last:
            if last >= 0:
                yield first, last
            first = max(place - lead, 0)
        last = place
    if last >= 0:
        yield first, last
