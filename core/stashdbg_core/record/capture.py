"""From a live value to the bytes that are stored of it: snapshot, size limit, redaction.

What comes out shares nothing with the program's objects, and holds nothing the rules mask. Capturing never raises for a
value's sake: what fails becomes a stated stand-in and a counted loss.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from stashdbg_core.calls import RedactContext
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.parse import parse_json
from stashdbg_core.record.losses import REDACTION_FAILED, UNSTORABLE_VALUE, VALUE_TOO_LARGE, Losses
from stashdbg_core.record.masking import Masking, dropped
from stashdbg_core.tags import EXCEPTION, TAG, UNSTORABLE
from stashdbg_core.values import TypeRegistry, decode_exception, decode_value, plain_stored, snapshot

Kind: TypeAlias = Literal["input", "value", "error", "chunk"]


class Capture:
    """How one recorder captures values; what it returns is their stored form."""

    def __init__(
        self, masking: Masking, losses: Losses, types: TypeRegistry | None, max_value_bytes: int | None
    ) -> None:
        self._masking = masking
        self._losses = losses
        self._types = types
        self._limit = max_value_bytes
        self._suspects = masking.suspects if masking.on else None
        if len(masking.rules) == 1 and not masking.functions:
            self._suspects = masking.rules[0].suspects

    def value(self, value: Any, channel: str, key: str, kind: Kind, seq: int) -> bytes:
        """Capture a value, an input or an exception."""
        stored = plain_stored(value)
        if stored is None:
            try:
                taken = snapshot(value, self._types)
            except Exception as error:  # noqa: BLE001 - whatever a program's object does, the program goes on
                return self.unstorable("capture failed", error)
            if taken.losses:
                self._losses.lost(UNSTORABLE_VALUE, "a value, or a part of one, cannot be stored")
            stored = taken.stored
        return self.stored(stored, channel, key, kind, seq)

    def stored(self, stored: bytes, channel: str, key: str, kind: Kind, seq: int) -> bytes:
        """Capture what is in stored form already, such as a stream."""
        if self._limit is not None and len(stored) > self._limit:
            self._losses.lost(VALUE_TOO_LARGE, "a value is larger than max_value_bytes")
            return stand_in("larger than max_value_bytes", len(stored))
        if self._suspects is None:
            return stored
        try:
            if not self._suspects(stored):
                return stored
            tree = parse_json(stored)
            masked = self._masking.tree(tree, RedactContext(channel, key, kind, seq), self._decode, self._encode)
            return stored if masked is tree else stored_form(masked)
        except Exception as error:  # noqa: BLE001 - a rule or function that fails must not put the value in clear
            self._losses.lost(REDACTION_FAILED, "redaction failed, and the value was dropped", error)
            return stored_form(dropped())

    def entry(self, key: str, value: Any) -> Json:
        """Return the tree of a fact about the run, ``meta``'s; its key counts for redaction."""
        tree = parse_json(self.value({key: value}, "", "meta", "value", -1))
        return tree[key] if isinstance(tree, dict) and key in tree else tree

    def chunk(self, value: Any) -> Json:
        """Return a private, unmasked tree of one chunk of a stream; masking sees the whole stream."""
        try:
            taken = snapshot(value, self._types)
        except Exception as error:  # noqa: BLE001 - as for values
            return parse_json(self.unstorable("capture failed", error))
        if taken.losses:
            self._losses.lost(UNSTORABLE_VALUE, "a chunk of a stream, or a part of one, cannot be stored")
        return taken.tree

    def unstorable(self, reason: str, cause: BaseException | None = None) -> bytes:
        """Count a value as lost and return its stand-in."""
        self._losses.lost(UNSTORABLE_VALUE, "a value cannot be stored", cause)
        return stand_in(reason)

    def _decode(self, tree: Json) -> Any:
        if isinstance(tree, dict) and tree.get(TAG) == EXCEPTION:
            return decode_exception(tree, self._types)
        return decode_value(tree, types=self._types, on_unstorable="stand-in")

    def _encode(self, value: Any) -> Json:
        return snapshot(value, self._types).tree


def stand_in(reason: str, size: int | None = None) -> bytes:
    """Return the stored form of the stand-in for a value that is not stored.

    Args:
        reason: Why, in words of ours.
        size: Bytes the value would have taken, if known.
    """
    tree: dict[str, Json] = {TAG: UNSTORABLE, "reason": reason}
    if size is not None:
        tree["bytes"] = size
    return stored_form(tree)
