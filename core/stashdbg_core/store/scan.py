"""Finding where a JSON value ends without parsing it: brackets and strings only, no recursion, any bytes.

What it steps over need not be right JSON; whoever looks at a value parses it then. It is what lets one bad value cost
no more than itself.
"""

from __future__ import annotations

import re

from stashdbg_core.errors import invalid_recording
from stashdbg_core.parse import over_limit, parse_json
from stashdbg_core.store.limits import Limits

SPACE = re.compile(rb"[ \t\n\r]*+")
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_WORD = re.compile(rb"[^ \t\n\r,:\[\]{}\"]++")
_TO_BRACKET = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)


class ScanStop(Exception):
    """The value at hand does not end, or what stands there is none."""

    def __init__(self, offset: int, *, ended: bool) -> None:
        super().__init__(offset)
        self.offset = offset
        self.ended = ended
        """Whether the text ended before the value did."""


def skip_space(data: bytes, pos: int) -> int:
    """Return the offset of the next byte that is not white space."""
    return SPACE.match(data, pos).end()  # type: ignore[union-attr]


def skip_value(data: bytes, pos: int, limits: Limits) -> int:
    """Return where the value that starts at ``pos`` ends.

    Raises:
        ScanStop: None starts there, or it does not end.
        StashError: ``ERR_INVALID_RECORDING``: nested deeper than the limit.
    """
    first = data[pos : pos + 1]
    if first == b'"':
        return skip_string(data, pos)
    if first not in (b"{", b"["):
        word = _WORD.match(data, pos)
        if word is None:
            raise ScanStop(pos, ended=not first)
        return word.end()
    size = len(data)
    open_ = bytearray()
    while True:
        char = data[pos]
        if char in b"{[":
            open_.append(char + 2)  # the closing bracket of either
            if len(open_) > limits.depth:
                raise over_limit("depth", limits.depth, "values nested deeper")
        elif char in b"}]":
            if char != open_.pop():
                raise ScanStop(pos, ended=False)
            if not open_:
                return pos + 1
        else:  # a quote that opens a string without end
            raise ScanStop(size, ended=True)
        pos = _TO_BRACKET.match(data, pos + 1).end()  # type: ignore[union-attr]
        if pos >= size:
            raise ScanStop(size, ended=True)


def skip_string(data: bytes, pos: int) -> int:
    """Return where the string that starts at ``pos`` ends.

    Raises:
        ScanStop: None starts there, or it does not end.
    """
    found = STRING.match(data, pos)
    if found is None:
        raise ScanStop(pos, ended=data[pos : pos + 1] in (b"", b'"'))
    return found.end()


def split_object(raw: bytes, limits: Limits) -> dict[str, bytes]:
    """Return the texts of the values of a JSON object that is known to parse."""
    parts: dict[str, bytes] = {}
    pos = skip_space(raw, skip_space(raw, 0) + 1)
    while raw[pos : pos + 1] == b'"':
        end = skip_string(raw, pos)
        start = skip_space(raw, skip_space(raw, end) + 1)
        key = parse_json(raw[pos:end])
        end = skip_value(raw, start, limits)
        parts[key] = raw[start:end]
        pos = skip_space(raw, end)
        if raw[pos : pos + 1] == b",":
            pos = skip_space(raw, pos + 1)
    return parts


def check_depth(data: bytes, start: int, end: int, limits: Limits) -> None:
    """Refuse a valid value nested deeper than the limit; one with too few brackets for that costs a count.

    The fast parser cannot be relied on for it: how deep it goes depends on the interpreter's version.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: nested deeper than the limit.
    """
    if end - start > limits.depth and data.count(b"[", start, end) + data.count(b"{", start, end) > limits.depth:
        skip_value(data, skip_space(data, start), limits)


def check_count(name: str, count: int, limit: int) -> None:
    """Refuse a file that holds more events or blobs than allowed."""
    if count > limit:
        raise over_limit(name, limit, f"more {name}")


def check_line(length: int, limits: Limits) -> None:
    """Refuse a file with an event or a value longer than allowed."""
    if length > limits.line:
        raise over_limit("line", limits.line, "an event or a value of more bytes")


def check_size(size: int, name: str, limits: Limits) -> None:
    """Refuse a file larger than allowed."""
    if size > limits.size:
        raise invalid_recording(
            f"{name} has {size} bytes, more than the limit size={limits.size} allows",
            hint="raise it with --limit size=N if you trust the file",
            limit="size",
        )
