"""A source read forwards: small reads that follow one another cost one large one."""

from __future__ import annotations

from stashdbg_core.errors import StashError
from stashdbg_core.store.source import Source

BLOCK = 1 << 16


class ReadAhead:
    """Reads a source, in blocks as long as each read begins near where the last one ended.

    Args:
        source: What is read.
        block: Bytes read at once.
    """

    def __init__(self, source: Source, block: int = BLOCK) -> None:
        self._source = source
        self._size = block
        self._held = (0, b"")
        """Offset and bytes of the last block; one value, for threads that read at once."""
        self._near = 0

    def read_at(self, offset: int, length: int) -> bytes:
        """Return bytes as ``Source.read_at`` does."""
        start, block = self._held
        place = offset - start
        if place >= 0 and place + length <= len(block):
            return block[place : place + length]
        is_near = 0 <= offset - self._near < self._size
        self._near = offset + length
        if is_near and length < self._size:
            try:
                block = self._source.read_at(offset, self._size)
            except StashError:  # what lies ahead may be gone, and need not matter
                return self._source.read_at(offset, length)
            self._held = offset, block
            return block[:length]
        return self._source.read_at(offset, length)
