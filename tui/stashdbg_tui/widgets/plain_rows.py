"""Lines of text as rows of a panel that are only read, folded to its width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from stashdbg_tui import safe
from stashdbg_tui.widgets.folding import folds
from stashdbg_tui.widgets.panel import PanelRow

if TYPE_CHECKING:
    from stashdbg_core.programs.process.run_output import OutputLine

_FRAME = 9
"""Cells of a dialog that are border, padding, cursor and scrollbar."""
_WIDEST = 84
_MOST = 1000
"""Rows of output from which on no earlier line is shown."""
_SIGNS = {"stdout": ("  ", "text"), "stderr": ("e ", "text"), "note": ("• ", "evidence")}
"""What stands before a line of output, and its look."""


def room_in_dialog(screen_width: int) -> int:
    """Return how many cells a line of a dialog's panel has."""
    return max(min(_WIDEST, screen_width * 96 // 100) - _FRAME, 20)


def plain_row(lead: str, text: str, style: str, width: int, target: object = None) -> list[PanelRow]:
    """Return a text after a muted lead, folded under itself; recorded text, unsanitised."""
    pieces = textwrap.wrap(text, max(width - len(lead), 10), break_on_hyphens=False, max_lines=6, placeholder="…")
    rows = [PanelRow([(lead, "muted"), ((pieces or [""])[0], style)], target)]
    return rows + [PanelRow([(" " * len(lead), "muted"), (piece, style)]) for piece in pieces[1:]]


def headed_rows(lines: Sequence[str], width: int) -> list[PanelRow]:
    """Return headings and, below them, what is indented; a heading of what may be sent out is a warning."""
    rows: list[PanelRow] = []
    for line in lines:
        text = line.lstrip(" ")
        style = "text" if text != line else "error" if line.startswith("placeholders") else "strong"
        rows += plain_row(line[: len(line) - len(text)], text, style, width)
    return rows


def output_rows(lines: Sequence[OutputLine], width: int) -> list[PanelRow]:
    """Return the last lines of a program's output, folded; a sign before each tells where it was written."""
    rows: list[PanelRow] = []
    for line in reversed(lines):
        sign, style = _SIGNS[line.stream]
        text = safe.shown(line.text)
        starts = folds(text, max(width - len(sign), 10))
        parts = [text[start:end] for start, end in pairwise([*starts, len(text)])] or [""]
        rows += [PanelRow([("  ", "muted"), (part, style)]) for part in reversed(parts[1:])]
        rows.append(PanelRow([(sign, "muted"), (parts[0], style)]))
        if len(rows) >= _MOST:
            break
    return rows[::-1]
