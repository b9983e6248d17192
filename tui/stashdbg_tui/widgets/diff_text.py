"""What differs in the event at the cursor: blocks of lines, side by side or unified, folded or scrolled sideways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip

from stashdbg_core.session.diff_blocks import Block, Side
from stashdbg_tui import safe
from stashdbg_tui.bindings import bindings
from stashdbg_tui.widgets.folding import folds
from stashdbg_tui.widgets.line_view import LineView

_NUMBER = 5
"""Cells of a line number and the blank after it."""
_WIDE = 110
"""Cells from which on the sides stand beside each other unless a person chose."""
_BLANK = 4


@dataclass(frozen=True, slots=True)
class _Cell:
    """A piece of one line of one side: safe text, drawn in one row."""

    look: str
    sign: str
    number: str
    text: str
    spans: tuple[tuple[int, int], ...] = ()


_Row = tuple[_Cell | None, ...]
"""One cell for the whole width, or one for each side."""


class DiffText(LineView):
    """Lines of a difference."""

    DEFAULT_CSS = """
    DiffText > .text--head { color: $json-key; text-style: bold; }
    DiffText > .text--note { color: $muted; }
    DiffText > .text--gap { color: $muted; text-style: italic; }
    DiffText > .text--why { color: $accent; }
    DiffText > .text--same { color: $foreground; }
    DiffText > .text--removed { color: $text-error; }
    DiffText > .text--added { color: $text-success; }
    DiffText > .text--removed-word { background: $error-muted; color: $foreground; text-style: bold; }
    DiffText > .text--added-word { background: $success-muted; color: $foreground; text-style: bold; }
    DiffText > .text--number { color: $muted; }
    DiffText > .text--rule { color: $rule; }
    DiffText > .text--void { color: $rule; }
    App:ansi DiffText > .text--removed-word { text-style: bold underline; }
    App:ansi DiffText > .text--added-word { text-style: bold underline; }
    """
    BINDINGS = bindings("diff-text")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "text--head", "text--note", "text--gap", "text--same", "text--removed", "text--added", "text--why",
        "text--removed-word", "text--added-word", "text--number", "text--rule", "text--void",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.wrap = True
        self.beside: bool | None = None
        """Whether the sides stand beside each other; None where the width decides."""
        self._blocks: Sequence[Block] = ()
        self._why: Sequence[str] = ()
        self._rows: list[_Row] = []
        self._laid_for: tuple[int, bool, bool] | None = None
        self._left = 0

    @property
    def row_count(self) -> int:
        """Rows as they are folded now."""
        self._lay_out()
        return len(self._rows)

    @property
    def is_beside(self) -> bool:
        """Whether the sides stand beside each other now."""
        return self.size.width >= _WIDE if self.beside is None else self.beside

    def show_blocks(self, blocks: Sequence[Block], why: Sequence[str] = (), *, keep: bool = False) -> None:
        """Show blocks below the lines that say why; from their start unless asked to ``keep`` the place."""
        self._blocks, self._why = blocks, why
        self._laid_for = None
        if not keep:
            self.top = self._left = 0
        self.top = max(min(self.top, self.row_count - self.page_rows), 0)
        self.forget_rows()

    def toggle_wrap(self) -> bool:
        """Fold long lines or stop to; returns whether they fold now."""
        self.wrap, self._left = not self.wrap, 0
        self._changed()
        return self.wrap

    def toggle_beside(self) -> bool:
        """Change between side by side and unified; returns whether they stand side by side now."""
        self.beside = not self.is_beside
        self._changed()
        return self.beside

    def _changed(self) -> None:
        self.top = max(min(self.top, self.row_count - self.page_rows), 0)
        self.forget_rows()

    # Layout

    def _lay_out(self) -> None:
        width = self.size.width - 1
        state = (width, self.wrap, self.is_beside)
        if state != self._laid_for and width > 0:
            self._laid_for = state
            self._rows = list(self._made(width))

    def _made(self, width: int) -> Iterator[_Row]:
        for line in self._why:
            yield from ((cell,) for cell in self._folded(Side(line), "why", "  ", width - 2))
        for block in self._blocks:
            if block.kind in ("head", "note", "gap"):
                look = {"head": "▌ ", "note": "  ", "gap": "  ⋯ "}[block.kind]
                for side in block.left:
                    yield from ((cell,) for cell in self._folded(side, block.kind, look, width - len(look)))
            elif self.is_beside:
                yield from self._pairs(block, width)
            else:
                yield from self._unified(block, width - 2 - _NUMBER)

    def _unified(self, block: Block, room: int) -> Iterator[_Row]:
        if block.kind == "same":
            for side in block.left:
                yield from ((cell,) for cell in self._folded(side, "same", "  ", room))
            return
        for look, sign, sides in (("removed", "- ", block.left), ("added", "+ ", block.right)):
            for side in sides:
                yield from ((cell,) for cell in self._folded(side, look, sign, room))

    def _pairs(self, block: Block, width: int) -> Iterator[_Row]:
        room = (width - 1) // 2 - 2 - _NUMBER
        looks = ("same", "same") if block.kind == "same" else ("removed", "added")
        signs = ("  ", "  ") if block.kind == "same" else ("- ", "+ ")
        for left, right in zip_longest(block.left, block.right):
            one = list(self._folded(left, looks[0], signs[0], room)) if left is not None else []
            two = list(self._folded(right, looks[1], signs[1], room)) if right is not None else []
            yield from zip_longest(one, two)

    def _folded(self, side: Side, look: str, sign: str, room: int) -> Iterator[_Cell]:
        text, spans = _safe(side)
        number = "" if side.number is None else str(side.number)
        starts = folds(text, room) if self.wrap else [0]
        for place, start in enumerate(starts):
            end = starts[place + 1] if place + 1 < len(starts) else len(text)
            inside = tuple(
                (max(low, start) - start, min(high, end) - start) for low, high in spans if low < end and high > start
            )
            if place == 0:
                yield _Cell(look, sign, number, text[start:end], inside)
            else:
                yield _Cell(
                    look, sign if look in ("removed", "added") else " " * len(sign), "", text[start:end], inside
                )

    # Drawing

    def draw_row(self, row: int, width: int) -> Strip:
        """Return a row."""
        state = (row, width, self._left)
        strip = self._strips.get(state)
        if strip is None:
            cells = self._rows[row]
            if len(cells) == 1:
                strip = self._draw(cells[0], width)
            else:
                half = (width - 1) // 2
                rule = Segment("│", self.base_style + self.style_of("text--rule"))
                right = self._draw(cells[1], width - 1 - half)
                strip = Strip([*self._draw(cells[0], half), rule, *right], width)
            self._strips[state] = strip
        return strip

    def _draw(self, cell: _Cell | None, width: int) -> Strip:
        base = self.base_style
        if cell is None:
            return Strip([Segment("╱" * width, base + self.style_of("text--void"))], width)
        style = base + self.style_of(f"text--{cell.look}")
        lead = [Segment(cell.sign, style)]
        if cell.look in ("same", "removed", "added"):
            lead.append(Segment(f"{cell.number:>{_NUMBER - 1}} ", base + self.style_of("text--number")))
        body = Strip(list(self._spanned(cell, style)))
        room = width - sum(segment.cell_length for segment in lead)
        if not self.wrap and cell.look not in ("head", "note", "gap", "why"):
            body = body.crop(self._left, self._left + room)
        return Strip([*lead, *body.adjust_cell_length(max(room, 0), base)]).adjust_cell_length(width, base)

    def _spanned(self, cell: _Cell, style: Style) -> Iterator[Segment]:
        at = 0
        for low, high in cell.spans:
            yield Segment(cell.text[at:low], style)
            yield Segment(cell.text[low:high], style + self.style_of(f"text--{cell.look}-word"))
            at = high
        yield Segment(cell.text[at:], style)

    # Scrolling

    def action_scroll_by(self, x: int, y: int) -> None:
        """Scroll by cells and rows."""
        if y:
            self.scroll_rows(y)
        elif not self.wrap and self._left + x >= 0:
            self._left += x
            self.forget_rows()

    def action_scroll_page(self, pages: float) -> None:
        """Scroll by pages."""
        self.scroll_rows(round(pages * max(self.page_rows - 1, 1)))

    def action_scroll_edge(self, last: bool) -> None:
        """Scroll to an end."""
        self.scroll_to_row(self.row_count if last else 0)

    def on_resize(self, event: events.Resize) -> None:
        """Fold for the new width."""
        self._laid_for = None
        self.refresh()


def _safe(side: Side) -> tuple[str, list[tuple[int, int]]]:
    """Return a line's safe text, and where its differing characters are in that."""
    if not side.spans:
        return _shown(side.text), []
    out: list[str] = []
    spans: list[tuple[int, int]] = []
    at = size = 0
    for low, high in side.spans:
        for part, differs in ((side.text[at:low], False), (side.text[low:high], True)):
            shown = _shown(part)
            if differs:
                spans.append((size, size + len(shown)))
            out.append(shown)
            size += len(shown)
        at = high
    out.append(_shown(side.text[at:]))
    return "".join(out), spans


def _shown(text: str) -> str:
    return safe.shown(text.replace("\t", " " * _BLANK) if "\t" in text else text)
