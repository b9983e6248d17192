"""Values of a recording that share their pieces: a chat that grows by a turn is stored as that turn.

A sub-value of ``PIECE_SIZE`` bytes and more is stored once, as a blob of its own, and ``{"$stash":"ref","ref":R}``
stands in its place. A list that extends one stored before is ``{"$stash":"list","parts":[R, …],"items":[…]}``: the
lists of the parts, then the items. Whole trees hold neither tag: what looks like one in data is escaped as a ``dict``
tag.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.parse import parse_json
from stashdbg_core.store.assembly import assemble, pieces_of
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

__all__ = ["Sharer", "assemble", "pieces_of"]

_NUMBERS = frozenset({int, float, bool, type(None)})
_fast = msgspec.json.Encoder().encode


class _List(NamedTuple):
    """A list stored before."""

    ref: str
    length: int
    hops: int
    """Extensions since ``base``."""
    base: tuple[tuple[str, int], ...]
    """Parts that together are the first ``base_length`` items, each with its level."""
    base_length: int


class Sharer:
    """Stores values piece by piece; keeps one digest for each list stored lately.

    Args:
        put: Stores one piece's stored form and returns its ref; called again for a piece that is there already.
    """

    def __init__(self, put: Callable[[bytes], str]) -> None:
        self._put = put
        self._lists: dict[bytes, _List] = {}
        self._lengths: list[int] = []
        """Lengths of those lists, ascending, each once."""
        self._recent = RecentLists()

    def store(self, tree: Json, stored: bytes | None = None) -> str:
        """Store a whole tree and return its ref.

        Args:
            tree: A JSON tree without sharing.
            stored: Its stored form, if known.

        Raises:
            TypeError: The tree holds a type that JSON has not.
            ValueError: The tree holds a NaN or an infinity.
        """
        if stored is None:
            stored = stored_form(tree)
        if looks_shared(stored):
            escaped = escape_sharing_tags(tree)
            if escaped is not tree:
                tree, stored = escaped, stored_form(escaped)
        if len(stored) < PIECE_SIZE:
            return self._put(stored)
        try:
            exact = _fast(tree) == stored
        except (UnicodeEncodeError, TypeError, OverflowError, RecursionError, RuntimeError):
            exact = False
        if exact:  # the fast encoder spells the whole exactly, so it spells every part exactly
            try:
                return self._piece(tree, stored, _fast, SHARING_DEPTH)
            except (RuntimeError, TypeError, ValueError, OverflowError):
                pass  # another thread changes the live object; what was stored stands
        return self._piece(parse_json(stored), stored, stored_form, SHARING_DEPTH)

    def _piece(self, tree: Json, text: bytes, encode: Callable[[Any], bytes], depth: int) -> str:
        kind = type(tree)
        if kind is dict and depth:
            return self._put(self._dict(tree, encode, depth - 1))
        if kind is list and depth:
            return self._extend(self._items(tree, text, encode, depth - 1))
        return self._put(text)

    def _inline(self, tree: Json, encode: Callable[[Any], bytes], depth: int) -> bytes:
        """Return what stands for ``tree`` in the text of its parent."""
        text = encode(tree)
        if len(text) < PIECE_SIZE:
            return text
        kind = type(tree)
        if kind is dict and depth:
            text = self._dict(tree, encode, depth - 1)
        elif kind is list and depth:
            texts = self._items(tree, text, encode, depth - 1)
            if sum(map(len, texts)) + len(texts) < PIECE_SIZE:
                return b"[" + b",".join(texts) + b"]"
            return ref_tag(self._extend(texts))
        elif not isinstance(tree, str | list | dict):
            return text  # a number of many digits
        return text if len(text) < PIECE_SIZE else ref_tag(self._put(text))

    def _dict(self, tree: dict[str, Json], encode: Callable[[Any], bytes], depth: int) -> bytes:
        parts = [encode(key) + b":" + self._inline(value, encode, depth) for key, value in tree.items()]
        return b"{" + b",".join(parts) + b"}"

    def _items(self, tree: list[Json], text: bytes, encode: Callable[[Any], bytes], depth: int) -> list[bytes]:
        if _NUMBERS.issuperset(map(type, tree)):  # an embedding, say: no comma stands inside an item
            return text[1:-1].split(b",")
        return [self._inline(item, encode, depth) for item in tree]

    def _extend(self, texts: list[bytes]) -> str:
        """Store a list, given its items' texts, on top of the longest list stored before that begins it."""
        digests = self._prefix_digests(texts)
        known = next((found for digest in reversed(digests) if (found := self._lists.get(digest))), None)
        start = known.length if known is not None else 0
        if known is not None and start == len(texts):
            return known.ref
        # Where a caching mark moves on with each turn, the last item changes and those before it do not.
        common = self._recent.common_start(texts)
        if start < common < len(texts) and sum(map(len, texts[start:common])) >= WORTH_SHARING:
            head = texts[:common]
            known = self._append(known, head, self._prefix_digests(head)[-1])
        return self._append(known, texts, digests[-1]).ref

    def _append(self, known: _List | None, texts: list[bytes], digest: bytes) -> _List:
        """Store a list that begins as a known one does, if one is known."""
        length = len(texts)
        if known is None:
            ref = self._put(b"[" + b",".join(texts) + b"]")
            entry = _List(ref, length, 0, ((ref, 0),), length)
        elif known.hops < CHAIN_LENGTH:
            ref = self._put(list_tag([known.ref], texts[known.length :]))
            entry = known._replace(ref=ref, length=length, hops=known.hops + 1)
        else:
            chunk = self._put(b"[" + b",".join(texts[known.base_length : known.length]) + b"]")
            base = self._merged((*known.base, (chunk, 0)))
            ref = self._put(list_tag([part for part, _ in base], texts[known.length :]))
            entry = _List(ref, length, 0, base, known.length)
        self._remember(digest, entry)
        return entry

    def _prefix_digests(self, texts: list[bytes]) -> list[bytes]:
        """Return a digest of the first so many items, for every length that a list stored before has, and of all."""
        length = len(texts)
        lengths = self._lengths[: bisect_left(self._lengths, length)]
        hasher = hashlib.sha256()
        digests, start = [], 0
        for end in (*lengths, length):
            hasher.update(b",".join(texts[start:end]) + b",")
            digests.append(hasher.copy().digest())
            start = end
        return digests

    def _remember(self, digest: bytes, entry: _List) -> None:
        self._lists[digest] = entry
        place = bisect_left(self._lengths, entry.length)
        if self._lengths[place : place + 1] != [entry.length]:
            self._lengths.insert(place, entry.length)
        if len(self._lists) > LISTS_KEPT:
            for old in list(islice(self._lists, LISTS_KEPT // 4)):
                del self._lists[old]
            self._lengths = sorted({kept.length for kept in self._lists.values()})

    def _merged(self, base: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Put the last ``FAN_OUT`` parts of one level into one part of the next, as in a B-tree that only grows."""
        while len(base) >= FAN_OUT and base[-FAN_OUT][1] == base[-1][1]:
            whole = self._put(list_tag([part for part, _ in base[-FAN_OUT:]], []))
            base = (*base[:-FAN_OUT], (whole, base[-1][1] + 1))
        return base
