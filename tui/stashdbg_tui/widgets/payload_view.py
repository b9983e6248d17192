"""A recorded value, laid out as it is looked at.

Lines come from a headless source that lays them out in slices of a few milliseconds, so a value of any size is on the
screen at once and never holds a key up. What was drawn is kept.
"""

from __future__ import annotations

from time import perf_counter
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from stashdbg_core.session.lines import Line, LineSource
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.widgets.folding import FoldIndex, folds
from stashdbg_tui.widgets.line_view import LineView

_SLICE_SECONDS = 0.004
_PAUSE_SECONDS = 0.012
_STEP = 200
_DEEPEST = 20
"""Levels that are indented; deeper ones are numbered."""
_GUTTERS = {"": "", "line": "│ ", "more": "┊ "}


class PayloadView(LineView):
    """Lines of coloured tokens, folded or scrolled sideways."""

    BINDINGS = bindings("inspector")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "payload--gutter", *(f"payload--{kind}" for kind in
        ("key", "string", "number", "literal", "punctuation", "tag", "text", "note", "problem")),
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.wrap = True
        self._source: LineSource | None = None
        self._folds = FoldIndex()
        self._fold_width = 0
        """Cells that lines were folded to; a resize is drawn once before it is heard of."""
        self._prepared: LRUCache[int, tuple[str, str, list[tuple[str, str]]]] = LRUCache(256)
        self._left = 0
        self._widest = 0
        self._to_end = False
        self._timer: Timer | None = None

    @property
    def row_count(self) -> int:
        """Rows laid out so far."""
        if self._source is None:
            return 0
        return self._folds.rows if self.wrap else self._source.count

    @property
    def settled(self) -> bool:
        """Whether everything is laid out."""
        return self._timer is None

    def show_lines(self, source: LineSource | None) -> None:
        """Show lines from their start; None leaves the pane blank."""
        before, self._source = self.row_count, source
        self.top = self._left = self._widest = 0
        self._to_end = False
        self._prepared.clear()
        self._lay_out(before)

    def toggle_wrap(self) -> bool:
        """Fold long lines or stop to; the first visible line stays. Returns whether they fold now."""
        line = self._folds.line_at(self.top)[0] if self.wrap else self.top
        self.wrap = not self.wrap
        self._left = 0
        self._lay_out()
        while self._source is not None and self.wrap and self._folds.lines <= line and self._more(_STEP):
            pass
        self.top = 0
        self.scroll_to_row(self._folds.first_row(min(line, self._folds.lines)) if self.wrap else line)
        self.forget_rows()
        return self.wrap

    def action_scroll_by(self, columns: int, rows: int) -> None:
        """Scroll by cells; sideways only while lines are not folded."""
        if rows:
            self._to_end = False
            self.scroll_rows(rows)
        elif not self.wrap:
            left = max(min(self._left + columns, self._widest - self.size.width + 2), 0)
            if left != self._left:
                self._left = left
                self.forget_rows()

    def action_scroll_page(self, pages: float) -> None:
        """Scroll by pages."""
        self._to_end = False
        self.scroll_rows(round(pages * max(self.page_rows - 1, 1)))

    def action_scroll_edge(self, edge: int) -> None:
        """Scroll to the start or the end; the end is followed while lines are still being laid out."""
        self._to_end = edge > 0
        self.scroll_to_row(self.row_count if edge > 0 else 0)

    def _lay_out(self, before: int = 0) -> None:
        """Start again: what is visible now, the rest in slices. Draws only lines that showed or show something."""
        before = max(before, self.row_count)
        self._folds = FoldIndex()
        self._fold_width = self.size.width - 1
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._fold_width > 0:
            self._more(2 * self.page_rows)
            self._continue()
        self._strips.clear()
        self.refresh(Region(0, 0, self.size.width, min(max(before, self.row_count), self.page_rows)))

    def _continue(self) -> None:
        """Lay out for a slice, and come back if something is left."""
        self._timer = None
        until, before = perf_counter() + _SLICE_SECONDS, self.row_count
        while (more := self._more(_STEP)) and perf_counter() < until:
            pass
        if more:
            self._timer = self.set_timer(_PAUSE_SECONDS, self._continue)
        if self._to_end:
            self.scroll_to_row(self.row_count)
        if self.row_count != before:
            self.refresh()

    def _more(self, lines: int) -> bool:
        """Lay out some further lines; tell whether there are still more."""
        source = self._source
        if source is None:
            return False
        if source.count < self._folds.lines + lines or not self.wrap:
            source.extend(lines)
        if self.wrap:
            width = self._fold_width
            for index in range(self._folds.lines, min(self._folds.lines + lines, source.count)):
                lead, text, _ = _prepare(source.line(index))
                self._folds.add(len(folds(text, width - len(lead))))
            return self._folds.lines < source.count or not source.complete
        return not source.complete

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row in the cells that are visible of it."""
        selection = self.text_selection
        key = (row, width)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._drawn(row, width)
        if selection is not None and (span := selection.get_span(row)) is not None:
            strip = _selected(strip, span, self.screen.get_component_rich_style("screen--selection"))
        return strip.apply_offsets(0, row)

    def _drawn(self, row: int, width: int) -> Strip:
        index, part = self._folds.line_at(row) if self.wrap else (row, 0)
        lead, text, tokens = self._prepare_line(index)
        start, end = 0, len(text)
        if self.wrap:
            starts = [*folds(text, self._fold_width - len(lead)), end]
            start, end = starts[part], starts[part + 1]
        base = self.base_style
        segments, offset = [Segment(lead, base + self.style_of("payload--gutter"))], 0
        for piece, kind in tokens:
            shown = piece[max(start - offset, 0) : max(end - offset, 0)]
            offset += len(piece)
            if shown:
                segments.append(Segment(shown, base + self.style_of(f"payload--{kind}")))
        strip = Strip(segments)
        self._widest = max(self._widest, strip.cell_length)
        return strip.crop_extend(self._left, self._left + width, base)

    def _prepare_line(self, index: int) -> tuple[str, str, list[tuple[str, str]]]:
        prepared = self._prepared.get(index)
        if prepared is None:
            assert self._source is not None
            prepared = self._prepared[index] = _prepare(self._source.line(index))
        return prepared

    def on_resize(self, event: object) -> None:
        """Fold anew."""
        self._strips.clear()
        if self._source is not None and self._fold_width != self.size.width - 1:
            line = self._folds.line_at(self.top)[0] if self.wrap else self.top
            self._lay_out()
            self.top = 0
            self.scroll_to_row(self._folds.first_row(min(line, self._folds.lines)) if self.wrap else line)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text a mouse selected, as shown."""
        first = selection.start.y if selection.start is not None else self.top
        last = selection.end.y if selection.end is not None else self.top + self.page_rows - 1
        width, picked = self.size.width - 1, []
        for row in range(max(first, 0), min(last, self.row_count - 1) + 1):
            span = selection.get_span(row)
            if span is not None:
                text = self._drawn(row, width).text
                picked.append(text[span[0] : None if span[1] == -1 else span[1]].rstrip())
        return ("\n".join(picked), "\n") if picked else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()


def _prepare(line: Line) -> tuple[str, str, list[tuple[str, str]]]:
    """Return a line made safe: what stands before it, its text, and the text's coloured pieces."""
    lead = "  " * min(line.depth, _DEEPEST)
    if line.depth > _DEEPEST:
        lead += f"·{line.depth}· "
    tokens = [(safe.shown(text), kind) for text, kind in line.tokens]
    return lead + _GUTTERS[line.gutter], "".join(text for text, _ in tokens), list(tokens)


def _selected(strip: Strip, span: tuple[int, int], style: Style) -> Strip:
    """Return a strip with some of its characters marked."""
    start, end = span
    end = len(strip.text) if end == -1 else end
    out, offset = [], 0
    for segment in strip:
        text = segment.text
        low, high = (max(min(edge - offset, len(text)), 0) for edge in (start, end))
        plain = segment.style or Style.null()
        out += [
            Segment(piece, look)
            for piece, look in ((text[:low], plain), (text[low:high], plain + style), (text[high:], plain))
            if piece
        ]
        offset += len(text)
    return Strip(out, strip.cell_length)
