"""Text measured and cut in terminal cells, for aligned columns: a wide character takes two, a joined one none."""

from __future__ import annotations

import re
from functools import lru_cache

from stashdbg_core.sanitize import sanitize_line

_UNUSUAL = re.compile("[^\x20-\u02ff…→·‹›\u2400-\u2421]")
"""What may take other than one cell; what stashdbg itself puts into texts is narrow."""


def cell_len(text: str) -> int:
    """Return how many cells a text takes."""
    if _is_narrow(text):
        return len(text)
    from rich.cells import cell_len as measured

    return measured(text)


def fit(text: str, cells: int) -> str:
    """Return recorded text safe to print, cut to ``cells`` with ``…`` where it was cut, and filled up with blanks."""
    return _fitted(text[: _looked_at(cells)], cells)


def clip(text: str, cells: int) -> str:
    """Return recorded text safe to print on one line of at most ``cells`` cells."""
    safe = sanitize_line(text[: _looked_at(cells)])
    if _is_narrow(safe):
        return safe if len(safe) <= cells else safe[: max(cells - 1, 0)] + "…"
    if cell_len(safe) <= cells:
        return safe
    from rich.cells import set_cell_size

    return set_cell_size(safe, max(cells - 1, 0)).rstrip() + "…"


@lru_cache(1024)
def _fitted(text: str, cells: int) -> str:
    """Return a text that fills a column; the same few names stand in most rows."""
    cut = clip(text, cells)
    return cut + " " * (cells - cell_len(cut))


def _looked_at(cells: int) -> int:
    """Return the characters of a text beyond which it is too long for ``cells`` in any case."""
    return 4 * cells + 4


def _is_narrow(text: str) -> bool:
    """Tell whether every character takes one cell."""
    return (text.isascii() and text.isprintable()) or not _UNUSUAL.search(text)
