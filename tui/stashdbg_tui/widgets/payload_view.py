"""A recorded value, laid out as it is looked at, with a cursor on one of its lines.

Lines come from a headless source that lays them out in slices of a few milliseconds, so a value of any size is on the
screen at once and never holds a key up. What was drawn is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from stashdbg_core.errors import StashError
from stashdbg_core.session.lines import LineSource
from stashdbg_core.session.masks import mask_spans
from stashdbg_core.session.tasks import Steps
from stashdbg_tui.bindings import bindings
from stashdbg_tui.widgets.folding import folds
from stashdbg_tui.widgets.line_view import LineView
from stashdbg_tui.widgets.payload_layout import PayloadLayout
from stashdbg_tui.widgets.strips import marked

if TYPE_CHECKING:
    from stashdbg_core.session.text_match import TextMatch

_SLICE_SECONDS = 0.004
_PAUSE_SECONDS = 0.012
_STEP = 200
_FRAME = 2
"""Cells beside the text of a row: a blank at its left, as tabs have one, and the scrollbar."""
_FIELD_LINES = 3000
"""Lines among which a field is looked for."""
_KINDS = (
    "key", "string", "number", "literal", "punctuation", "tag", "text", "note", "problem", "strong", "added",
    "removed", "role",
)  # fmt: skip


class PayloadView(LineView):
    """Lines of coloured tokens, folded or scrolled sideways."""

    BINDINGS = bindings("inspector")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "payload--gutter", "payload--cursor", "payload--found", "payload--mask",
        *(f"payload--{kind}" for kind in _KINDS),
    }  # fmt: skip

    class Opened(Message):
        """A person asked for what a line leads to: Enter, or a double click, where nothing folds."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.wrap = True
        self.cursor = 0
        """The row at the cursor; drawn as such while the pane has the focus."""
        self.match: TextMatch | None = None
        """What is marked wherever it stands."""
        self._source: LineSource | None = None
        self._shut: Sequence[str] = ()
        self._laid: PayloadLayout | None = None
        self._left = 0
        self._widest = 0
        self._to_end = False
        self._timer: Timer | None = None

    @property
    def row_count(self) -> int:
        """Rows laid out so far."""
        return self._laid.rows if self._laid is not None else 0

    @property
    def settled(self) -> bool:
        """Whether everything is laid out."""
        return self._timer is None

    @property
    def line(self) -> int:
        """The line at the cursor."""
        layout = self._laid
        return min(layout.at(self.cursor)[0], max(layout.lines - 1, 0)) if layout is not None else 0

    @property
    def line_text(self) -> str:
        """The text of the line at the cursor, as shown."""
        layout = self._laid
        return layout.prepared(self.line)[1] if layout is not None and layout.lines else ""

    @property
    def pointer(self) -> str | None:
        """The JSON pointer of the field at the cursor; None where there is none."""
        source = self._source
        return source.pointer(self.line) if source is not None and source.count else None

    def show_lines(self, source: LineSource | None, closed: Sequence[str] = ()) -> None:
        """Show lines from their start, some members closed; None leaves the pane blank."""
        before, self._source, self._shut = self.row_count, source, closed
        self.top = self.cursor = self._left = self._widest = 0
        self._to_end = False
        self._lay_out(before)

    def mark(self, match: TextMatch | None) -> None:
        """Mark a text wherever it stands."""
        self.match = match
        self.forget_rows()

    def toggle_wrap(self) -> bool:
        """Fold long lines or stop to; the line at the cursor stays. Returns whether they fold now."""
        line = self.line
        self.wrap = not self.wrap
        self._left = 0
        self._lay_out()
        self.go_to_line(line)
        self.forget_rows()
        return self.wrap

    def go_to_line(self, line: int, *, open_it: bool = False) -> None:
        """Put the cursor on a line, opening what hides it if asked to."""
        layout = self._laid
        if layout is None:
            return
        while layout.lines <= line and layout.more(_STEP):
            pass
        if open_it:
            layout.show(line)
            self._strips.clear()
        self._move_to(layout.row_of(line))
        self.refresh()

    def find_steps(
        self, match: TextMatch, by: int, pointer: str | None = None, *, at_cursor: bool = False
    ) -> Steps[int | None]:
        """Find in slices the next line with a text, from the cursor on and round the end; at a field if one is given.

        Raises:
            StashError: The pattern takes too long.
        """
        layout, source, fallback = self._laid, self._source, None
        if layout is None or source is None:
            return None
        while layout.more(_STEP):
            yield
        lines, start = layout.lines, self.line
        order = range(start if pointer is not None or at_cursor else start + by, start + by * lines + by, by)
        for place, line in enumerate(order):
            if match.within(layout.prepared(line % lines)[1]):
                if pointer is None or source.pointer(line % lines) == pointer:
                    return line % lines
                fallback = line % lines if fallback is None else fallback
            if place % _STEP == _STEP - 1:
                yield
        return fallback

    def pointer_steps(self, pointer: str) -> Steps[int | None]:
        """Find in slices the line of a field, the nearest around it where it has none of its own."""
        layout, source = self._laid, self._source
        if layout is None or source is None:
            return None
        best: tuple[int, int] | None = None
        for line in range(_FIELD_LINES):
            while layout.lines <= line and layout.more(_STEP):
                yield
            if line >= layout.lines:
                break
            found = source.pointer(line)
            if found == pointer:
                return line
            if found is not None and pointer.startswith(found + "/") and (best is None or len(found) > best[0]):
                best = len(found), line
            yield
        return best[1] if best is not None else None

    def action_scroll_by(self, columns: int, rows: int) -> None:
        """Move the cursor by rows; sideways scroll, or fold where lines do not run on."""
        self._to_end = False
        if rows:
            self._move_to(self.cursor + rows)
        elif self.wrap:
            self._fold_towards(close=columns < 0)
        else:
            left = max(min(self._left + columns, self._widest - self.size.width + _FRAME + 1), 0)
            if left != self._left:
                self._left = left
                self.forget_rows()

    def action_scroll_page(self, pages: float) -> None:
        """Move by pages."""
        self._to_end = False
        by = round(pages * max(self.page_rows - 1, 1))
        self.scroll_rows(by)
        self._move_to(self.cursor + by)

    def action_scroll_edge(self, edge: int) -> None:
        """Go to the start or the end; the end is followed while lines are still being laid out."""
        self._to_end = edge > 0
        self._move_to(self.row_count - 1 if edge > 0 else 0)

    def action_fold(self) -> None:
        """Close the object at the cursor, or open it; elsewhere ask for what the line leads to."""
        line = self.line
        if self._laid is not None and self._laid.toggle(line):
            self._folded(line)
        elif self._source is not None:
            self.post_message(self.Opened(line))

    def action_fold_all(self, level: int) -> None:
        """Close everything from a depth on, or open everything."""
        line = self.line
        if self._laid is not None:
            self._laid.close_from(level if level >= 0 else None)
            self._folded(line)

    def _fold_towards(self, *, close: bool) -> None:
        layout, line = self._laid, self.line
        if layout is None or not layout.lines:
            return
        if layout.is_closed(line) is not close and layout.toggle(line):
            self._folded(line)
        elif close and (around := layout.around(line)) is not None:
            self.go_to_line(around)

    def _folded(self, line: int) -> None:
        self._strips.clear()
        if self._laid is not None:
            self._laid.more(2 * self.page_rows + line)
        self._continue()
        self.go_to_line(line)
        self.scroll_to_row(self.top)

    def _move_to(self, row: int) -> None:
        old, self.cursor = self.cursor, max(min(row, self.row_count - 1), 0)
        if not self.reveal(self.cursor, 0):
            self.refresh_rows(old, self.cursor)

    def _lay_out(self, before: int = 0) -> None:
        """Start again: what is visible now, the rest in slices. Draws only lines that showed or show something."""
        before = max(before, self.row_count)
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        width = self.size.width - _FRAME
        self._laid = (
            PayloadLayout(self._source, width, self.wrap, self._shut)
            if self._source is not None and width > 0
            else None
        )
        if self._laid is not None:
            self._laid.more(2 * self.page_rows)
            self._continue()
        self._strips.clear()
        self.refresh(Region(0, 0, self.size.width, min(max(before, self.row_count), self.page_rows)))

    def _continue(self) -> None:
        """Lay out for a slice, and come back if something is left."""
        layout = self._laid
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if layout is None:
            return
        until, before = perf_counter() + _SLICE_SECONDS, layout.rows
        while (more := layout.more(_STEP)) and perf_counter() < until:
            pass
        if more:
            self._timer = self.set_timer(_PAUSE_SECONDS, self._continue)
        if self._to_end:
            self._move_to(layout.rows - 1)
        if layout.rows != before:
            self.refresh()

    @property
    def cursor_row(self) -> int:
        """The row at the cursor."""
        return self.cursor

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row in the cells that are visible of it."""
        width -= 1
        selection = self.text_selection
        at_cursor = row == self.cursor and self.has_focus
        key = (row, width, at_cursor)
        strip = self._strips.get(key)
        if strip is None:
            strip = self._strips[key] = self._drawn(row, width, at_cursor)
        if selection is not None and (span := selection.get_span(row)) is not None:
            strip = marked(strip, [span], self.screen.get_component_rich_style("screen--selection"))
        base = self.base_style + (self.style_of("payload--cursor") if at_cursor else Style.null())
        return Strip([Segment(" ", base), *strip.apply_offsets(0, row)], width + 1)

    def _drawn(self, row: int, width: int, at_cursor: bool = False) -> Strip:
        layout = self._laid
        assert layout is not None
        index, part = layout.at(row)
        lead, text, tokens = layout.prepared(index)
        start, end = 0, len(text)
        if self.wrap:
            starts = [*folds(text, layout.width - len(lead)), end]
            start, end = starts[part], starts[part + 1]
        base = self.base_style
        if at_cursor:
            base += self.style_of("payload--cursor")
        plain = at_cursor and self.app.native_ansi_color  # a reversed row of many colours cannot be read
        segments, offset = [Segment(lead, base if plain else base + self.style_of("payload--gutter"))], 0
        for piece, kind in tokens:
            shown = piece[max(start - offset, 0) : max(end - offset, 0)]
            offset += len(piece)
            if shown:
                segments.append(Segment(shown, base if plain else base + self.style_of(f"payload--{kind}")))
        strip = Strip(segments)
        spans = [(low - start + len(lead), high - start + len(lead)) for low, high in mask_spans(text) if high > start]
        strip = marked(strip, spans, self.style_of("payload--mask"))
        if self.match is not None:
            strip = marked(strip, self._spans(text, start, len(lead)), self.style_of("payload--found"))
        self._widest = max(self._widest, strip.cell_length)
        return strip.crop_extend(self._left, self._left + width, base)

    def _spans(self, text: str, start: int, lead: int) -> list[tuple[int, int]]:
        assert self.match is not None
        try:
            return [
                (max(low - start, 0) + lead, high - start + lead)
                for low, high in self.match.spans(text)
                if high > start
            ]
        except StashError:
            return []

    def on_resize(self, event: events.Resize) -> None:
        """Fold anew."""
        width = self._laid.width if self._laid is not None else -1
        if self._source is not None and width != self.size.width - _FRAME:
            line = self.line
            self._lay_out()
            self.top = 0
            self.go_to_line(line)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on a line; a double click opens it."""
        row = self.top + event.y
        if event.x < self.size.width - 1 and row < self.row_count:
            self._move_to(row)
            if event.chain > 1:
                self.action_fold()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the text a mouse selected, as shown."""
        first = selection.start.y if selection.start is not None else self.top
        last = selection.end.y if selection.end is not None else self.top + self.page_rows - 1
        width, picked = self.size.width - _FRAME, []
        for row in range(max(first, 0), min(last, self.row_count - 1) + 1):
            span = selection.get_span(row)
            if span is not None:
                text = self._drawn(row, width).text
                picked.append(text[span[0] : None if span[1] == -1 else span[1]].rstrip())
        return ("\n".join(picked), "\n") if picked else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self.refresh()
