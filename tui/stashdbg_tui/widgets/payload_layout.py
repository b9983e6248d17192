"""Which rows the lines of a value take: long lines folded at the width, closed objects reduced to one row.

Lines are laid out from the top and on demand. Opening or closing an object forgets the rows below it and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.cache import LRUCache

from stashdbg_core.session.lines import Line, LineSource, Token
from stashdbg_tui import safe
from stashdbg_tui.widgets.folding import FoldIndex, folds

_EARLY = 20
"""Lines among which there may be one that starts closed."""
_DEEPEST = 20
"""Levels that are indented; deeper ones are numbered."""
_GUTTERS = {"": "", "line": "│ ", "more": "┊ "}
_CLOSERS = {"{": " … }", "[": " … ]", ": ": "…"}

Prepared = tuple[str, str, list[tuple[str, str]]]
"""A line made safe: what stands before it, its text, and the text's pieces with their kinds."""


class PayloadLayout:
    """Rows over a source of lines.

    Args:
        source: The lines.
        width: Cells of a row.
        wrap: Whether lines longer than that go on in the next row.
        closed: JSON pointers of members that are closed until someone opens them.
    """

    def __init__(self, source: LineSource, width: int, wrap: bool, closed: Sequence[str] = ()) -> None:
        self.source = source
        self.width = width
        self.wrap = wrap
        self._index = FoldIndex()
        self._closed: set[int] = set()
        self._close_at = frozenset(closed)
        self._opened: set[int] = set()
        self._level: int | None = None
        """From this depth on everything is closed that was not opened by hand."""
        self._under: tuple[int, int] | None = None
        """The closed line whose inside is being laid out, and its depth."""
        self._prepared: LRUCache[int, Prepared] = LRUCache(256)

    @property
    def rows(self) -> int:
        """Rows laid out so far."""
        return self._index.rows

    @property
    def lines(self) -> int:
        """Lines laid out so far."""
        return self._index.lines

    def more(self, lines: int) -> bool:
        """Lay out some further lines; tell whether there are still more."""
        source, index = self.source, self._index
        if source.count < index.lines + lines:
            source.extend(lines)
        cheap = not (self.wrap or self._closed or self._close_at or self._level is not None)
        for place in range(index.lines, min(index.lines + lines, source.count)):
            if self._close_at and place < _EARLY and place not in self._opened:
                self._close_early(place)
            index.add(1 if cheap else self._rows_of(place, source.line(place)))
        return index.lines < source.count or not source.complete

    def at(self, row: int) -> tuple[int, int]:
        """Return the line that a row belongs to, and which of its rows it is."""
        return self._index.line_at(row)

    def row_of(self, line: int) -> int:
        """Return the first row of a line, of the closed line around it if it is hidden; it must be laid out."""
        if line >= self._index.lines:
            return max(self.rows - 1, 0)
        row = self._index.first_row(line)
        return max(row - 1, 0) if self._index.is_hidden(line) else row

    def prepared(self, line: int) -> Prepared:
        """Return a line made safe, as it is drawn."""
        found = self._prepared.get(line)
        if found is None:
            found = self._prepared[line] = self._prepare(line, self.source.line(line))
        return found

    def is_closed(self, line: int) -> bool:
        """Tell whether a line is closed over what stands in it."""
        return self._closes(line, self.source.line(line))

    def toggle(self, line: int) -> bool:
        """Close a line over what stands in it, or open it; tell whether it can."""
        shown = self.source.line(line)
        if not _opens(shown):
            return False
        if self._closes(line, shown):
            self._closed.discard(line)
            self._opened.add(line)
        else:
            self._opened.discard(line)
            self._closed.add(line)
        self._restart(line)
        return True

    def close_from(self, level: int | None) -> None:
        """Close everything from a depth on; None opens everything."""
        self._level = level
        self._close_at = frozenset()
        self._closed.clear()
        self._opened.clear()
        self._restart(0)

    def around(self, line: int) -> int | None:
        """Return the line of the object or text that a line stands in."""
        depth = self.source.line(line).depth
        for place in range(line - 1, -1, -1):
            above = self.source.line(place)
            if above.depth < depth and _opens(above):
                return place
        return None

    def show(self, line: int) -> None:
        """Open what hides a line that is laid out."""
        place: int | None = line
        while place is not None and line < self._index.lines and self._index.is_hidden(line):
            place = self.around(place)
            if place is not None and self.is_closed(place):
                self.toggle(place)
                while self._index.lines <= line and self.more(200):
                    pass

    def _restart(self, line: int) -> None:
        self._index.cut(line)
        self._prepared.clear()
        self._under = None

    def _close_early(self, place: int) -> None:
        line = self.source.line(place)
        if line.depth == 1 and _opens(line) and self.source.pointer(place) in self._close_at:
            self._closed.add(place)

    def _rows_of(self, place: int, line: Line) -> int:
        if self._under is not None:
            _, depth = self._under
            if line.depth > depth:
                return 0
            self._under = None
            if (
                line.depth == depth
                and not line.gutter
                and line.tokens[:1] in ([("}", "punctuation")], [("]", "punctuation")])
            ):
                return 0
        if self._closes(place, line):
            self._under = (place, line.depth)
        if not self.wrap:
            return 1
        lead, text, _ = self._prepare(place, line)
        return len(folds(text, self.width - len(lead)))

    def _closes(self, place: int, line: Line) -> bool:
        if place in self._closed:
            return True
        return self._level is not None and line.depth >= self._level and place not in self._opened and _opens(line)

    def _prepare(self, place: int, line: Line) -> Prepared:
        lead = "  " * min(line.depth, _DEEPEST)
        if line.depth > _DEEPEST:
            lead += f"·{line.depth}· "
        tokens: list[Token] = list(line.tokens)
        if tokens and self._closes(place, line):
            tokens.append((_CLOSERS[tokens[-1][0]], "note"))
        pieces = [(safe.shown(text), str(kind)) for text, kind in tokens]
        return lead + _GUTTERS[line.gutter], "".join(text for text, _ in pieces), pieces


def _opens(line: Line) -> bool:
    """Whether something stands below a line that it can be closed over."""
    return bool(line.tokens) and line.tokens[-1][1] == "punctuation" and line.tokens[-1][0] in _CLOSERS
