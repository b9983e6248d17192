"""Request bodies, whatever the program gives: read once, and given on so that what is sent stays the same.

A generator or a pipe has to be read before its request is matched with a recorded one; it is read exactly once, and
what was read is sent in its place, in the same parts.
"""

from __future__ import annotations

import io
from collections.abc import Iterable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def taken(body: Any, charset: str) -> tuple[bytes, Any]:
    """Return a body's bytes, and the body to send.

    Args:
        body: None, bytes or another buffer, text, a file or an iterable of parts.
        charset: How the library that sends it encodes text.
    """
    if body is None:
        return b"", None
    if isinstance(body, str):
        return body.encode(charset, "replace"), body
    if hasattr(body, "read"):
        return _taken_file(body, charset)
    try:
        return bytes(memoryview(body)), body
    except TypeError:
        pass
    if isinstance(body, Iterable):
        parts = list(body)
        again = body if isinstance(body, (list, tuple)) else iter(parts)
        return b"".join(_part(part, charset) for part in parts), again
    return b"", body


def _taken_file(body: Any, charset: str) -> tuple[bytes, Any]:
    """Read a file from where it stands; one that can go back is given on itself."""
    try:
        place = body.tell()
        seekable = body.seekable() if hasattr(body, "seekable") else True
    except (OSError, AttributeError, ValueError):
        place, seekable = 0, False
    text = body.read()
    if seekable and hasattr(body, "seek"):
        body.seek(place)
        return _part(text, charset), body
    return _part(text, charset), io.StringIO(text) if isinstance(text, str) else io.BytesIO(_part(text, charset))


def _part(part: Any, charset: str) -> bytes:
    return part.encode(charset, "replace") if isinstance(part, str) else bytes(part)
