"""The layout that our writer makes: one event a line, one value a line.

No raw newline can stand inside compact JSON, so lines are found without parsing a value. Whatever does not look
exactly like it is left to the other layouts; nothing here guesses. A value's own text is checked when it is looked
at.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

import msgspec

from stashdbg_core.store.index import Found, decode_rows, unpack_hashes
from stashdbg_core.store.layout_frame import HEAD, HEAD_BYTES, KEY, TO_BLOBS, TO_META, Blocks, add_tail
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.source import Source

_SAMPLE, _SHORT = 64, 1000
_FRAME = [(place, byte) for place, byte in enumerate(b'"sha256:')] + [(72, ord('"')), (73, ord(":"))]


def index_lines(source: Source, limits: Limits) -> Found | None:
    """Return what is in the file, or None if it has another layout."""
    head = source.read_at(0, HEAD_BYTES)
    begin = HEAD.match(head)
    if begin is None or head[begin.end() : begin.end() + 1] not in (b"\n", b"]"):
        return None
    found = Found()
    found.top.update(version=begin.group(1), id=begin.group(2))
    blocks = Blocks(source, begin.end() + head.startswith(b"\n", begin.end()), limits)
    if not _read_events(found, blocks, limits) or not _read_blobs(found, blocks, limits):
        return None
    return found if add_tail(found, source, blocks.offset, limits) else None


def _read_events(found: Found, blocks: Blocks, limits: Limits) -> bool:
    """Take the events; leave ``blocks`` at the first value's line, or at what ends the values."""
    for block, _ in blocks:
        starts = _line_starts(block)
        if not starts:
            continue
        end = bytes(map(block.__getitem__, starts[:-1])).find(b"]")
        if end >= 0:
            starts = starts[: end + 1]
        last = end >= 0
        if not _add_events(found, block, starts, blocks.offset, last):
            return False
        found.check(limits)
        blocks.offset += starts[-1]
        if last:
            at = starts[-1] + len(TO_BLOBS)
            blocks.offset += len(TO_BLOBS) + block.startswith(b"\n", at)
            return block.startswith(TO_BLOBS, starts[-1])
    return False


def _read_blobs(found: Found, blocks: Blocks, limits: Limits) -> bool:
    """Take the values; leave ``blocks`` at the key ``meta``."""
    for block, _ in blocks:
        starts = _line_starts(block)
        if not starts:
            continue
        end = bytes(map(block.__getitem__, starts[:-1])).find(b"}")
        if end >= 0:
            starts = starts[: end + 1]
        last = end >= 0
        if len(starts) > 1 and not _add_blobs(found, block, starts, blocks.offset, last):
            return False
        found.check(limits)
        blocks.offset += starts[-1]
        if last:
            blocks.offset += len(b"},")
            return block.startswith(TO_META, starts[-1])
    return False


def _line_starts(block: bytes) -> list[int]:
    """Return where each whole line begins, and where the last of them ends; nothing if there is none."""
    starts = [0]
    find = block.find
    while end := find(b"\n", starts[-1]) + 1:
        starts.append(end)
        if len(starts) == _SAMPLE and end < _SAMPLE * _SHORT:  # of short lines there are many: split them at once
            starts = list(accumulate([len(line) + 1 for line in block.split(b"\n")[:-1]], initial=0))
            break
    return starts if len(starts) > 1 else []


def _add_events(found: Found, block: bytes, starts: list[int], offset: int, last: bool) -> bool:
    """Take the lines that begin at ``starts``, which has the end of the last one too."""
    size = starts[-1]
    if not size:
        return last
    firsts = set(map(block.__getitem__, starts[:-1]))
    ends = [block[end - 3 : end] for end in starts[1:]]
    if firsts != {ord("{")} or (last and ends.pop()[1:] != b"}\n") or ends.count(b"},\n") < len(ends):
        return False
    lengths = [end - start - 2 for start, end in pairwise(starts)]
    lengths[-1] += last
    try:
        rows = decode_rows(b"[" + block[: size - 2 + last] + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        rows = []
    if len(rows) == len(lengths):
        found.events.add(rows, [offset + start for start in starts[:-1]], lengths)
    else:
        for start, length in zip(starts, lengths, strict=False):
            found.events.add_one(block[start : start + length], offset + start)
    return True


def _add_blobs(found: Found, block: bytes, starts: list[int], offset: int, last: bool) -> bool:
    """Take the lines that begin at ``starts``, which has the end of the last one too."""
    count = len(starts) - 1
    keys = b"".join([block[start : start + KEY] for start in starts[:-1]])
    ends = b"".join([block[end - 2 : end - 1] for end in starts[1:]])
    if ends.count(b",") != count - last or ends.endswith(b",") == last or len(keys) != KEY * count:
        return False
    if any(keys[place::KEY] != bytes([byte]) * count for place, byte in _FRAME):
        return False
    digits = keys.translate(None, b'":').replace(b"sha256", b"")
    try:
        packed = bytes.fromhex(digits.decode("ascii"))
    except ValueError:
        return False
    lengths = [end - start - 2 for start, end in pairwise(starts)]
    lengths[-1] += last
    if len(packed) != 32 * count or min(lengths) <= KEY:
        return False
    hashes = unpack_hashes(packed)[::4]
    if 0 in hashes:
        hashes = type(hashes)("Q", [number or 1 for number in hashes])
    found.blobs.add(hashes, [offset + start for start in starts[:-1]], lengths)
    return True
