"""Values of a recording that share their pieces: a chat that grows by a turn is stored as that turn.

A sub-value of ``PIECE_SIZE`` bytes and more is stored once, as a blob of its own, and ``{"$stash":"ref","ref":R}``
stands in its place. A list that extends one stored before is ``{"$stash":"list","parts":[R, …],"items":[…]}``: the
lists of the parts, then the items. Whole trees hold neither tag: what looks like one in data is escaped as a ``dict``
tag.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import msgspec

from stashdbg_core.canonical import Json, encode_plain, stored_form
from stashdbg_core.parse import parse_json
from stashdbg_core.store.recent_lists import RecentLists
from stashdbg_core.store.sharing_tags import escape_sharing_tags, list_tag, looks_shared, ref_tag

PIECE_SIZE = 1000
"""From this many bytes of stored form on, a sub-value is a piece of its own."""
CHAIN_LENGTH = 12
"""How many extensions a list may be away from a node that holds its parts side by side."""
FAN_OUT = 16
"""How many parts of one level become one part of the next."""
LISTS_KEPT = 50_000
"""How many lists are remembered; past this the oldest quarter is forgotten, and is stored anew if it comes back."""
WORTH_SHARING = 256
"""Bytes that a common start must have to become a list of its own."""
SHARING_DEPTH = 64
"""How deep in a value pieces are looked for; what lies deeper is stored within them."""
TRIES = 8
"""How many lists that begin and end alike are compared in full."""


_raw_dict = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_raw_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


class _List(NamedTuple):
    """A list stored before."""

    ref: str
    length: int
    hops: int
    """Extensions since ``base``."""
    base: tuple[tuple[str, int], ...]
    """Parts that together are the first ``base_length`` items, each with its level."""
    base_length: int
    ends: tuple[int, int, int]
    """Hashes of its first and last item, and its length."""


class Sharer:
    """Stores values piece by piece; keeps one digest for each list stored lately.

    Args:
        put: Stores one piece's stored form and returns its ref; called again for a piece that is there already.
    """

    def __init__(self, put: Callable[[bytes], str]) -> None:
        self._put = put
        self._lists: dict[bytes, _List] = {}
        """By the digest of their items."""
        self._ends: set[tuple[int, int, int]] = set()
        """What tells most lists apart without a digest."""
        self._lengths: dict[int, list[int]] = {}
        """Lengths of those lists by the hash of their first item, ascending, each once."""
        self._recent = RecentLists()

    def store(self, tree: Json, stored: bytes | None = None) -> str:
        """Store a whole tree and return its ref.

        Args:
            tree: A JSON tree without sharing.
            stored: Its stored form, if known; what it says counts.

        Raises:
            TypeError: The tree holds a type that JSON has not.
            ValueError: The tree holds a NaN or an infinity.
        """
        return self.store_text(stored_form(tree) if stored is None else stored)

    def store_text(self, stored: bytes) -> str:
        """Store a whole value, given in stored form, and return its ref."""
        if looks_shared(stored):
            tree = parse_json(stored)
            escaped = escape_sharing_tags(tree)
            if escaped is not tree:
                stored = stored_form(escaped)
        return self.store_tagged(stored)

    def store_tagged(self, stored: bytes) -> str:
        """Store a value whose sharing tags are meant as such, and return its ref."""
        if len(stored) < PIECE_SIZE:
            return self._put(stored)
        try:
            if stored.startswith(b"{"):
                return self._put(self._dict(stored, SHARING_DEPTH))
            if stored.startswith(b"["):
                return self._extend(self._items(stored, SHARING_DEPTH))
        except RecursionError:
            pass  # nested too deep for the fast parser, and not worth a slow one at every level: one piece
        return self._put(stored)

    def inline(self, text: bytes) -> bytes:
        """Return what stands for a value in the text of its parent: itself, or a tag if it is large.

        Sharing tags in it are meant as such.
        """
        return text if len(text) < PIECE_SIZE else self._inline(text, SHARING_DEPTH)

    def _inline(self, text: bytes, depth: int) -> bytes:
        """Return what stands for a sub-value of ``PIECE_SIZE`` bytes and more in the text of its parent."""
        first = text[:1]
        if first == b"{" and depth:
            text = self._dict(text, depth)
        elif first == b"[" and depth:
            texts = self._items(text, depth)
            if sum(map(len, texts)) + len(texts) < PIECE_SIZE:
                return b"[" + b",".join(texts) + b"]"
            return ref_tag(self._extend(texts))
        elif first not in b'"{[':
            return text  # a number of many digits
        return text if len(text) < PIECE_SIZE else ref_tag(self._put(text))

    def _dict(self, text: bytes, depth: int) -> bytes:
        """Return the text of an object with its large values shared."""
        values = _split_dict(text)
        if max(map(len, values.values()), default=0) < PIECE_SIZE:
            return text
        parts = [
            encode_plain(key) + b":" + (value if len(value) < PIECE_SIZE else self._inline(value, depth - 1))
            for key, value in values.items()
        ]
        return b"{" + b",".join(parts) + b"}"

    def _items(self, text: bytes, depth: int) -> list[bytes]:
        """Return the texts of a list's items, large ones shared."""
        texts = _split_list(text)
        if max(map(len, texts), default=0) < PIECE_SIZE:
            return texts
        return [item if len(item) < PIECE_SIZE else self._inline(item, depth - 1) for item in texts]

    def _extend(self, texts: list[bytes]) -> str:
        """Store a list, given its items' texts, on top of the longest list stored before that begins it."""
        known = self._longest_start(texts)
        start = known.length if known is not None else 0
        if known is not None and start == len(texts):
            return known.ref
        # Where a caching mark moves on with each turn, the last item changes and those before it do not.
        common = self._recent.common_start(texts)
        if start < common < len(texts) and sum(map(len, texts[start:common])) >= WORTH_SHARING:
            known = self._append(known, texts[:common])
        return self._append(known, texts).ref

    def _append(self, known: _List | None, texts: list[bytes]) -> _List:
        """Store a list that begins as a known one does, if one is known."""
        length = len(texts)
        if known is None:
            ref = self._put(b"[" + b",".join(texts) + b"]")
            entry = _List(ref, length, 0, ((ref, 0),), length, _ends(texts, length))
        elif known.hops < CHAIN_LENGTH:
            ref = self._put(list_tag([known.ref], texts[known.length :]))
            entry = _List(ref, length, known.hops + 1, known.base, known.base_length, _ends(texts, length))
        else:
            chunk = self._put(b"[" + b",".join(texts[known.base_length : known.length]) + b"]")
            base = merged_parts(self._put, (*known.base, (chunk, 0)))
            ref = self._put(list_tag([part for part, _ in base], texts[known.length :]))
            entry = _List(ref, length, 0, base, known.length, _ends(texts, length))
        self._remember(_digest(texts, length), entry)
        return entry

    def _longest_start(self, texts: list[bytes]) -> _List | None:
        """Return the longest list stored before that this one begins with; or none, if many only look like it."""
        lengths = self._lengths.get(hash(texts[0]), [])
        tries = TRIES
        for length in reversed(lengths[: bisect_right(lengths, len(texts))]):
            if _ends(texts, length) in self._ends:
                known = self._lists.get(_digest(texts, length))
                if known is not None:
                    return known
                tries -= 1
                if not tries:
                    break
        return None

    def _remember(self, digest: bytes, entry: _List) -> None:
        self._lists[digest] = entry
        self._index(entry)
        if len(self._lists) > LISTS_KEPT:
            for old in list(islice(self._lists, LISTS_KEPT // 4)):
                del self._lists[old]
            self._ends.clear()
            self._lengths.clear()
            for kept in self._lists.values():
                self._index(kept)

    def _index(self, entry: _List) -> None:
        self._ends.add(entry.ends)
        lengths = self._lengths.setdefault(entry.ends[0], [])
        place = bisect_left(lengths, entry.length)
        if lengths[place : place + 1] != [entry.length]:
            lengths.insert(place, entry.length)


def merged_parts(put: Callable[[bytes], str], base: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    """Put the last ``FAN_OUT`` parts of one level into one part of the next, as in a B-tree that only grows.

    Args:
        put: Stores one piece's stored form and returns its ref.
        base: The parts of a list in order, each with its level.
    """
    while len(base) >= FAN_OUT and base[-FAN_OUT][1] == base[-1][1]:
        whole = put(list_tag([part for part, _ in base[-FAN_OUT:]], []))
        base = (*base[:-FAN_OUT], (whole, base[-1][1] + 1))
    return base


def _split_dict(text: bytes) -> dict[str, bytes]:
    """Return the text of each value of an object in stored form."""
    try:
        return {key: bytes(value) for key, value in _raw_dict(text).items()}
    except msgspec.DecodeError:  # a lone surrogate, say
        return {key: stored_form(value) for key, value in parse_json(text).items()}


def _split_list(text: bytes) -> list[bytes]:
    """Return the text of each item of a list in stored form."""
    try:
        return list(map(bytes, _raw_list(text)))
    except msgspec.DecodeError:
        return list(map(stored_form, parse_json(text)))


def _ends(texts: list[bytes], length: int) -> tuple[int, int, int]:
    return hash(texts[0]), hash(texts[length - 1]), length


def _digest(texts: list[bytes], length: int) -> bytes:
    """Return a digest of the first so many items."""
    return hashlib.sha256(b",".join(texts[:length])).digest()
