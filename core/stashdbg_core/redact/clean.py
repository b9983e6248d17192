"""Which stored values cannot hold a secret: each piece is looked at once, however many values share it."""

from __future__ import annotations

from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.store.assembly import pieces_of


class CleanBlobs:
    """Remembers, for the blobs of one table, whether they and the pieces in them are above suspicion."""

    def __init__(self, blobs: BlobTable, redactor: Redactor) -> None:
        self._blobs = blobs
        self._redactor = redactor
        self._suspect: dict[str, bool] = {}
        self._pieces: dict[str, tuple[str, ...]] = {}
        self.reached: set[str] = set()
        """Refs seen from values asked about, as pieces of them."""

    def is_clean(self, ref: str) -> bool:
        """Tell whether the value under ``ref``, its pieces included, surely holds nothing to mask."""
        pending, seen, clean = [ref], {ref}, True
        while pending:
            piece = pending.pop()
            clean &= not self._suspects(piece)
            for inner in self._pieces[piece]:
                if inner not in seen:
                    seen.add(inner)
                    self.reached.add(inner)
                    pending.append(inner)
        return clean

    def pieces(self, ref: str) -> tuple[str, ...]:
        """Return the refs used directly inside a value already asked about."""
        return self._pieces[ref]

    def _suspects(self, ref: str) -> bool:
        known = self._suspect.get(ref)
        if known is None:
            raw = self._blobs.payload(ref).raw
            # Foreign files may spell letters as escapes, which a search of their bytes would not see.
            known = self._suspect[ref] = b"\\u00" in raw or self._redactor.suspects(raw)
            try:
                self._pieces[ref] = pieces_of(raw) if raw else ()
            except StashError:
                self._pieces[ref] = ()
        return known
