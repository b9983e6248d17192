"""The first events of a big file at once, while its index is still being made.

Only the head of the file is read. A value is searched for when it is looked at; writers put values in the order of
their first use, so those of the first events lie close together, and the next search starts at the first one found.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from pathlib import Path

from stashdbg_core.canonical import Json, encode_plain
from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable, Note, Payload, RawObject, Recording
from stashdbg_core.parse import BOM, parse_json
from stashdbg_core.store.assembly import assemble
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index import MISSING, BlobColumns, EventColumns, Found
from stashdbg_core.store.index_checks import put_in_order
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.payloads import check_payload, usable
from stashdbg_core.store.scan import ScanStop, skip_space, skip_string, skip_value
from stashdbg_core.store.source import FileSource, Source

_HEAD = 1 << 20
_SLICE = 1 << 21


def open_head(path: str | os.PathLike[str], count: int = 200, *, limits: Limits = Limits()) -> Recording | None:
    """Open the first events of a file, or return None where they do not stand near its beginning.

    The recording has the note ``head`` unless those are all its events.

    Raises:
        StashError: ``ERR_NOT_FOUND``: the file cannot be read.
    """
    source = FileSource(path)
    data = source.read_at(0, _HEAD)
    top: dict[str, bytes] = {}
    events = EventColumns()
    try:
        start = _find_events(data, top, limits)
        whole = start is not None and _take_events(data, start, events, count, limits)
    except (ScanStop, StashError):
        return None
    if start is None or not len(events) or top.get("version") != b"1":
        return None
    put_in_order(Found(events=events))
    for name in ("ref", "input_ref"):
        events.columns[name] = array("i", [MISSING]) * len(events)
    blobs = HeadBlobs(source, start, limits)
    note = Note("head", f"only the first {len(events)} events are shown until the file is indexed")
    return Recording(
        id=_text(top.get("id")),
        events=FileEvents(source, events, FileBlobs(source, BlobColumns(), limits, {})),
        blobs=blobs,
        meta=RawObject(),
        notes=() if whole else (note,),
        path=Path(path),
    )


def _find_events(data: bytes, top: dict[str, bytes], limits: Limits) -> int | None:
    """Return where the first event stands, having read the keys before."""
    pos = skip_space(data, len(BOM) if data.startswith(BOM) else 0)
    if data[pos : pos + 1] != b"{":
        return None
    pos = skip_space(data, pos + 1)
    while True:
        end = skip_string(data, pos)
        name = parse_json(data[pos:end])
        value = skip_space(data, skip_space(data, end) + 1)
        if name == "events":
            return value + 1 if data[value : value + 1] == b"[" else None
        end = skip_value(data, value, limits)
        top[name] = data[value:end]
        pos = skip_space(data, skip_space(data, end) + 1)


def _take_events(data: bytes, pos: int, events: EventColumns, count: int, limits: Limits) -> bool:
    """Take up to ``count`` events; tell whether those are all."""
    while len(events) < count:
        pos = skip_space(data, pos)
        if data[pos : pos + 1] == b",":
            pos = skip_space(data, pos + 1)
        if data[pos : pos + 1] == b"]":
            return True
        try:
            end = skip_value(data, pos, limits)
        except ScanStop:
            return False
        events.add_one(data[pos:end], pos)
        pos = end
    return False


class HeadBlobs(BlobTable):
    """Values of a file without index, each searched for when it is looked at."""

    def __init__(self, source: Source, start: int, limits: Limits) -> None:
        self._source = source
        self._start = start
        self._limits = limits
        self._kept: dict[str, Payload] = {}
        self._first = start
        """Where the first value stands of those found."""

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[str]:
        return self.refs()

    def __contains__(self, ref: object) -> bool:
        return isinstance(ref, str) and self.payload(ref).state != "missing"

    def __getitem__(self, ref: str) -> Json:
        if ref not in self:
            raise KeyError(ref)
        return self.tree(ref)

    def refs(self) -> Iterator[str]:
        """Yield the references looked at so far."""
        return iter([ref for ref, payload in self._kept.items() if payload.state != "missing"])

    def payload(self, ref: str) -> Payload:
        """Return the stored value as found; never raises for a missing or damaged one."""
        if ref not in self._kept:
            raw = self._search(ref)
            missing = Payload(ref, "missing", problem="the recording holds no value for this reference")
            self._kept[ref] = missing if raw is None else check_payload(ref, raw, self._limits)
        return self._kept[ref]

    def tree(self, ref: str) -> Json:
        """Return the whole JSON tree of a value, its tags intact, shared pieces put in.

        Raises:
            StashError: ``ERR_NOT_FOUND`` if it, or a piece of it, is missing; ``ERR_INVALID_RECORDING`` if damaged.
        """
        return assemble(self._fetch(ref), self._fetch)

    def _fetch(self, ref: str) -> bytes:
        return usable(self.payload(ref)).raw

    def _search(self, ref: str) -> bytes | None:
        """Return the text of a value by looking for its key, first where values were found."""
        key = encode_plain(ref)
        known = self._first
        raw = self._search_between(key, known, self._source.size)
        return raw if raw is not None else self._search_between(key, self._start, known)

    def _search_between(self, key: bytes, offset: int, end: int) -> bytes | None:
        while offset < end:
            block = self._source.read_at(offset, _SLICE)
            place = block.find(key)
            while place >= 0:
                raw = self._value_after(offset + place + len(key))
                if raw is not None:
                    found = offset + place
                    self._first = found if self._first == self._start else min(self._first, found)
                    return raw
                place = block.find(key, place + 1)
            offset += max(1, len(block) - len(key)) if offset + len(block) < self._source.size else len(block)
        return None

    def _value_after(self, offset: int) -> bytes | None:
        """Return the value after a colon at ``offset``; None if there is no colon, so that it was no key."""
        length = 1 << 14
        while True:
            block = self._source.read_at(offset, length)
            colon = skip_space(block, 0)
            if block[colon : colon + 1] != b":":
                return None
            start = skip_space(block, colon + 1)
            try:
                end = skip_value(block, start, self._limits)
            except (ScanStop, StashError):
                if len(block) < length or length > self._limits.line:
                    return None
                length *= 4
                continue
            return block[start:end] if end < len(block) else None


def _text(raw: bytes | None) -> str:
    try:
        tree = None if raw is None else parse_json(raw)
    except StashError:
        return ""
    return tree if isinstance(tree, str) else ""
