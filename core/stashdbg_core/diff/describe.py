"""A difference in one line a side, for messages and lists."""

from __future__ import annotations

from typing import Any

from stashdbg_core.diff.preview import kind_word, preview, quote
from stashdbg_core.diff.structure import NOTHING
from stashdbg_core.diff.text import common_start
from stashdbg_core.sanitize import shorten

_LEAD = 24
"""Characters of equal text shown before the first difference of two long texts."""


def two_lines(before: Any, after: Any, width: int) -> tuple[str | None, str | None]:
    """Return both sides as sanitised lines of at most ``width`` characters that are not alike; None for no value."""
    if type(before) is str and type(after) is str and max(len(before), len(after)) > width - 2:
        start = max(common_start(before, after) - _LEAD, 0)
        return _window(before, start, width), _window(after, start, width)
    old = None if before is NOTHING else preview(before, width)
    new = None if after is NOTHING else preview(after, width)
    if old == new and old is not None:  # alike within a line: say what tells them apart
        room = width - 20
        return f"{preview(before, room)} ({kind_word(before)})", f"{preview(after, room)} ({kind_word(after)})"
    return old, new


def _window(text: str, start: int, width: int) -> str:
    """Return the part of a long text that holds the first difference, its escapes not counted twice."""
    end = start + width - 4
    return shorten(quote(("…" if start else "") + text[start:end] + ("…" if end < len(text) else ""), width), width)
