"""Whatever a recording became: cut off, edited by hand, with events or values no strict parser takes.

Values are found by brackets and strings alone. One that has no end costs itself: reading goes on at the next place
that looks like an event or a value. What is whole is kept, and what is not is noted with its byte offset.
"""

from __future__ import annotations

import re

from stashdbg_core.errors import StashError
from stashdbg_core.parse import BOM, parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.index import Found, hash_refs
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, check_count, check_line, skip_space, skip_string, skip_value

_NEXT_EVENT = re.compile(
    rb'\{\s*+"(?:seq|channel|key|ordinal|outcome|ref)"\s*+:|\]\s*+,\s*+"(?:blobs|meta)"\s*+:',
)
_NEXT_BLOB = re.compile(rb'"(?:sha256:)?[0-9a-f]{64}"\s*+:|\}\s*+,\s*+"(?:events|meta)"\s*+:')
_WASTE = 10_000_000
"""Bytes that may be read in vain beyond twice the file's size; after them the file counts as ending."""


def index_tolerant(data: bytes, limits: Limits) -> Found:
    """Return what is whole in the file.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: a limit is broken.
    """
    return _Reader(data, limits).read()


class _Reader:
    def __init__(self, data: bytes, limits: Limits) -> None:
        self.data = data
        self.limits = limits
        self.found = Found(has_events=False)
        self.seen: set[str] = set()
        self.refs: list[str] = []
        self.places: list[tuple[int, int]] = []
        self.waste = 2 * len(data) + _WASTE

    def read(self) -> Found:
        pos = skip_space(self.data, len(BOM) if self.data.startswith(BOM) else 0)
        if self.data[pos : pos + 1] == b"{":
            try:
                self._top(pos + 1)
            except ScanStop as stop:
                self._stopped(stop)
        self.found.blobs.add(
            hash_refs(self.refs), [start for start, _ in self.places], [end - start for start, end in self.places]
        )
        return self.found

    def _top(self, pos: int) -> None:
        data, found = self.data, self.found
        while True:
            pos = skip_space(data, pos)
            if data[pos : pos + 1] == b"}":
                rest = skip_space(data, pos + 1)
                if rest < len(data):
                    found.notes.add("trailing-text", f"text stands after the recording, from byte {rest}", offset=rest)
                return
            if data[pos : pos + 1] == b",":
                pos = skip_space(data, pos + 1)
            name, start, pos = self._key(pos)
            if name in self.seen:
                message = f"key {shorten(name, 80)!r} stands twice at the top; the last counts"
                found.notes.add("duplicate-key", message, offset=start)
                self._forget(name)
            self.seen.add(name)
            opening = data[pos : pos + 1]
            found.has_events |= name == "events"
            if name == "events" and opening == b"[":
                pos = self._events(pos + 1)
            elif name == "blobs" and opening == b"{":
                pos = self._blobs(pos + 1)
            else:
                end = skip_value(data, pos, self.limits)
                if name in ("events", "blobs"):
                    kind = "a list" if name == "events" else "an object"
                    found.notes.add("odd-" + name, f"{name} is not {kind}; it counts as empty", offset=pos)
                else:
                    found.top[name] = data[pos:end]
                pos = end

    def _forget(self, name: str) -> None:
        if name == "events":
            self.found.events = type(self.found.events)()
        elif name == "blobs":
            self.refs, self.places = [], []

    def _key(self, pos: int) -> tuple[str, int, int]:
        """Return a key, where it starts, and where its value does."""
        end = skip_string(self.data, pos)
        colon = skip_space(self.data, end)
        if self.data[colon : colon + 1] != b":":
            raise ScanStop(colon, ended=colon >= len(self.data))
        try:
            name = parse_json(self.data[pos:end])
        except StashError:
            raise ScanStop(pos, ended=False) from None
        return name, pos, skip_space(self.data, colon + 1)

    def _events(self, pos: int) -> int:
        data, found = self.data, self.found
        while True:
            pos = skip_space(data, pos)
            if data[pos : pos + 1] == b",":
                pos = skip_space(data, pos + 1)
            if data[pos : pos + 1] == b"]":
                return pos + 1
            try:
                end = skip_value(data, pos, self.limits)
                follow = skip_space(data, end)
                if data[follow : follow + 1] not in (b",", b"]", b""):
                    raise ScanStop(follow, ended=False)
            except ScanStop as stop:
                pos = self._resume(stop, pos, _NEXT_EVENT, "an event")
                continue
            check_line(end - pos, self.limits)
            found.events.add_one(data[pos:end], pos)
            check_count("events", len(found.events), self.limits.events)
            pos = end

    def _blobs(self, pos: int) -> int:
        data = self.data
        while True:
            pos = skip_space(data, pos)
            if data[pos : pos + 1] == b",":
                pos = skip_space(data, pos + 1)
            if data[pos : pos + 1] == b"}":
                return pos + 1
            try:
                ref, start, value = self._key(pos)
                end = skip_value(data, value, self.limits)
                follow = skip_space(data, end)
                if data[follow : follow + 1] not in (b",", b"}", b""):
                    raise ScanStop(follow, ended=False)
            except ScanStop as stop:
                pos = self._resume(stop, pos, _NEXT_BLOB, "a value")
                continue
            check_line(end - start, self.limits)
            self.refs.append(ref)
            self.places.append((start, end))
            check_count("blobs", len(self.refs), self.limits.blobs)
            pos = end

    def _resume(self, stop: ScanStop, pos: int, again: re.Pattern[bytes], what: str) -> int:
        """Return where reading goes on after something without end, or raise ``ScanStop`` where nothing follows."""
        found = again.search(self.data, pos + 1) if self.waste > 0 else None
        self.waste -= stop.offset - pos + 1000
        if found is None:
            raise ScanStop(stop.offset if stop.ended else pos, ended=True)
        self.found.notes.add("damaged", f"{what} at byte {pos} has no end; it was left out", offset=pos)
        return found.start()

    def _stopped(self, stop: ScanStop) -> None:
        events, blobs = len(self.found.events), len(self.refs)
        message = f"the file ends early at byte {stop.offset}: {events} whole events and {blobs} whole values were read"
        self.found.notes.add("truncated", message, offset=stop.offset)
