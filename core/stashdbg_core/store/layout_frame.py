"""What the two compact layouts share: how a recording begins, how it ends, and the blocks it is read in."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from stashdbg_core.store.index import Found
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import check_line
from stashdbg_core.store.source import Source

HEAD = re.compile(rb'\{"version":(1),"id":("(?:[^"\\\x00-\x1f]|\\.)*+"),"events":\[')
HEAD_BYTES = 1 << 16
TO_BLOBS = b'],"blobs":{'
TO_META = b'},"meta":'
KEY = len(b'"sha256:') + 64 + len(b'":')
_SLICE = 1 << 21
_LARGEST = 1 << 30
_TAKEN = {"version", "id", "events", "blobs"}
_decode_top = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Blocks:
    """A source in blocks, each beginning where the reader says it got to; a block in which it got nowhere grows."""

    def __init__(self, source: Source, offset: int, limits: Limits) -> None:
        self.offset = offset
        """Where in the source the next block begins."""
        self._source = source
        self._limits = limits

    def __iter__(self) -> Iterator[tuple[bytes, bool]]:
        """Yield a block, and whether it is the last."""
        step, before = _SLICE, -1
        while self.offset < self._source.size:
            if self.offset == before:
                check_line(step, self._limits)
                step = min(step * 2, _LARGEST)
            else:
                step, before = _SLICE, self.offset
            block = self._source.read_at(self.offset, step)
            last = self.offset + len(block) >= self._source.size
            yield block, last
            if last and self.offset == before:
                return


def add_tail(found: Found, source: Source, offset: int, limits: Limits) -> bool:
    """Take ``meta`` and the unknown keys after it, from ``offset`` on; tell whether they are compact and stand once."""
    check_line(source.size - offset, limits)
    tail = source.read_at(offset, source.size - offset)
    try:
        top = _decode_top(b"{" + tail)
        length = sum(len(raw) + len(key.encode()) + 4 for key, raw in top.items())
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    if length != len(tail.rstrip(b"\n")) or top.keys() & _TAKEN:
        return False
    found.top.update((key, bytes(raw)) for key, raw in top.items())
    return True
