"""JSON text on one line, every token as it was spelled."""

from __future__ import annotations

import re

import msgspec

from stashdbg_core.canonical import stored_form
from stashdbg_core.parse import BOM, parse_tolerant

_STRING_OR_SPACE = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")|[ \t\r\n]++', re.DOTALL)
_CONTROL = re.compile(rb"[\x00-\x1f]")
_skip_value = msgspec.json.Decoder(msgspec.Raw).decode


def one_line(raw: bytes) -> bytes:
    """Return valid JSON text without line ends; text that has none is returned as it is."""
    if b"\n" not in raw and b"\r" not in raw:
        return raw
    return _STRING_OR_SPACE.sub(rb"\1", raw)


def strict_line(raw: bytes) -> bytes:
    """Return valid JSON on one line: as it was spelled if it was valid, else what a tolerant reader makes of it.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is not JSON at all.
    """
    if is_strict_json(raw):
        return one_line(raw)
    parsed = parse_tolerant(raw)
    if not parsed.problems:  # a lone surrogate, great depth: valid, only not to the fast parser
        text = _STRING_OR_SPACE.sub(rb"\1", raw.removeprefix(BOM))
        if not _CONTROL.search(text):
            return text
    return stored_form(parsed.tree)


def is_strict_json(raw: bytes) -> bool:
    """Tell whether ``raw`` is JSON in UTF-8 that the fast parser accepts."""
    try:
        raw.decode("utf-8")
        _skip_value(raw)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return False
    return True
