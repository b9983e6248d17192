"""Whether stored values hold a text, each stored piece looked at once however many events share it.

A literal is looked for in the stored bytes, a large file in blocks at once; only where bytes cannot decide is a value
parsed. What a value says is its keys and scalars, each by itself; the tags by which pieces are shared say nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.session.pointers import scalar_text, walk
from stashdbg_core.session.text_match import TextMatch
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.events import FileEvents

BLOCK = 1 << 22
_SWEPT = 2000
"""Values from which on a file is gone through in blocks."""
_TAG = re.compile(rb'\{"\$stash":"(?:ref","ref":"(?P<ref>[^"\\]+)"\}|list","parts":\[(?P<parts>[^\]\\]*)\])')
_PART = re.compile(rb'"([^"]*)"')
_MARKS = (b'"$stash"', b"\\u", b"\\/")
"""Where one of these stands, bytes alone do not decide."""


class PayloadMatch:
    """The values of a recording, asked for one text."""

    def __init__(self, recording: Recording, match: TextMatch) -> None:
        self._recording = recording
        self._match = match
        self._own: dict[str | int, tuple[bool, tuple[str | int, ...]]] = {}
        self._whole: dict[str | int, bool] = {}
        self._candidates: set[int] | None = None
        self._events = recording.events if isinstance(recording.events, FileEvents) else None
        self._blobs = recording.blobs if isinstance(recording.blobs, FileBlobs) else None

    def prepare(self) -> Iterator[None]:
        """Go through a large file in blocks, in steps; answers are right without it, and slower."""
        blobs, needle = self._blobs, self._match.needle
        if blobs is None or needle is None or self._candidates is not None or len(blobs) < _SWEPT:
            return
        offsets = blobs.offsets()
        if any(one > two for one, two in pairwise(offsets)):
            return
        found: set[int] = set()
        for start, block in blobs.blocks(BLOCK, max(len(needle), 8) - 1):
            for number in _hits(block, start, needle, self._match.ignores_case, offsets):
                found.add(number)
            yield
        self._candidates = found

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
        if isinstance(blob, int) and self._candidates is not None and blob not in self._candidates:
            return False, ()
        known = self._own.get(blob)
        if known is None:
            raw = self._raw(blob)
            own, pieces = _without_sharing(raw) if b'"$stash"' in raw else (raw, ())
            known = self._own[blob] = self._says(own), tuple(self._id(piece) for piece in pieces)
        return known

    def _says(self, raw: bytes) -> bool:
        needle = self._match.needle
        if needle is not None:
            if b"\\u" in raw or b"\\/" in raw:
                raw = _respelled(raw)
            if needle not in (raw.lower() if self._match.ignores_case else raw):
                return False
            if not self._match.spans_tokens:
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


def _hits(block: bytes, start: int, needle: bytes, ignores_case: bool, offsets: Sequence[int]) -> Iterator[int]:
    """Yield the numbers of the entries of a block that hold the needle or a mark."""
    for wanted, text in [(needle, block.lower() if ignores_case else block), *((mark, block) for mark in _MARKS)]:
        at = text.find(wanted)
        while at >= 0:
            number = bisect_right(offsets, start + at) - 1
            if number >= 0:
                yield number
            following = offsets[number + 1] - start if number + 1 < len(offsets) else len(text)
            at = text.find(wanted, max(following, at + 1))


def _without_sharing(raw: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a text with its sharing tags blanked, and the refs they name."""
    refs: list[str] = []
    for use in _TAG.finditer(raw):
        found = [use["ref"]] if use["ref"] is not None else _PART.findall(use["parts"])
        refs += [ref.decode("utf-8", "replace") for ref in found]
    return _TAG.sub(_blank, raw), tuple(refs)


def _blank(use: re.Match[bytes]) -> bytes:
    return b"null" if use["ref"] is not None else b'{"":null'


def _respelled(raw: bytes) -> bytes:
    try:
        return stored_form(parse_json(raw))
    except (StashError, ValueError):
        return raw
