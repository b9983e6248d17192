"""Values of an indexed file: found by reference, read and checked when looked at.

A value is *ok* when its text is JSON that means one thing and, under a ``sha256:`` reference, hashes to it: as it
stands, or in stored form, so that a file reformatted by hand still verifies. References of other tools cannot be
checked.
"""

from __future__ import annotations

import operator
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from stashdbg_core.canonical import Json, encode_plain, stored_form
from stashdbg_core.model import BlobTable, Payload
from stashdbg_core.parse import parse_json
from stashdbg_core.store.index import BlobColumns, ref_hash
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.payloads import check_payload, usable
from stashdbg_core.store.read_ahead import ReadAhead
from stashdbg_core.store.scan import STRING, ScanStop, skip_space, skip_string
from stashdbg_core.store.source import Source
from stashdbg_core.store.whole_text import WholeTexts

_HEAD = 512
"""Bytes read to see an entry's key; enough for every reference of ours, and most others."""
_BLOCK = 1 << 16
_SLICE = 1 << 22
"""Bytes read at once to go through all keys."""
_KEPT_BYTES = 4_000_000
_EXPECTED = 2048
_OWN_ENTRY = re.compile(rb'"sha256:[0-9a-f]{64}":(?![ \t\r\n])')
_OWN_KEY = len('"sha256:":') + 64
_CROWD = 64
"""More entries of one hash than this were made so on purpose; their references are read once."""
_UNSORTED = 100_000
"""With more entries than this, a few are found by looking through all before the table is sorted."""


class FileBlobs(BlobTable):
    """The values of a file by reference."""

    def __init__(self, source: Source, columns: BlobColumns, limits: Limits, twice: Mapping[str, int]) -> None:
        self._source = source
        self._reader = ReadAhead(source)
        self._columns = columns.columns
        self._hashes = self._columns["hash"]
        self._limits = limits
        self._twice = twice
        self._kept: dict[str, Payload] = {}
        self._whole = WholeTexts(self._fetch)
        self._room = _KEPT_BYTES
        self._order: array[int] | None = None
        self._searches = 0
        self._expected: dict[str, int] = {}
        self._crowds: dict[int, dict[str, int]] = {}
        self.holding: dict[bytes, frozenset[int]] = {}
        """By a byte string the numbers of the entries that hold it, as far as someone found out."""

    def __len__(self) -> int:
        return len(self._hashes) - sum(self._twice.values())

    def __iter__(self) -> Iterator[str]:
        return self.refs()

    def __contains__(self, ref: object) -> bool:
        return isinstance(ref, str) and self.number_of(ref) is not None

    def __getitem__(self, ref: str) -> Json:
        if self.number_of(ref) is None:
            raise KeyError(ref)
        return self.tree(ref)

    def refs(self) -> Iterator[str]:
        """Yield every reference in file order, repeated ones once."""
        seen: set[str] = set()
        block, start = b"", 0
        for number, offset in enumerate(self._columns["offset"]):
            head = min(_HEAD, self._columns["length"][number])
            if not start <= offset <= start + len(block) - head:
                block, start = self._source.read_at(offset, _BLOCK), offset
            key = STRING.match(block, offset - start, offset - start + head)
            ref = self.ref_at(number) if key is None else parse_json(key.group())
            if ref in self._twice:
                if ref in seen:
                    continue
                seen.add(ref)
            yield ref

    def payload(self, ref: str) -> Payload:
        """Return the stored value as found; never raises for a missing or damaged one.

        Raises:
            StashError: ``ERR_NOT_FOUND``: the file was changed or cannot be read any more.
        """
        kept = self._kept.get(ref)
        if kept is not None:
            return kept
        raw = self._expected_raw(ref)
        if raw is None:
            number = self.number_of(ref)
            if number is None:
                return Payload(ref, "missing", problem="the recording holds no value for this reference")
            raw = self.raw_at(number)
        payload = self._checked(ref, raw)
        if len(payload.raw) <= self._room // 4:
            self._room -= len(payload.raw)
            if self._room < _KEPT_BYTES // 2:
                self._kept.clear()
                self._room = _KEPT_BYTES - len(payload.raw)
            self._kept[ref] = payload
        return payload

    def tree(self, ref: str) -> Json:
        """Return the whole JSON tree of a value, its tags intact, shared pieces put in.

        Raises:
            StashError: ``ERR_NOT_FOUND`` if it, or a piece of it, is missing; ``ERR_INVALID_RECORDING`` if damaged.
        """
        return self._whole.tree(self._fetch(ref))

    def text(self, ref: str) -> bytes:
        text = self._whole.text(self._fetch(ref))
        return text if text is not None else stored_form(self.tree(ref))

    def size_of(self, ref: str) -> int | None:
        """Return the bytes of a value as it stands, without reading it, shared pieces not counted; None if missing."""
        kept = self._kept.get(ref)
        if kept is not None:
            return len(kept.raw)
        number = self.number_of(ref)
        return None if number is None else self.size_at(number, ref)

    def size_at(self, number: int, ref: str | None = None) -> int:
        """Return the bytes of a value by its number in the table."""
        ref = self.ref_at(number) if ref is None else ref
        return max(0, int(self._columns["length"][number]) - len(ref) - 3)

    def expect(self, ref: str, number: int) -> None:
        """Take a hint that an entry, if any, stands under a reference; it is checked when used."""
        if number >= 0:
            if len(self._expected) >= _EXPECTED:
                self._expected.clear()
            self._expected[ref] = number

    def number_of(self, ref: str) -> int | None:
        """Return the number of the last entry under a reference, or None."""
        number = self._expected.get(ref)
        if number is not None and self._stands_at(number, ref):
            return number
        wanted = ref_hash(ref)
        if wanted in self._crowds:
            return self._crowds[wanted].get(ref)
        candidates = self._candidates(wanted)
        if len(candidates) > _CROWD:
            self._crowds[wanted] = {self.ref_at(candidate): candidate for candidate in reversed(candidates)}
            return self._crowds[wanted].get(ref)
        for candidate in candidates:
            if self.ref_at(candidate) == ref:
                return candidate
        return None

    def _candidates(self, wanted: int) -> list[int]:
        """Return the numbers of entries with a hash, the last first."""
        hashes = self._hashes
        if self._order is None and len(hashes) > _UNSORTED and self._searches < 16:
            self._searches += 1
            return [number for number, value in enumerate(hashes) if value == wanted][::-1]
        if self._order is None:
            # As floats of 53 bits they sort much faster than as integers.
            keys = array("d", [value >> 11 for value in hashes])
            self._order = array("I", sorted(range(len(hashes)), key=keys.__getitem__))
        order = self._order
        place = bisect_left(order, wanted >> 11, key=lambda number: hashes[number] >> 11)
        found: list[int] = []
        while place < len(order) and hashes[order[place]] >> 11 == wanted >> 11:
            found.append(order[place])
            place += 1
        return sorted(found, reverse=True)

    def _stands_at(self, number: int, ref: str) -> bool:
        """Tell whether an entry stands under a reference."""
        key = encode_plain(ref) + b":"
        if self._reader.read_at(self._columns["offset"][number], len(key)) == key:
            return True
        return self.ref_at(number) == ref

    def ref_at(self, number: int) -> str:
        """Return the reference under which an entry stands; empty when the file no longer says."""
        head = self._reader.read_at(self._columns["offset"][number], min(_HEAD, self._columns["length"][number]))
        if _OWN_ENTRY.match(head) is not None:
            return head[1:72].decode("ascii")
        try:
            end = skip_string(head, 0)
        except ScanStop:
            head = self._entry(number)
            try:
                end = skip_string(head, 0)
            except ScanStop:
                return ""
        ref = parse_json(head[:end])
        return ref if isinstance(ref, str) else ""

    def blocks(self, size: int, overlap: int) -> Iterator[tuple[int, bytes]]:
        """Yield the bytes in which all entries lie, in blocks that overlap, each with its offset in the file."""
        offsets, lengths = self._columns["offset"], self._columns["length"]
        if not len(offsets):
            return
        start = offsets[0] if self.in_order else min(offsets)
        end = offsets[-1] + lengths[-1] if self.in_order else max(map(operator.add, offsets, lengths))
        for offset in range(start, end, size):
            yield offset, self._source.read_at(offset, min(size + overlap, end - offset))

    @cached_property
    def in_order(self) -> bool:
        """Whether entries are numbered as they lie in the file."""
        offsets = self._columns["offset"]
        return bool(all(map(operator.le, offsets, offsets[1:])))

    def offsets(self) -> Sequence[int]:
        """Return where each entry begins."""
        return self._columns["offset"]

    def raw_at(self, number: int) -> bytes:
        """Return the JSON text of a value as it stands."""
        entry = self._entry(number)
        own = _OWN_ENTRY.match(entry)
        if own is not None:
            return entry[own.end() :]
        try:
            colon = skip_space(entry, skip_string(entry, 0))
        except ScanStop:
            return b""
        return entry[skip_space(entry, colon + 1) :]

    def own_text_at(self, number: int) -> bytes:
        """Return what stands after the key and its colon of an entry under a reference of ours.

        Nothing is checked: a text with the hash that the reference says is the value, any other may be anything.
        """
        offset, length = self._columns["offset"][number], self._columns["length"][number]
        return self._reader.read_at(offset + _OWN_KEY, max(0, length - _OWN_KEY))

    def entries(self) -> Iterator[tuple[int, str, bytes]]:
        """Yield number, reference and text of every value, unchecked, in file order; the file is read in slices."""
        reader = ReadAhead(self._source, _SLICE)
        for number, place in enumerate(zip(self._columns["offset"], self._columns["length"], strict=True)):
            ref, raw = self._split(reader.read_at(*place))
            if ref is not None and (ref not in self._twice or self.number_of(ref) == number):
                yield number, ref, raw

    def _split(self, entry: bytes) -> tuple[str | None, bytes]:
        """Return reference and text of an entry; no reference if the file no longer says."""
        own = _OWN_ENTRY.match(entry)
        if own is not None:
            return entry[1:72].decode("ascii"), entry[own.end() :]
        try:
            end = skip_string(entry, 0)
            colon = skip_space(entry, end)
        except ScanStop:
            return None, b""
        ref = parse_json(entry[:end])
        return (ref if isinstance(ref, str) else None), entry[skip_space(entry, colon + 1) :]

    def _expected_raw(self, ref: str) -> bytes | None:
        """Return the text under a reference in one read, if it stands where it is expected."""
        number = self._expected.get(ref)
        if number is None:
            return None
        found, raw = self._split(self._entry(number))
        return raw if found == ref else None

    def _entry(self, number: int) -> bytes:
        return self._reader.read_at(self._columns["offset"][number], self._columns["length"][number])

    def _fetch(self, ref: str) -> bytes:
        return usable(self.payload(ref)).raw

    def _checked(self, ref: str, raw: bytes) -> Payload:
        return check_payload(ref, raw, self._limits, twice=ref in self._twice)
