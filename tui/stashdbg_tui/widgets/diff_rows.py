"""Two timelines side by side: partners on one row, a gap where one side has no event.

Rows are drawn from lazy data when they become visible and kept; moving the cursor draws two.
"""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.comparison import Comparison, ViewKind
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.theme import channel_colour, channel_glyph
from stashdbg_tui.widgets.line_view import LineView

GLYPHS: dict[ViewKind, str] = {
    "same": " ", "timing": "~", "changed": "≠", "moved": "↕", "added": "+", "removed": "-", "measured": "≈",
}  # fmt: skip
_VERDICTS = {"flows": "↰", "first": "◆"}
"""How a row's difference came about, beside its sign."""
_GUTTER = 4
_SAMPLE = 400


class DiffRows(LineView):
    """Every row of a comparison, the cursor on one."""

    BINDINGS = bindings("diff-rows", target="screen.")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--cursor", "rows--seq", "rows--key", "rows--gap", "rows--error", "rows--source",
        *(f"rows--{kind}" for kind in GLYPHS), *(f"rows--channel-{number}" for number in range(1, 7)),
    }  # fmt: skip

    class Chosen(Message):
        """A person pointed at a row."""

        def __init__(self, line: int, side: int, *, opened: bool) -> None:
            super().__init__()
            self.line = line
            self.side = side
            self.opened = opened

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.comparison: Comparison | None = None
        self._shown_line = 0
        self._source: int | None = None
        self._digits = self._key_width = 1

    @property
    def row_count(self) -> int:
        """One line a row that is shown."""
        return len(self.comparison) if self.comparison is not None else 0

    def show_comparison(self, comparison: Comparison) -> None:
        """Show a comparison, or show it anew after its sides or rows changed."""
        self.comparison = comparison
        last = [len(recording.events) for recording in (comparison.recording(0), comparison.recording(1))]
        ends = [comparison.recording(side).events[last[side] - 1].seq for side in (0, 1) if last[side]]
        self._digits = min(max((len(str(seq)) for seq in ends), default=1), 8)
        step = max(comparison.total // _SAMPLE, 1) | 1
        keys = [
            safe.cells(safe.shown(event.key[:40]))
            for place in range(0, comparison.total, step)
            if (event := comparison.event(place, 0) or comparison.event(place, 1)) is not None
        ]
        self._key_width = min(max(keys, default=1), 24)
        self.top = max(min(self.top, self.row_count - self.page_rows), 0)
        self.show_cursor()
        self.forget_rows()

    def show_cursor(self) -> None:
        """Draw the cursor where the comparison has it."""
        comparison = self.comparison
        if comparison is None or not len(comparison):
            return
        old, self._shown_line = self._shown_line, comparison.line_of(comparison.cursor)
        source, self._source = self._source, comparison.source_of(comparison.cursor)
        if not self.reveal(self._shown_line):
            sources = [comparison.line_of(place) for place in (source, self._source) if place is not None]
            self.refresh_rows(old, self._shown_line, *sources)

    @property
    def cursor_row(self) -> int:
        """The row that the comparison's cursor is on."""
        return self._shown_line

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row, drawn before or drawn now."""
        comparison = self.comparison
        if comparison is None:
            return Strip.blank(width, self.base_style)
        place = comparison.place_of(row)
        here = place == comparison.cursor
        state = (place, width, comparison.side if here else -1, here and self.has_focus, place == self._source)
        strip = self._strips.get(state)
        if strip is None:
            strip = self._strips[state] = self._draw(comparison, place, width, here=here)
        return strip

    def _draw(self, comparison: Comparison, place: int, width: int, *, here: bool) -> Strip:
        kind = comparison.kind(place)
        base = self.base_style + (self.style_of("rows--cursor") if here and self.has_focus else Style.null())
        half = (width - _GUTTER) // 2
        cause = comparison.cause(place)
        verdict = "←" if place == self._source else _VERDICTS.get(cause.verdict if cause is not None else "", " ")
        segments: list[Segment] = []
        for side, room in ((0, half), (1, width - _GUTTER - half)):
            event = comparison.event(place, side)
            mark = "▌" if here and comparison.side == side else " "
            parts = self._half(comparison.recording(side), event, kind, room - 1)
            segments.append(Segment(mark, base + self.style_of("rows--source")))
            segments += [Segment(text, base + style) for text, style in parts if text]
            if side == 0:
                segments.append(Segment(f" {GLYPHS[kind]}", base + self.style_of(f"rows--{kind}")))
                segments.append(Segment(f"{verdict} ", base + self.style_of("rows--source")))
        return Strip(segments).adjust_cell_length(width, base)

    def _half(
        self, recording: Recording, event: RecordedEvent | None, kind: ViewKind, width: int
    ) -> list[tuple[str, Style]]:
        if event is None:
            return [("╌" * width, self.style_of("rows--gap"))]
        word = outcome_word(event)
        trouble = "" if word == "returned" else "!" if word == "threw" else "×"
        colour = self.style_of(f"rows--channel-{channel_colour(event.channel)}")
        text = self.style_of("rows--key" if kind in ("changed", "moved") else f"rows--{kind}")
        error = self.style_of("rows--error")
        key_width = min(self._key_width, max(width // 3, 6))
        parts = [
            (f"{safe.fit(str(event.seq), self._digits).strip():>{self._digits}} ", self.style_of("rows--seq")),
            (f"{trouble or channel_glyph(event.channel)} ", error if trouble else colour),
        ]
        if width >= 64:
            parts.append((safe.fit(event.channel, 8) + " ", colour))
        quiet = kind in ("same", "timing", "measured")
        parts.append((safe.fit(event.key, key_width) + " ", text if quiet else self.style_of("rows--key")))
        left = width - sum(safe.cells(part) for part, _ in parts)
        if trouble and left > len(word) + 4:
            parts.append((f"{safe.shown(word)} ", error))
            left -= safe.cells(safe.shown(word)) + 1
        if left > 0:
            parts.append((safe.fit(summary(recording, event, max(left, 16)), left), text))
        return parts

    def on_click(self, event: events.Click) -> None:
        """Choose the row and side clicked on; a double click opens it."""
        row = self.top + event.y
        if event.x < self.size.width - 1 and row < self.row_count:
            side = int(event.x >= self.size.width // 2)
            self.post_message(self.Chosen(row, side, opened=event.chain > 1))
