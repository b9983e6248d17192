"""Where lines fold: at blanks where there are some, by cells, never inside a character."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from rich.cells import chop_cells

from stashdbg_tui import safe


def folds(text: str, width: int) -> list[int]:
    """Return the offsets at which the rows of a safe text start, the first always 0."""
    width = max(width, 2)
    starts, start, length, plain = [0], 0, len(text), text.isascii()
    if plain and length <= width:
        return starts
    while True:
        if plain:
            end = start + width
        else:
            window = text[start : start + 2 * width]
            end = start + len(chop_cells(window, width)[0]) if safe.cells(window) > width else start + len(window)
        if end >= length:
            return starts
        blank = text.rfind(" ", start + width // 2, end + 1)
        start = blank + 1 if blank >= 0 and blank + 1 > start else max(end, start + 1)
        if start >= length:
            return starts
        starts.append(start)


class FoldIndex:
    """Which rows a line takes when folded, none if it is hidden, for as many lines as were added."""

    def __init__(self) -> None:
        self._ends = array("Q")
        """Rows up to and with each line."""

    @property
    def lines(self) -> int:
        """Lines added so far."""
        return len(self._ends)

    @property
    def rows(self) -> int:
        """Rows they take."""
        return self._ends[-1] if self._ends else 0

    def add(self, rows: int) -> None:
        """Add a line that takes so many rows."""
        self._ends.append(self.rows + rows)

    def cut(self, lines: int) -> None:
        """Forget all but so many lines."""
        del self._ends[lines:]

    def line_at(self, row: int) -> tuple[int, int]:
        """Return the line that a row belongs to, and which of its rows it is."""
        line = bisect_right(self._ends, row)
        return line, row - (self._ends[line - 1] if line else 0)

    def first_row(self, line: int) -> int:
        """Return the first row of a line."""
        return self._ends[line - 1] if line else 0

    def is_hidden(self, line: int) -> bool:
        """Tell whether a line takes no row."""
        return self._ends[line] == self.first_row(line)
