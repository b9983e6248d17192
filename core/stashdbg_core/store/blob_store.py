"""Values by content, in memory: the table a recorder, a fork or an importer fills.

Refs never change meaning: putting is adding, and equal stored pieces are kept once. Threads take turns to call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stashdbg_core.canonical import Json, content_ref, stored_form
from stashdbg_core.model import BlobTable, Payload
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.payloads import check_payload, usable
from stashdbg_core.store.sharing import Sharer
from stashdbg_core.store.whole_text import WholeTexts


class BlobStore(BlobTable):
    """A ``BlobTable`` in memory, on top of another one if wished.

    Args:
        base: A table whose values are seen here too; it is never written to.
    """

    def __init__(self, base: BlobTable | None = None) -> None:
        self._base = base
        self._raw: dict[str, bytes] = {}
        self._unchecked: set[str] = set()
        """Refs of somebody else's making, not yet known to fit what they stand for."""
        self._sharer = Sharer(self.put_stored)
        self._whole = WholeTexts(self._fetch)
        self.stored_bytes = 0
        """Bytes of stored form held here, those of ``base`` not counted."""

    def put(self, tree: Json, stored: bytes | None = None) -> str:
        """Store a whole tree, its large pieces shared, and return its ref.

        Args:
            tree: A JSON tree, tags for what JSON cannot hold in it.
            stored: Its stored form, if known.

        Raises:
            TypeError: The tree holds a type that JSON has not.
            ValueError: The tree holds a NaN or an infinity.
        """
        return self._sharer.store(tree, stored)

    def share_stored(self, stored: bytes) -> str:
        """Store a whole value already in stored form, its large pieces shared, and return its ref."""
        return self._sharer.store_text(stored)

    def put_stored(self, stored: bytes) -> str:
        """Store one piece already in stored form, as it is, and return its ref."""
        ref = content_ref(stored)
        if ref not in self._raw:
            self._raw[ref] = stored
            self.stored_bytes += len(stored)
        return ref

    def put_raw(self, ref: str, raw: bytes) -> None:
        """Store JSON text under a ref of somebody else's making; the first text under a ref stays."""
        if ref not in self._raw:
            self._raw[ref] = raw
            self.stored_bytes += len(raw)
            self._unchecked.add(ref)

    def copy(self) -> BlobStore:
        """Return a store with the same values, which does not change with this one."""
        copy = BlobStore(self._base)
        copy._raw = self._raw.copy()
        copy._unchecked = self._unchecked.copy()
        copy.stored_bytes = self.stored_bytes
        return copy

    def payload(self, ref: str) -> Payload:
        raw = self._raw.get(ref)
        if raw is None:
            return self._base.payload(ref) if self._base is not None else Payload(ref, "missing", problem="not stored")
        if ref in self._unchecked:
            checked = check_payload(ref, raw, Limits())
            if checked.problem is not None:
                return checked
            self._unchecked.discard(ref)
        return Payload(ref, "ok", raw)

    def tree(self, ref: str) -> Json:
        return self._whole.tree(self._fetch(ref))

    def text(self, ref: str) -> bytes:
        text = self._whole.text(self._fetch(ref))
        return text if text is not None else stored_form(self.tree(ref))

    def refs(self) -> Iterator[str]:
        if self._base is None:
            yield from self._raw
            return
        yield from self._base.refs()
        yield from (ref for ref in self._raw if ref not in self._in_base)

    def _fetch(self, ref: str) -> bytes:
        return usable(self.payload(ref)).raw

    @property
    def _in_base(self) -> BlobTable | Mapping[str, Any]:
        return self._base if self._base is not None else {}

    def __getitem__(self, ref: str) -> Json:
        if ref not in self:
            raise KeyError(ref)
        return self.tree(ref)

    def __contains__(self, ref: object) -> bool:
        return ref in self._raw or ref in self._in_base

    def __iter__(self) -> Iterator[str]:
        return self.refs()

    def __len__(self) -> int:
        return len(self._in_base) + sum(ref not in self._in_base for ref in self._raw)
