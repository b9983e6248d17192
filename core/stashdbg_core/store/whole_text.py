"""Whole values as text: shared pieces put in by splicing, so that one fast parse makes the tree.

Sound because the text of a tag, spelled as we write it, cannot occur inside a JSON string, whose quotes are escaped. A
value that holds a tag in another spelling, is large, deep or odd is left to ``assembly``, which checks every limit.
"""

from __future__ import annotations

import re

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.parse import parse_json
from stashdbg_core.store.assembly import Fetch, assemble
from stashdbg_core.store.sharing_tags import may_share

MAX_TEXT = 4_000_000
"""Bytes of a whole text that is made here."""
KEPT_BYTES = 8_000_000
_HOPS = 64
_REF = re.compile(rb'\{"\$stash":"ref","ref":"([^"\\]+)"\}')
_LIST = re.compile(rb'\{"\$stash":"list","parts":\[((?:"[^"\\]+",?)*)\],"items":')
_PART = re.compile(rb'"([^"]+)"')
_skip = msgspec.json.Decoder(msgspec.Raw).decode
_parse = msgspec.json.Decoder().decode


class _Odd(Exception):
    """This value is not for splicing."""


class WholeTexts:
    """Makes whole texts of the values of one table and remembers those of its pieces.

    Args:
        fetch: Returns the JSON text of a ref, checked; what it raises is passed on.
    """

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._known: dict[str, bytes] = {}
        self._room = KEPT_BYTES

    def text(self, raw: bytes) -> bytes | None:
        """Return the whole text of the value that ``raw`` is; None if it takes ``assemble`` to tell."""
        try:
            return self._whole(raw, _HOPS) if may_share(raw) else raw
        except _Odd:
            return None

    def tree(self, raw: bytes) -> Json:
        """Return the whole tree of the value that ``raw`` is.

        Raises:
            StashError: As ``assemble``.
        """
        if not may_share(raw):
            return parse_json(raw)
        text = self.text(raw)
        if text is not None:
            try:
                return _parse(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                pass
        return assemble(raw, self._fetch)

    def _whole(self, raw: bytes, hops: int) -> bytes:
        tags = raw.count(b'"$stash"')
        if not hops or b"\\u00" in raw or tags != raw.count(b'"$stash":"'):
            raise _Odd
        if not tags:
            return raw
        found = _LIST.match(raw)
        body = raw if found is None else _items(raw, found.end())
        uses = _REF.findall(body)
        if body.count(b'"$stash":"ref"') != len(uses) or b'"$stash":"list"' in body:
            raise _Odd
        if uses:
            body = self._spliced(body, uses, hops)
        if found is None:
            return body
        lists = [self._piece(ref, hops) for ref in _PART.findall(found.group(1))]
        if any(part[:1] != b"[" or part[-1:] != b"]" for part in lists):
            raise _Odd
        return _joined([*lists, body])

    def _spliced(self, body: bytes, uses: list[bytes], hops: int) -> bytes:
        pieces = {ref: self._piece(ref, hops) for ref in dict.fromkeys(uses)}
        if sum(len(pieces[ref]) for ref in uses) > MAX_TEXT:
            raise _Odd
        return _REF.sub(lambda use: pieces[use.group(1)], body)

    def _piece(self, ref: bytes, hops: int) -> bytes:
        name = ref.decode("utf-8", "replace")
        known = self._known.get(name)
        if known is None:
            raw = self._fetch(name)
            known = self._whole(raw, hops - 1) if may_share(raw) else raw
            self._room -= len(known)
            if self._room < 0:
                self._known.clear()
                self._room = KEPT_BYTES - len(known)
            self._known[name] = known
        return known


def _items(raw: bytes, start: int) -> bytes:
    """Return the text of a list tag's items: all that stands before its last bracket, if that is one list."""
    items = raw[start:-1]
    try:
        if items[:1] == b"[" and raw[-1:] == b"}" and _skip(items):
            return items
    except (msgspec.DecodeError, RecursionError):
        pass
    raise _Odd


def _joined(lists: list[bytes]) -> bytes:
    """Return the text of the list of all items of these lists."""
    if sum(map(len, lists)) > MAX_TEXT:
        raise _Odd
    return b"[" + b",".join(inner for part in lists if (inner := part[1:-1].strip())) + b"]"
