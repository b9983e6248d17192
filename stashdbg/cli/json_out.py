"""JSON for other programs: pure ASCII without DEL whatever the locale, so that it can go anywhere."""

from __future__ import annotations

import re

from stashdbg_core.canonical import Json, stored_form

_OTHER = re.compile(r"[^\n\x20-\x7e]")


def json_text(tree: Json) -> str:
    """Return a JSON tree on one line of printable ASCII.

    Raises:
        TypeError: The tree holds a type that JSON has not.
        ValueError: The tree holds a NaN or an infinity.
    """
    return ascii_json(stored_form(tree))


def ascii_json(stored: bytes) -> str:
    """Return stored JSON bytes as printable ASCII and line feeds; outside strings stored JSON holds nothing else."""
    return _OTHER.sub(_escape, stored.decode("utf-8"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
