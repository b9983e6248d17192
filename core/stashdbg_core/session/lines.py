"""Lines of coloured tokens: what an inspector shows, before any screen gives them colours.

Token texts are recorded text and unsanitised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

TokenKind: TypeAlias = Literal[
    "key", "string", "number", "literal", "punctuation", "tag", "text", "note", "problem",
    "strong", "added", "removed", "role",
]  # fmt: skip
Token: TypeAlias = tuple[str, TokenKind]
Gutter: TypeAlias = Literal["", "line", "more"]
"""What stands before a line: nothing, a line of a longer text, or the rest of a line too long for one."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line: how deep it stands, whether it belongs to a longer text, and its tokens."""

    depth: int
    tokens: Sequence[Token]
    gutter: Gutter = ""


class LineSource(Protocol):
    """Lines laid out as they are needed."""

    @property
    def count(self) -> int:
        """Lines laid out so far."""
        ...

    @property
    def complete(self) -> bool:
        """Whether ``count`` is final."""
        ...

    @property
    def has_crlf(self) -> bool:
        """Whether a text laid out so far has CRLF line ends, which are shown as plain ones."""
        ...

    def extend(self, lines: int) -> None:
        """Lay out up to so many further lines."""
        ...

    def line(self, index: int) -> Line:
        """Return a line that is laid out."""
        ...

    def pointer(self, index: int) -> str | None:
        """Return the JSON pointer of the field a line belongs to; None where it belongs to none."""
        ...


class FixedLines:
    """Lines that are all there."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines

    @property
    def count(self) -> int:
        """Number of lines."""
        return len(self._lines)

    @property
    def complete(self) -> bool:
        """Always true."""
        return True

    @property
    def has_crlf(self) -> bool:
        """Always false."""
        return False

    def extend(self, lines: int) -> None:
        """Do nothing: all lines are there."""

    def line(self, index: int) -> Line:
        """Return a line."""
        return self._lines[index]

    def pointer(self, index: int) -> str | None:
        """Return None: these lines are no fields."""
        return None
