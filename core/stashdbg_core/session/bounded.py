"""A value's tree for a glance: shared pieces put in while they are small, left out beyond a budget."""

from __future__ import annotations

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.store.assembly import assemble
from stashdbg_core.store.sharing_tags import may_share

_LEFT_OUT = b'"\xe2\x80\xa6"'


def glance(recording: Recording, raw: bytes, budget: int) -> Json:
    """Return the tree of a value of which at most ``budget`` bytes of shared pieces are read.

    A piece beyond the budget is ``…``; where that does not fit, all pieces stay references.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: the text is not JSON.
    """
    if not may_share(raw):
        return parse_json(raw)
    size_of = getattr(recording.blobs, "size_of", None)
    left = budget

    def fetch(ref: str) -> bytes:
        nonlocal left
        size = size_of(ref) if size_of is not None else None
        if left <= 0 or (size is not None and size > left):
            return _LEFT_OUT
        piece = recording.blobs.payload(ref)
        if piece.state != "ok" or len(piece.raw) > left:
            return _LEFT_OUT
        left -= len(piece.raw)
        return piece.raw

    try:
        return assemble(raw, fetch, max_size=4 * budget)
    except StashError:
        return parse_json(raw)
