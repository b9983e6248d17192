"""Whether stored values hold a text, each stored piece looked at once however many events share it.

A literal is looked for in the stored bytes, a large file in blocks at once; only where bytes cannot decide is a value
parsed. What a value says is its keys and scalars, each by itself; the tags by which pieces are shared say nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.session.byte_scan import ByteScan
from stashdbg_core.session.column_masks import mask_and
from stashdbg_core.session.pointers import scalar_text, walk
from stashdbg_core.session.text_match import TextMatch
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.sharing_tags import SHARING, names_tag, refs_used, tags_respelled

BLOCK = 1 << 20
_SWEPT = 4_000_000
"""Bytes of values from which on a file is gone through in blocks."""
_SHARING, _ASCII, _ANY, _SLASH = b'"$stash"', b"\\u00", b"\\u", b"\\/"
"""Where one of these stands, bytes alone may not decide: sharing, and what is not spelled as in stored form."""
_ESCAPES, _DIGITS = b'bfnrtu"\\/', b"0123456789abcdefABCDEF"
_PRINTABLE = re.compile(rb"\\u(?!00[01])")


class PayloadMatch:
    """The values of a recording, asked for one text."""

    def __init__(self, recording: Recording, match: TextMatch) -> None:
        self._recording = recording
        self._match = match
        self._own: dict[str | int, tuple[bool, tuple[str | int, ...]]] = {}
        self._whole: dict[str | int, bool] = {}
        self._flags: bytearray | None = None
        """By number, whether a value may hold the text; at the end two that never do, for none and missing."""
        self._events = recording.events if isinstance(recording.events, FileEvents) else None
        self._blobs = recording.blobs if isinstance(recording.blobs, FileBlobs) else None

    def prepare(self) -> Iterator[None]:
        """Go through a large file in blocks, in steps; answers are right without it, and slower."""
        blobs, needle = self._blobs, self._match.needle
        if blobs is None or needle is None or self._flags is not None:
            return
        offsets = blobs.offsets()
        if not len(offsets) or offsets[-1] - offsets[0] < _SWEPT or not blobs.in_order:
            return
        flags = bytearray(len(offsets) + 2)
        marks = [_SHARING, _ASCII if needle.isascii() else _ANY, *([_SLASH] if b"/" in needle else [])]
        new: dict[bytes, set[int]] = {mark: set() for mark in marks if mark not in blobs.holding}
        scans = [(ByteScan(mark), found) for mark, found in new.items()]
        found: set[int] = set()
        scans.append((ByteScan(needle, self._match.ignores_case), found))
        for start, block in blobs.blocks(BLOCK, max(len(needle), len(_SHARING)) - 1):
            for scan, numbers in scans:
                _collect(scan, start, block, offsets, numbers)
            yield
        blobs.holding.update({mark: frozenset(numbers) for mark, numbers in new.items()})
        for number in found.union(*(blobs.holding[mark] for mark in marks)):
            flags[number] = 1
        self._flags = flags

    def possible(self, part: str, start: int, wanted: bytes) -> bytes:
        """Return which of the events in question, from ``start`` on, are worth asking about; a byte each."""
        if self._flags is None or self._events is None:
            return wanted
        column = self._events.blob_column("ref" if part == "value" else "input_ref", start, start + len(wanted))
        return mask_and(wanted, bytes(map(self._flags.__getitem__, column)))

    def at(self, index: int, part: str) -> bool:
        """Tell whether the ``value`` or ``input`` of the event at an index holds the text.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: the pattern takes too long.
        """
        if self._events is not None:
            number = self._events.blob_at(index) if part == "value" else self._events.input_blob_at(index)
            return number >= 0 and self._holds(number)
        event = self._recording.events[index]
        ref = event.ref if part == "value" else event.input_ref
        return ref is not None and self._holds(ref)

    def tree(self, index: int, part: str) -> Json:
        """Return the tree of the ``value`` or ``input`` of the event at an index, its pieces put in.

        One that stands whole in a file is not checked against its hash: what it says is found, whatever its state.

        Raises:
            StashError: It cannot be read.
        """
        event = self._recording.events[index]
        if self._events is not None and self._blobs is not None:
            number = self._events.blob_at(index) if part == "value" else self._events.input_blob_at(index)
            raw = self._blobs.raw_at(number) if number >= 0 else b""
            if raw and not names_tag(raw):
                return parse_json(raw)
        return self._recording.blobs.tree((event.ref if part == "value" else event.input_ref) or "")

    def _holds(self, blob: str | int) -> bool:
        """Tell it of a value with its pieces; iterative, for pieces may be chained deep and in circles."""
        whole = self._whole
        pending: list[tuple[str | int, bool]] = [(blob, False)]
        while pending:
            node, is_known_below = pending.pop()
            if is_known_below:
                whole[node] = whole[node] or any(whole.get(piece, False) for piece in self._own[node][1])
            elif node not in whole:
                found, pieces = self._own_answer(node)
                whole[node] = found
                if pieces and not found:
                    pending.append((node, True))
                    pending += [(piece, False) for piece in pieces if piece not in whole]
        return whole[blob]

    def _own_answer(self, blob: str | int) -> tuple[bool, tuple[str | int, ...]]:
        if isinstance(blob, int) and self._flags is not None and not self._flags[blob]:
            return False, ()
        known = self._own.get(blob)
        if known is None:
            raw = self._raw(blob)
            own, pieces = _without_sharing(raw) if names_tag(raw) else (raw, ())
            known = self._own[blob] = self._says(own), tuple(self._id(piece) for piece in pieces)
        return known

    def _says(self, raw: bytes) -> bool:
        needle = self._match.needle
        if needle is not None:
            text = raw.lower() if self._match.ignores_case else raw
            if needle not in text and (b"\\/" in raw or (b"\\u" in raw and _PRINTABLE.search(raw))):
                raw = _respelled(raw)
                text = raw.lower() if self._match.ignores_case else raw
            if needle not in text:
                return False
            if self._match.needle_decides and not _may_be_escape(needle, text):
                return True
        try:
            tree = parse_json(raw)
        except StashError:
            return self._match.within(raw.decode("utf-8", "replace"))
        return any(self._match.within(text) for text in texts_of(tree))

    def _raw(self, blob: str | int) -> bytes:
        if isinstance(blob, int):
            assert self._blobs is not None
            return self._blobs.raw_at(blob)
        return self._recording.blobs.payload(blob).raw

    def _id(self, ref: str) -> str | int:
        number = self._blobs.number_of(ref) if self._blobs is not None else None
        return ref if number is None else number


def texts_of(tree: Json) -> Iterator[str]:
    """Yield everything a tree says, in reading order: keys, texts, other scalars as written."""
    for _, key, node in walk(tree):
        if key is not None:
            yield key
        text = scalar_text(node)
        if text is not None:
            yield text


def _collect(scan: ByteScan, start: int, block: bytes, offsets: Sequence[int], numbers: set[int]) -> None:
    """Add the numbers of the entries of a block in which a scan finds something."""

    def number_at(at: int) -> int:
        return bisect_right(offsets, start + at) - 1

    def following(at: int) -> int:
        number = number_at(at) + 1
        return offsets[number] - start if number < len(offsets) else len(block)

    numbers.update(number for number in map(number_at, scan.places(block, following)) if number >= 0)


def _may_be_escape(needle: bytes, text: bytes) -> bool:
    """Tell whether what was found may be the end of an escape, such as ``n`` of a line feed, or digits in one."""
    first = needle[:1]
    return (first in _ESCAPES and b"\\" + needle in text) or (first in _DIGITS and b"\\u" in text)


def _without_sharing(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a text with its sharing tags blanked, and the refs they name."""
    text = tags_respelled(raw)
    return SHARING.sub(_blank, text), tuple(refs_used(text))


def _blank(use: re.Match[bytes]) -> bytes:
    return b"[]" if use["ref"] is not None else b'{"":'


def _respelled(raw: bytes) -> bytes:
    try:
        return stored_form(parse_json(raw))
    except (StashError, ValueError):
        return raw
