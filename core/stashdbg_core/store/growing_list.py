"""A list that grows item by item, stored each time as what came since.

It is stored as ``Sharer`` stores a list that extends an earlier one, with the same bounds on chains, but knows what it
extends: storing it again costs the new items, however long it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stashdbg_core.store.sharing import CHAIN_LENGTH, merged_parts
from stashdbg_core.store.sharing_tags import list_tag


class _State(NamedTuple):
    ref: str
    length: int
    """Items under ``ref``."""
    hops: int
    base: tuple[tuple[str, int], ...]
    base_length: int


class GrowingList:
    """Items in stored form, their large pieces shared already; see ``Sharer.inline``.

    Args:
        put: Stores one piece's stored form and returns its ref.
    """

    def __init__(self, put: Callable[[bytes], str]) -> None:
        self._put = put
        self._state: _State | None = None
        self._since: list[bytes] = []
        """Items from ``base_length`` on."""
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def append(self, item: bytes) -> None:
        """Add an item."""
        self._since.append(item)
        self._length += 1

    def copy(self) -> GrowingList:
        """Return a list that begins as this one does and grows on its own."""
        copy = GrowingList(self._put)
        copy._state, copy._since, copy._length = self._state, self._since.copy(), self._length
        return copy

    def ref(self) -> str:
        """Store the list as it is now, and return its ref."""
        known = self._state
        if known is not None and known.length == self._length:
            return known.ref
        if known is None:
            ref = self._put(b"[" + b",".join(self._since) + b"]")
            self._state = _State(ref, self._length, 0, ((ref, 0),), self._length)
            self._since = []
            return ref
        new = self._since[known.length - known.base_length :]
        if known.hops < CHAIN_LENGTH:
            ref = self._put(list_tag([known.ref], new))
            self._state = known._replace(ref=ref, length=self._length, hops=known.hops + 1)
            return ref
        chunk = self._put(b"[" + b",".join(self._since[: known.length - known.base_length]) + b"]")
        base = merged_parts(self._put, (*known.base, (chunk, 0)))
        ref = self._put(list_tag([part for part, _ in base], new))
        self._state = _State(ref, self._length, 0, base, known.length)
        self._since = new
        return ref
