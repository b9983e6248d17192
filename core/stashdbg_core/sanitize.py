"""Recorded text made safe for a terminal: the one choke point.

Recorded data is hostile. No widget, table or markup library neutralises terminal escapes, so every recorded text
passes here once before anything renders it. What acts on the terminal or cannot be seen becomes visible: C0 controls
and DEL as control pictures (``␛``), anything else as ``‹U+202E›``. Nothing else changes; Arabic stays Arabic, emoji
stay joined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_INVISIBLE = (
    "\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_BLOCK = re.compile(f"\r\n|[\x00-\x08\x0b-\x1f\x7f{_INVISIBLE}]")
_LINE = re.compile(f"[\x00-\x1f\x7f{_INVISIBLE}]")
_JOINERS = "\u200c\u200d"
_PRESENTATION = "\ufe0e\ufe0f"


def sanitize(text: str) -> str:
    """Return ``text`` safe to print, line feeds and tabs kept; CRLF counts as a line feed, a bare CR shows as ``␍``."""
    return _BLOCK.sub(_visible, text)


def sanitize_line(text: str) -> str:
    """Return ``text`` safe to print on one line: line feeds and tabs become visible too."""
    if text.isascii() and text.isprintable():  # told much faster than by the pattern
        return text
    return _LINE.sub(_visible, text)


def shorten(text: str, limit: int) -> str:
    """Return the head of ``text`` safe to print on one line, at most ``limit`` characters, ``…`` where it was cut."""
    head = sanitize_line(text[: limit + 1])
    return head if len(head) <= limit else head[: max(limit - 1, 0)] + "…"[:limit]


def listed(texts: Sequence[str], most: int = 8, limit: int = 80) -> str:
    """Return texts as a list for a message: the first ``most``, each shortened, and how many more there are."""
    shown = ", ".join([shorten(text, limit) for text in texts[:most]])
    return shown + (f" and {len(texts) - most:,} more" if len(texts) > most else "")


def _shapes(found: str, text: str, at: int) -> bool:
    """Tell whether a joiner or presentation selector shapes visible text; elsewhere, and in rows, they hide things."""
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    if before in ("", *_JOINERS, *_PRESENTATION):
        return found == "\u200d" and before == "\ufe0f" and not "" < after < "\x80"
    if found in _PRESENTATION:
        return before > "\x7f" or (before in "0123456789#*" and after == "\u20e3")
    return before > "\x7f" and not "" < after < "\x80"


def _visible(match: re.Match[str]) -> str:
    found = match.group()
    if found == "\r\n":
        return "\n"
    if (found in _JOINERS or found in _PRESENTATION) and _shapes(found, match.string, match.start()):
        return found
    code = ord(found)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"‹U+{code:04X}›"
