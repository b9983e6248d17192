"""Any valid JSON whose top level is a recording's: one strict pass, in any order and with any white space.

The parser tells each value's text but not its place. Values are therefore walked in file order: between two of them
only white space, a comma and a key can stand, so each place follows from the one before. A key that stands twice
breaks the walk, and the file is left to the tolerant layout.
"""

from __future__ import annotations

import re
from array import array

import msgspec

from stashdbg_core.parse import parse_json
from stashdbg_core.store.index import Found, decode_rows, hash_refs
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, check_count, check_depth, check_line, skip_space, skip_value

_BEFORE = re.compile(rb"[ \t\n\r]*+,?[ \t\n\r]*+")
_KEY = re.compile(rb'[ \t\n\r]*+,?[ \t\n\r]*+("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\n\r]*+:[ \t\n\r]*+', re.DOTALL)


class _Top(msgspec.Struct, gc=False):
    events: list[msgspec.Raw] | None = None
    blobs: dict[str, msgspec.Raw] | None = None


_decode_top = msgspec.json.Decoder(_Top).decode


class _Astray(Exception):
    """The walk met what it cannot place."""


def index_strict(data: bytes, limits: Limits) -> Found | None:
    """Return what is in the file, or None if it is not valid JSON with a list of events and an object of blobs."""
    try:
        top = _decode_top(data)
        return _walk(data, top, limits)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, _Astray, ScanStop):
        return None


def _walk(data: bytes, top: _Top, limits: Limits) -> Found:
    found = Found()
    pos = skip_space(data, 0) + 1
    seen: set[str] = set()
    while True:
        key = _KEY.match(data, pos)
        if key is None:
            end = skip_space(data, pos)
            if data[end : end + 1] != b"}":
                raise _Astray
            found.has_events = "events" in seen
            return found
        name, pos = parse_json(key.group(1)), key.end()
        if name in seen:
            raise _Astray
        seen.add(name)
        if name == "events" and top.events is not None:
            pos = _walk_events(data, pos, top.events, found, limits)
        elif name == "blobs" and top.blobs is not None:
            pos = _walk_blobs(data, pos, top.blobs, found, limits)
        else:
            end = skip_value(data, pos, limits)
            found.top[name] = data[pos:end]
            pos = end


def _walk_events(data: bytes, start: int, raws: list[msgspec.Raw], found: Found, limits: Limits) -> int:
    check_count("events", len(raws), limits.events)
    pos = start + 1
    offsets: list[int] = []
    lengths = [len(raw) for raw in raws]
    before = _BEFORE.match
    for length in lengths:
        pos = before(data, pos).end()  # type: ignore[union-attr]
        offsets.append(pos)
        pos += length
    check_line(max(lengths, default=0), limits)
    end = skip_space(data, pos)
    if data[end : end + 1] != b"]":
        raise _Astray
    try:
        rows = decode_rows(memoryview(data)[start : end + 1])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        for raw, offset in zip(raws, offsets, strict=True):
            found.events.add_one(bytes(raw), offset)
    else:
        found.events.add(rows, offsets, lengths)
    return end + 1


def _walk_blobs(data: bytes, start: int, raws: dict[str, msgspec.Raw], found: Found, limits: Limits) -> int:
    check_count("blobs", len(raws), limits.blobs)
    pos = start + 1
    offsets = array("Q")
    lengths = array("Q")
    match = _KEY.match
    for ref, raw in raws.items():
        key = match(data, pos)
        if key is None:
            raise _Astray
        spelled = key.group(1)
        if spelled[1:-1] != ref.encode() and parse_json(spelled) != ref:
            raise _Astray
        pos = key.end() + len(raw)
        check_depth(data, key.end(), pos, limits)
        offsets.append(key.start(1))
        lengths.append(pos - key.start(1))
    check_line(max(lengths, default=0), limits)
    end = skip_space(data, pos)
    if data[end : end + 1] != b"}":
        raise _Astray
    found.blobs.add(hash_refs(list(raws)), offsets, lengths)
    return end + 1
