"""A stored value exactly as it stands in the file, cut into lines: nothing decoded, nothing left out, nothing added."""

from __future__ import annotations

from stashdbg_core.session.lines import Gutter, Line
from stashdbg_core.session.payload_lines import PIECE
from stashdbg_core.session.words import size_words


class RawLines:
    """The lines of a text; one too long for a line goes on in the next.

    Args:
        text: The text, or its head.
        omitted: Bytes that ``text`` leaves out; told in a last line.
    """

    def __init__(self, text: str, *, omitted: int = 0) -> None:
        self._text = text
        self._omitted = omitted
        self._starts: list[int] = []
        self._at = 0
        self.complete = False

    @property
    def count(self) -> int:
        """Lines laid out so far."""
        return len(self._starts)

    @property
    def has_crlf(self) -> bool:
        """Always false: line ends inside a value are escapes here."""
        return False

    def extend(self, lines: int) -> None:
        """Lay out up to so many further lines."""
        until = self.count + lines
        while not self.complete and self.count < until:
            self._starts.append(self._at)
            if self._at >= len(self._text):
                if not self._omitted:
                    self._starts.pop()
                self.complete = True
                return
            feed = self._text.find("\n", self._at, self._at + PIECE)
            self._at = feed + 1 if feed >= 0 else min(self._at + PIECE, len(self._text))

    def line(self, index: int) -> Line:
        """Return a line that is laid out."""
        start = self._starts[index]
        if start >= len(self._text):
            return Line(0, [(f"… {size_words(self._omitted)} more, :write FILE saves all of it", "note")])
        end = self._starts[index + 1] if index + 1 < len(self._starts) else self._at
        gutter: Gutter = "more" if start and self._text[start - 1] != "\n" else ""
        return Line(0, [(self._text[start:end].removesuffix("\n"), "text")], gutter)

    def pointer(self, index: int) -> str | None:
        """Return None: raw text has no fields."""
        return None
