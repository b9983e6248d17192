"""A value as it is at this moment, as bytes: what a recorder takes of a live object.

Nothing of the live object is kept. A plain value costs one walk over its types and one pass of the fast encoder.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.parse import parse_json
from stashdbg_core.values.encode import NOT_FAST, fast_stored, stored_carefully
from stashdbg_core.values.losses import Loss
from stashdbg_core.values.plain import is_plain_value
from stashdbg_core.values.registry import TypeRegistry

_UNKNOWN = object()


class Snapshot:
    """The stored form of a value, its tree, and what could not be stored.

    Args:
        stored: The stored form.
        tree: Its tree, if it is at hand; else it is parsed when asked for.
        losses: What could not be stored.
    """

    __slots__ = ("_tree", "losses", "stored")

    def __init__(self, stored: bytes, tree: Json = _UNKNOWN, losses: tuple[Loss, ...] = ()) -> None:
        self.stored = stored
        self.losses = losses
        self._tree = tree

    @property
    def tree(self) -> Json:
        """The JSON tree; shares nothing with the live value."""
        if self._tree is _UNKNOWN:
            self._tree = parse_json(self.stored)
        return self._tree


def snapshot(value: Any, types: TypeRegistry | None = None) -> Snapshot:
    """Take a snapshot of any value; never raises for the value's sake.

    Args:
        value: Any object.
        types: As for ``encode_value``.
    """
    plain = plain_stored(value)
    if plain is not None:
        return Snapshot(plain)
    stored, losses = stored_carefully(value, types)
    return Snapshot(stored, losses=losses)


def plain_stored(value: Any) -> bytes | None:
    """Return the stored form of a value that is plain JSON throughout, None for any other; never raises."""
    if is_plain_value(value):
        try:
            return fast_stored(value)
        except NOT_FAST:
            pass
    return None
