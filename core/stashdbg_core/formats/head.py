"""What detection may look at: the beginning of a file, and what kind of file it is.

Everything past the first bytes is worked out when asked for, once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.zip_members import ZIP_MAGICS, ZipMembers
from stashdbg_core.parse import BOM, parse_json
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, skip_space, skip_string, skip_value

HEAD = 1 << 16
LINES = 20
_LINES_WITHIN = 1 << 22
"""Bytes within which the first lines are looked for."""
_WHOLE = 256 << 20
"""Up to this size one JSON object is looked at whole; of a larger one, the beginning."""
_SMALL = 4096
"""Bytes of a value that is worth parsing."""
_SQLITE = b"SQLite format 3\0"
_LIMITS = Limits()
_raw_dict = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Head:
    """The beginning of a foreign file.

    Args:
        source: The file.
    """

    def __init__(self, source: ForeignSource) -> None:
        self._source = source
        self.name = source.name
        """A hint only, never enough alone."""
        self.data = source.head(HEAD)
        """The first 64 KiB, unpacked, without a byte-order mark."""
        self.is_sqlite = self.data.startswith(_SQLITE)

    @cached_property
    def lines(self) -> Sequence[dict[str, Any]]:
        """The first 20 lines that are JSON objects; empty if the file is not JSON lines."""
        data = self._source.prefix(_LINES_WITHIN).removeprefix(BOM)
        texts = [text for text in data.split(b"\n") if text.strip(b"\0 \t\r")][: 3 * LINES]
        if len(data) >= _LINES_WITHIN and len(texts) > 1:
            texts = texts[:-1] if len(texts) < 3 * LINES else texts
        found: list[dict[str, Any]] = []
        odd = int(data[:4096].lstrip(b" \t\r\n\0")[:1] not in (b"{", b"[", b""))
        for text in texts:
            tree = _object(text.strip(b"\0 \t\r")) if b"{" in text[:8] else None
            if tree is None:
                odd += 1
            else:
                found.append(tree)
                if len(found) == LINES:
                    break
        return found if len(found) >= odd else []

    @cached_property
    def top(self) -> Mapping[str, Any] | None:
        """The keys of a file that is one JSON object, its small values parsed, ``...`` for large ones; None else."""
        if self.data.lstrip(b" \t\r\n")[:1] != b"{" or len(self.lines) > 1:
            return None
        return self._keys(self._whole)

    @cached_property
    def first(self) -> dict[str, Any] | None:
        """The first element of a file that is a JSON array, if it is an object; None else."""
        if self.data.lstrip(b" \t\r\n")[:1] != b"[":
            return None
        data = self._source.prefix(_LINES_WITHIN).removeprefix(BOM)
        start = skip_space(data, data.index(b"[") + 1)
        try:
            return _object(data[start : skip_value(data, start, _LIMITS)])
        except (ScanStop, StashError):
            return None

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of a zip archive's members; empty for other files."""
        if not self.data.startswith(ZIP_MAGICS):
            return frozenset()
        try:
            return frozenset(ZipMembers(self._source).members)
        except StashError:
            return frozenset()

    @cached_property
    def tables(self) -> Mapping[str, frozenset[str]]:
        """The columns of each plain table of an SQLite database; empty for other files."""
        if not self.is_sqlite:
            return {}
        from stashdbg_core.formats.sqlite_file import tables_of

        return tables_of(self._source)

    def inside(self, key: str) -> Mapping[str, Any] | None:
        """Return the keys of an object that is a top-level value, as ``top`` does for the file; None if it is none."""
        if self.top is None or key not in self.top:
            return None
        if self.top[key] is not ...:
            return self.top[key] if isinstance(self.top[key], dict) else None
        at = re.search(rb'"%b"[ \t\r\n]*:[ \t\r\n]*' % re.escape(key.encode()), self._whole)
        return None if at is None else self._keys(self._whole[at.end() :])

    @cached_property
    def _whole(self) -> bytes:
        return (
            self._source.data() if self._source.size <= _WHOLE else self._source.prefix(_LINES_WITHIN)
        ).removeprefix(BOM)

    def _keys(self, data: bytes) -> Mapping[str, Any] | None:
        try:
            return {key: _small(bytes(value)) for key, value in _raw_dict(data).items()}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _scanned(data)


def _small(raw: bytes) -> Any:
    if len(raw) > _SMALL:
        return ...
    try:
        return parse_json(raw)
    except StashError:
        return ...


def _object(text: bytes) -> dict[str, Any] | None:
    try:
        tree: Json = parse_json(text)
    except StashError:
        return None
    return tree if isinstance(tree, dict) else None


def _scanned(data: bytes) -> Mapping[str, Any] | None:
    """Return the keys of an object that strict parsers refuse, or whose end is not there; None if it is none."""
    found: dict[str, Any] = {}
    try:
        pos = skip_space(data, 0)
        if data[pos : pos + 1] != b"{":
            return None
        pos = skip_space(data, pos + 1)
        while data[pos : pos + 1] == b'"':
            end = skip_string(data, pos)
            key = str(parse_json(data[pos:end]))
            pos = skip_space(data, end)
            if data[pos : pos + 1] != b":":
                return None
            start = skip_space(data, pos + 1)
            found[key] = ...
            end = skip_value(data, start, _LIMITS)
            found[key] = _small(data[start:end])
            pos = skip_space(data, skip_space(data, end) + 1)
    except (ScanStop, StashError):
        return found
    return found
