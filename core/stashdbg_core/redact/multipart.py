"""Secrets in ``multipart/form-data``: the parts whose names announce one, masked whole as a field of JSON would be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from stashdbg_core.redact.spans import Span

MARK: Final = "form-data"
"""What every form says of itself."""
_PART: Final = re.compile(r"[Cc]ontent-[Dd]isposition:[ \t]{0,8}form-data(?=[; ])")
_BLANK: Final = re.compile(r"(?P<line>\r?\n|\\{1,8}r\\{1,8}n|\\{1,8}n)(?P=line)")
"""A blank line, and with it how the text spells the end of a line: within JSON or a ``repr`` it is escaped."""
_NAME: Final = re.compile(r"[;\s]name=(?:\\{0,8}\"(?P<quoted>[^\"\\\r\n]{1,256})|(?P<bare>[^\s;\"\\]{1,256}))")
_MOST_HEAD: Final = 1024
_MOST_BOUNDARY: Final = 256


def multipart_spans(text: str, kind_of: Callable[[str], str | None]) -> Iterator[Span]:
    """Yield the contents of parts that a name announces as secret; ``kind_of`` decides on the names of fields."""
    if MARK not in text:
        return
    part = _PART.search(text)
    while part is not None:
        at = part.end()
        blank = _BLANK.search(text, at, at + _MOST_HEAD)
        name = _NAME.search(text, at, blank.start() if blank else at)
        kind = name and kind_of(_last_step(name["quoted"] or name["bare"]))
        if blank and kind:
            start, at = blank.end(), _end(text, part.start(), blank)
            if text[start:at].strip():
                yield Span(start, at, kind)
        part = _PART.search(text, at)


def _last_step(name: str) -> str:
    """Return the name itself of a field that is spelled ``user[password]``."""
    return name.rstrip("]").rpartition("[")[2] or name


def _end(text: str, head: int, blank: re.Match[str]) -> int:
    """Return where the content of a part ends: at the next boundary like the one before it, else with the text."""
    line = blank["line"]
    before = text.rfind(line + "--", max(head - _MOST_HEAD, 0), head)
    first = before + len(line) if before >= 0 else 0
    boundary = text[first : text.find(line, first, head)]
    if not boundary.startswith("--") or len(boundary) > _MOST_BOUNDARY:
        boundary = "--"
    end = text.find(line + boundary, blank.end())
    return end if end >= 0 else len(text)
