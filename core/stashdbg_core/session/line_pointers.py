"""Which field a line of a laid-out value belongs to, as a JSON pointer (RFC 6901).

Works back from the line over what was laid out, by depths and offsets alone: the text is not parsed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import loads

from stashdbg_core.session.pointers import pointer_of

PLAIN, LINE, MORE, NOTE, SCALAR, DUMP = range(6)
"""Forms of a line: JSON text, a line of a longer text, the rest of a long line, a remark, a tagged value read as what
it stands for, a row of the bytes that one is."""

_COUNTED = 4096


class LinePointers:
    """The pointers of lines.

    Args:
        text: The JSON text.
        starts: Offset at which each line starts.
        ends: Offset at which it ends.
        depths: Its depth.
        forms: Its form.
    """

    def __init__(
        self, text: str, starts: Sequence[int], ends: Sequence[int], depths: Sequence[int], forms: Sequence[int]
    ) -> None:
        self._text = text
        self._starts, self._ends, self._depths, self._forms = starts, ends, depths, forms

    def of(self, index: int) -> str | None:
        """Return the pointer of a line's field; None for a remark."""
        if self._forms[index] == NOTE:
            return None
        steps: list[str | int] = []
        index, depth = self._owner(index)
        while depth > 0:
            key = self._key(index)
            opener = self._opener(index, depth)
            steps.append(key if key is not None else self._items(opener + 1, index, depth))
            index, depth = opener, depth - 1
            if index < 0:
                break
        return pointer_of(steps[::-1])

    def _owner(self, index: int) -> tuple[int, int]:
        """Return the line where the value begins that a line is part of, and how many brackets stand around it."""
        if self._forms[index] in (LINE, MORE):
            while index and not self._starts_text(index):
                index -= 1
            if self._has_own_key(index):
                return index - 1, self._depths[index - 1]
            return index, max(self._depths[index] - 1, 0)
        while self._forms[index] == DUMP:
            index -= 1
        depth = self._depths[index]
        if self._text[self._starts[index]] in "]}":
            index -= 1
            while index > 0 and not (self._forms[index] == PLAIN and self._depths[index] == depth):
                index -= 1
        return max(index, 0), depth

    def _starts_text(self, index: int) -> bool:
        start = self._starts[index]
        return self._forms[index] == LINE and start > 0 and self._text[start - 1] == '"'

    def _has_own_key(self, index: int) -> bool:
        """Whether the line before is the key of the text that starts here."""
        return index > 0 and self._forms[index - 1] == PLAIN and self._ends[index - 1] == self._starts[index] - 1

    def _key(self, index: int) -> str | None:
        if self._forms[index] not in (PLAIN, SCALAR):
            return None
        text, start, end = self._text, self._starts[index], self._ends[index]
        if text[start] != '"':
            return None
        close = start + 1
        while close < end and text[close] != '"':
            close += 2 if text[close] == "\\" else 1
        if text[close + 1 : close + 16].lstrip()[:1] != ":" or close + 1 >= end:
            return None
        try:
            key = loads(text[start : close + 1], strict=False)
        except ValueError:
            return text[start + 1 : close]
        return key if isinstance(key, str) else None

    def _opener(self, index: int, depth: int) -> int:
        """Return the line with the bracket around a line; -1 where there is none."""
        index -= 1
        while index >= 0 and not (self._forms[index] == PLAIN and self._depths[index] == depth - 1):
            index -= 1
        return index

    def _items(self, first: int, index: int, depth: int) -> int:
        """Count the items of a list between its bracket and a line."""
        count = 0
        for line in range(first, index):
            form = self._forms[line]
            if form == PLAIN and self._depths[line] == depth and self._text[self._starts[line]] not in "]}":
                count += self._in_line(line)
            elif form == SCALAR and self._depths[line] == depth:
                count += 1
            elif form == LINE and self._depths[line] == depth + 1 and self._starts_text(line):
                count += 0 if self._has_own_key(line) else 1
        return count

    def _in_line(self, line: int) -> int:
        text = self._text[self._starts[line] : min(self._ends[line], self._starts[line] + _COUNTED)]
        if text[:1] in '{["':
            return 1
        return max(sum(1 for part in text.split(",") if part.strip()), 1)
