"""The one door by which recorded text reaches the screen.

Whatever comes from a recording, a file name or a person passes through here: escapes, invisible and direction
characters become visible, markup stays text, and a cut never leaves half a character. Nothing else in this package
makes ``Content`` or segments from data.
"""

from __future__ import annotations

from pathlib import Path

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip

from stashdbg_core.formats.folders import run_name
from stashdbg_core.sanitize import sanitize, sanitize_line

TAB = 4
"""Cells between tab stops."""

_ASCII = str.maketrans("▌●✎Δ◆▪◇·▸○└…×→▲─│┃┊▁▂▃▄▅▆▇█▾▶↓↑≠↕≈↰←╌╱⋯–", ">o+d*=x.>o`~x>^-||:.,,--=##v>vV!%=^<-/.-")
"""One cell each, so that nothing moves."""


def in_ascii(strip: Strip) -> Strip:
    """Return a drawn line with the signs of this screen in ASCII; other recorded characters stay."""
    return Strip([Segment(text.translate(_ASCII), style, control) for text, style, control in strip], strip.cell_length)


def block(text: str) -> Content:
    """Return text of several lines as content."""
    return Content(sanitize(text).expandtabs(TAB))


def line(text: str) -> Content:
    """Return text on one line as content."""
    return Content(sanitize_line(text))


def shown(text: str) -> str:
    """Return text on one line, tabs as blanks, safe to draw as a segment."""
    return sanitize_line(text.expandtabs(TAB) if "\t" in text else text)


def cells(text: str) -> int:
    """Return how many cells safe text takes."""
    return len(text) if text.isascii() else cell_len(text)


def fit(text: str, width: int) -> str:
    """Return the head of recorded text in exactly ``width`` cells: padded, or cut with ``…``."""
    if width <= 0:
        return ""
    head = sanitize_line(text[: 4 * width + 16])
    size = cells(head)
    if size <= width:
        return head + " " * (width - size)
    if width == 1:
        return "…"
    return (head[: width - 1] if head.isascii() else set_cell_size(head, width - 1)) + "…"


def file_name(path: Path) -> str:
    """Return what a recording is called: its file or folder, or which run of a file; safe text."""
    return shown(f"run {path.name} of {path.parent.name}" if path.name.isdecimal() else run_name(path))


def pieces(text: str, width: int) -> list[str]:
    """Return safe text folded into lines of at most ``width`` cells; an empty text is one line."""
    if cells(text) <= width:
        return [text]
    if text.isascii():
        return [text[start : start + width] for start in range(0, len(text), width)]
    return chop_cells(text, max(width, 2))
