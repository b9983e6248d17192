"""Finding a text in large blocks of bytes about as fast as memory is read.

A byte of the text that is rare in the blocks is looked for by itself, which takes a tenth of the time of looking for
the text; where it turns out not to be rare, the text is. In any case is done without a copy in lower case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import regex

_SAMPLE = 1 << 16
_RARE = 1024
"""Bytes to one of a rare byte, at least."""


class ByteScan:
    """A text looked for in one block after another.

    Args:
        text: What to look for; in lower case if case does not count.
        ignores_case: Whether ASCII letters fit in any case.
    """

    def __init__(self, text: bytes, ignores_case: bool = False) -> None:
        self._text = text
        self._ignores_case = ignores_case
        self._pattern = regex.compile(regex.escape(text), regex.I) if ignores_case else None
        self._rare: int | None = None
        """Where in the text a byte stands that is rare; None: not known yet, or there is none."""
        self._is_first = True

    def places(self, block: bytes, resume: Callable[[int], int]) -> Iterator[int]:
        """Yield where the text stands in a block, in no order, some perhaps twice.

        Args:
            block: Where to look.
            resume: Gets a place, tells from where on the next one is of interest.
        """
        if self._is_first and block:
            self._is_first = False
            self._rare = self._choose(block[:_SAMPLE])
        if self._rare is not None:
            yield from self._by_rare(block, self._rare, resume)
            if self._rare is not None:
                return
        at = self._find(block, 0)
        while at >= 0:
            yield at
            at = self._find(block, max(resume(at), at + 1))

    def _spellings(self, at: int) -> set[bytes]:
        byte = self._text[at : at + 1]
        return {byte, byte.upper()} if self._ignores_case else {byte}

    def _choose(self, sample: bytes) -> int | None:
        counts = {at: sum(map(sample.count, self._spellings(at))) for at in range(min(len(self._text), 32))}
        best = min(counts, key=counts.__getitem__)
        return best if counts[best] * _RARE <= len(sample) else None

    def _by_rare(self, block: bytes, rare: int, resume: Callable[[int], int]) -> Iterator[int]:
        """Do as ``places`` does by the rare byte, and unlearn it when it is too frequent to go on."""
        patience = 16 + len(block) // _RARE * 2
        size = len(self._text)
        for byte in self._spellings(rare):
            at = block.find(byte, rare)
            while at >= 0:
                start, following = at - rare, at + 1
                found = block[start : start + size]
                if (found.lower() if self._ignores_case else found) == self._text:
                    yield start
                    following = max(resume(start), following)
                else:
                    patience -= 1
                    if patience < 0:
                        self._rare = None
                        return
                at = block.find(byte, following)

    def _find(self, block: bytes, start: int) -> int:
        if self._pattern is None:
            return block.find(self._text, start)
        found = self._pattern.search(block, start)
        return -1 if found is None else int(found.start())
