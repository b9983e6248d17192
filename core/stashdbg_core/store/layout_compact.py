"""A recording on one line, as most writers of JSON leave it: compact, events first, our references.

It is cut where ``},{"seq":`` or ``,"sha256:…":`` stands. Neither can stand inside a string, where quotes are escaped;
where one stands inside a nested value the piece has brackets left open, the parser refuses it, and another cut is
tried.
"""

from __future__ import annotations

import re
from itertools import accumulate

import msgspec

from stashdbg_core.store.index import Found, Row, decode_rows, hash_refs
from stashdbg_core.store.layout_frame import HEAD, HEAD_BYTES, KEY, TO_BLOBS, TO_META, Blocks, add_tail
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, skip_value
from stashdbg_core.store.source import Source

_NEXT_EVENT = b'},{"seq":'
_NEXT_BLOB = b',"sha256:'
_BLOB = re.compile(rb'"sha256:[0-9a-f]{64}":')
_TRIES = 50
_decode_blobs = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def index_compact(source: Source, limits: Limits) -> Found | None:
    """Return what is in the file, or None if it has another layout."""
    head = source.read_at(0, HEAD_BYTES)
    begin = HEAD.match(head)
    if begin is None or not head.startswith(b'{"seq":', begin.end()):
        return None
    found = Found()
    found.top.update(version=begin.group(1), id=begin.group(2))
    blocks = Blocks(source, begin.end(), limits)
    if not _read_events(found, blocks, limits) or not _read_blobs(found, blocks, limits):
        return None
    found.check(limits)
    return found if add_tail(found, source, blocks.offset, limits) else None


def _read_events(found: Found, blocks: Blocks, limits: Limits) -> bool:
    for block, last_block in blocks:
        end = block.find(TO_BLOBS)
        for _ in range(_TRIES):
            if end < 0:
                break
            if _add_events(found, block[:end], blocks.offset):
                blocks.offset += end + len(TO_BLOBS)
                return True
            end = block.find(TO_BLOBS, end + 1)
        cut = block.rfind(_NEXT_EVENT)
        if cut > 0 and _add_events(found, block[: cut + 1], blocks.offset):
            blocks.offset += cut + 2
        elif last_block:
            return False
        found.check(limits)
    return False


def _add_events(found: Found, text: bytes, offset: int) -> bool:
    rows = _rows(text)
    pieces = text.split(_NEXT_EVENT)
    if len(rows) != len(pieces):
        return False
    step = len(_NEXT_EVENT)
    starts = list(accumulate([len(piece) + step for piece in pieces], initial=offset))
    head = len(b'{"seq":')
    offsets = [starts[0], *[start - head for start in starts[1:-1]]]
    lengths = [after - start - 1 for start, after in zip(offsets, [*offsets[1:], offset + len(text) + 1], strict=True)]
    found.events.add(rows, offsets, lengths)
    return True


def _rows(text: bytes) -> list[Row]:
    try:
        return decode_rows(b"[" + text + b"]")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []


def _read_blobs(found: Found, blocks: Blocks, limits: Limits) -> bool:
    """Take the values; leave ``blocks`` at the key ``meta``."""
    for block, last_block in blocks:
        if block.startswith(TO_META):
            blocks.offset += len(b"},")
            return not len(found.blobs)
        cut = block.rfind(_NEXT_BLOB)
        if cut > 0 and _add_blobs(found, block[:cut], blocks.offset):
            blocks.offset += cut + 1
            found.check(limits)
        elif last_block:
            return _add_last_blob(found, block, blocks, limits)
    return False


def _add_blobs(found: Found, text: bytes, offset: int) -> bool:
    try:
        values = _decode_blobs(b"{" + text + b"}")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    lengths = [len(raw) + KEY for raw in values.values()]
    # Keys of one length, no white space and no key that stands twice: then the parts add up to the whole.
    if set(map(len, values)) != {KEY - 3} or sum(lengths) + len(lengths) - 1 != len(text):
        return False
    starts = list(accumulate([length + 1 for length in lengths], initial=offset))
    found.blobs.add(hash_refs(list(values)), starts[:-1], lengths)
    return True


def _add_last_blob(found: Found, block: bytes, blocks: Blocks, limits: Limits) -> bool:
    key = _BLOB.match(block)
    if key is None:
        return False
    try:
        end = skip_value(block, key.end(), limits)
    except ScanStop:
        return False
    if not _add_blobs(found, block[:end], blocks.offset) or not block.startswith(TO_META, end):
        return False
    blocks.offset += end + len(b"},")
    return True
