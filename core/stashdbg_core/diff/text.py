"""Where two texts differ: by lines, and by words within changed lines.

Bounded: lines are matched as ``sequences`` does, and words only where the part that differs is short; a long one is
one replaced block.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from stashdbg_core.diff.sequences import matches

WORDS_UP_TO = 1 << 16
"""Characters of differing text in which words are told apart."""

_WORD = re.compile(r"\w+(?:(?<=\d)\.(?=\d)\w+)*|\s+|[^\w\s]")
"""A word, a blank, or one other character; a point between two digits is inside a word, so that 49.9 is one."""
_EDGE = 64
"""Characters between two changes that may be taken as part of one."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of one text that another part of the other takes the place of; either may be empty."""

    start: int
    end: int
    start_after: int
    end_after: int


@dataclass(frozen=True, slots=True)
class TextDifference:
    """Two texts as lines, and which of them changed."""

    before: list[str]
    after: list[str]
    spans: list[Span]
    """In lines."""
    only_line_ends: bool
    """Whether the texts are the same but for CRLF and LF."""


def text_difference(before: str, after: str) -> TextDifference:
    """Return where two texts differ, line by line; lines are what stands between line feeds."""
    old, new = before.split("\n"), after.split("\n")
    only_line_ends = before != after and before.replace("\r\n", "\n") == after.replace("\r\n", "\n")
    return TextDifference(old, new, _spans(old, new), only_line_ends)


def word_spans(before: str, after: str) -> list[Span]:
    """Return where two texts differ, word by word, in characters; ascending, none empty on both sides."""
    if before == after:
        return []
    start = common_start(before, after)
    while _inside_word(before, after, start):
        start -= 1
    longest = min(len(before), len(after)) - start
    tail = min(_common_end(before, after), longest)
    while tail and _inside_word(before, after, len(before) - tail, len(after) - tail):
        tail -= 1
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    whole = Span(start, start + len(old), start, start + len(new))
    if len(old) + len(new) > 2 * WORDS_UP_TO or not old or not new:
        return [whole]
    words, others = _WORD.findall(old), _WORD.findall(new)
    places, places_after = _places(words, start), _places(others, start)
    spans = [
        Span(places[span.start], places[span.end], places_after[span.start_after], places_after[span.end_after])
        for span in _spans(words, others)
    ]
    return _joined(before, spans)


def common_start(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_end(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _inside_word(before: str, after: str, place: int, place_after: int | None = None) -> bool:
    """Tell whether a cut would go through a word of either text."""
    place_after = place if place_after is None else place_after
    return _cuts(before, place) or _cuts(after, place_after)


def _cuts(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if _is_word(before) and _is_word(after):
        return True
    return (before == "." and _is_point(text, place - 1)) or (after == "." and _is_point(text, place))


def _is_point(text: str, place: int) -> bool:
    """Tell whether the character at a place stands between two digits."""
    return 0 < place < len(text) - 1 and text[place - 1].isdecimal() and text[place + 1].isdecimal()


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def _places(words: list[str], start: int) -> list[int]:
    """Return where each word starts, and where the last ends."""
    places = [start]
    for word in words:
        places.append(places[-1] + len(word))
    return places


def _spans(old: list[str], new: list[str]) -> list[Span]:
    numbers: dict[str, int] = {}
    one = [numbers.setdefault(item, len(numbers)) for item in old]
    other = [numbers.setdefault(item, len(numbers)) for item in new]
    spans: list[Span] = []
    low = low_after = 0
    for high, high_after in (*matches(one, other), (len(old), len(new))):
        if low < high or low_after < high_after:
            spans.append(Span(low, high, low_after, high_after))
        low, low_after = high + 1, high_after + 1
    return spans


def _joined(before: str, spans: list[Span]) -> list[Span]:
    """Join spans between which only blanks and punctuation are the same: a reader sees one change."""
    joined: list[Span] = []
    for span in spans:
        last = joined[-1] if joined else None
        if (
            last is not None
            and not any(map(_is_word, before[last.end : span.start][:_EDGE]))
            and (span.start - last.end < _EDGE)
        ):
            joined[-1] = Span(last.start, span.end, last.start_after, span.end_after)
        else:
            joined.append(span)
    return joined
