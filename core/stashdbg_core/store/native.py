"""Whether a file begins as one of ours does, told from its first bytes."""

from __future__ import annotations

from stashdbg_core.errors import StashError
from stashdbg_core.parse import BOM
from stashdbg_core.store.journal_lines import HEADER_START
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, skip_space, skip_string, skip_value

HEAD = 1 << 16
"""Bytes that are enough to tell."""
_CONTENT = frozenset({b'"events"', b'"blobs"'})
_VERSION = b'"version"'


def is_native(head: bytes) -> bool:
    """Tell whether it is a journal, or a JSON object with a version and events or values."""
    if head.startswith(HEADER_START):
        return True
    if _VERSION not in head or not any(key in head for key in _CONTENT):
        return False
    keys = set(_first_keys(head.removeprefix(BOM)))
    return _VERSION in keys and not keys.isdisjoint(_CONTENT)


def _first_keys(head: bytes) -> list[bytes]:
    """Return the top-level keys of an object as far as it is there, quotes included."""
    keys: list[bytes] = []
    pos = skip_space(head, 0)
    if head[pos : pos + 1] != b"{":
        return keys
    pos = skip_space(head, pos + 1)
    try:
        while head[pos : pos + 1] == b'"':
            end = skip_string(head, pos)
            keys.append(head[pos:end])
            pos = skip_space(head, skip_space(head, end) + 1)
            pos = skip_space(head, skip_space(head, skip_value(head, pos, Limits())) + 1)
    except (ScanStop, StashError):
        pass
    return keys
