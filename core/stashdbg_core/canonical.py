"""The two byte forms of a JSON value: stored and canonical.

*Stored form* is compact UTF-8 JSON with keys in insertion order; a recording holds its values in it. *Canonical form*
is the same with keys in code-point order; two values are equal exactly when their canonical forms are.
``docs/format.md`` specifies both, with vectors. A JSON tree here is ``None``, ``bool``, ``int``, ``float``, ``str``,
``list`` and ``dict`` with ``str`` keys, exactly these types, plus ``SpelledNumber`` for what no Python number holds.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any
"""A JSON tree; ``Any`` because a recursive alias makes every walk over one a fight with the type checker."""

REF_PREFIX = "sha256:"

_fast_stored = msgspec.json.Encoder()
_fast_canonical = msgspec.json.Encoder(order="sorted")
_escape_string = json.encoder.encode_basestring
_SURROGATE = re.compile("[\ud800-\udfff]")
_FAST_DEPTH = 200
"""Up to here the recursive encoder is safe on any thread's stack; deeper trees take the iterative one."""


class SpelledNumber(float):
    """A JSON number that neither ``int`` nor ``float`` can hold, kept as it was spelled.

    As a float it is the nearest one, an infinity for ``1e400``; it equals only the same spelling.
    """

    __slots__ = ("token",)
    token: str

    def __new__(cls, token: str) -> SpelledNumber:
        number = super().__new__(cls, token)
        number.token = token
        return number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpelledNumber) and other.token == self.token

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.token)

    def __repr__(self) -> str:
        return self.token


def stored_form(tree: Json) -> bytes:
    """Return the stored form of a JSON tree.

    Raises:
        TypeError: The tree holds a type that JSON has not.
        ValueError: The tree holds a NaN or an infinity, which stored form only has tagged.
    """
    return encode_plain(tree) if is_plain(tree) else _exact(tree, sort=False)


def canonical_form(tree: Json) -> bytes:
    """Return the canonical form of a JSON tree; equal values have equal bytes.

    Raises:
        TypeError: The tree holds a type that JSON has not.
        ValueError: The tree holds a NaN or an infinity.
    """
    if is_plain(tree):
        try:
            return _fast_canonical.encode(tree)
        except UnicodeEncodeError:
            pass
    return _exact(tree, sort=True)


def encode_plain(tree: Json) -> bytes:
    """Return the stored form of a tree already known to be plain (see ``is_plain``)."""
    try:
        return _fast_stored.encode(tree)
    except UnicodeEncodeError:  # a lone surrogate
        return _exact(tree, sort=False)


def content_ref(stored: bytes) -> str:
    """Return the reference of a value in stored form: ``sha256:`` and 64 hex digits."""
    return REF_PREFIX + hashlib.sha256(stored).hexdigest()


def content_digest(tree: Json) -> str:
    """Return 64 hex digits that equal values share, whatever their key order or sharing."""
    return hashlib.sha256(canonical_form(tree)).hexdigest()


def is_plain(tree: Json) -> bool:
    """Tell whether the fast encoder spells ``tree`` exactly: JSON types alone, finite, not too deep.

    The fast encoder turns tuples, sets, bytes, enums and dataclasses into JSON without a word, and NaN into null.
    """
    try:
        return _is_plain([tree], _FAST_DEPTH + 1)
    except RecursionError:  # called near the limit
        return False


def _is_plain(tree: Json, depth: int) -> bool:
    """Tell it of a list or dict; ``depth`` counts this one."""
    if not depth:
        return False
    if type(tree) is dict:
        for key in tree:
            if type(key) is not str:
                return False
        tree = tree.values()
    for item in tree:
        kind = type(item)
        if kind is str or kind is int or kind is bool or item is None:
            continue
        if kind is float:
            if item - item != 0.0:
                return False
        elif kind is dict or kind is list:
            if not _is_plain(item, depth - 1):
                return False
        else:
            return False
    return True


def spell_number(number: float) -> str:
    """Return the stored spelling of an ``int``, ``float`` or ``SpelledNumber``.

    Raises:
        ValueError: ``number`` is NaN or infinite.
    """
    if type(number) is SpelledNumber:
        return number.token
    if number - number != 0:
        raise ValueError("NaN and infinities have no stored form of their own; tag them")
    return _fast_stored.encode(number).decode("ascii")


def _exact(tree: Json, *, sort: bool) -> bytes:
    """Encode without recursion and without the fast encoder's gaps; the same bytes where both can."""
    out: list[str] = []
    pending: list[Any] = [tree]
    while pending:
        item = pending.pop()
        kind = type(item)
        if kind is _Token:
            out.append(item.text)
        elif kind is str:
            out.append(_string(item))
        elif item is None or kind is bool:
            out.append({None: "null", True: "true", False: "false"}[item])
        elif kind in (int, float, SpelledNumber):
            out.append(spell_number(item))
        elif kind is list:
            pending.append(_CLOSE_LIST)
            for position in range(len(item) - 1, -1, -1):
                pending.append(item[position])
                if position:
                    pending.append(_COMMA)
            out.append("[")
        elif kind is dict:
            pending.append(_CLOSE_DICT)
            keys = sorted(item) if sort else list(item)
            for position in range(len(keys) - 1, -1, -1):
                pending.append(item[keys[position]])
                pending.append(_Token(("," if position else "") + _key(keys[position]) + ":"))
            out.append("{")
        else:
            raise TypeError(f"{kind.__qualname__} is not a JSON type")
    return "".join(out).encode("utf-8")


class _Token:
    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


_COMMA, _CLOSE_LIST, _CLOSE_DICT = _Token(","), _Token("]"), _Token("}")


def _key(key: object) -> str:
    if type(key) is not str:
        raise TypeError(f"a {type(key).__qualname__} key is not a JSON key")
    return _string(key)


def _string(text: str) -> str:
    escaped: str = _escape_string(text)
    if escaped.isascii():
        return escaped
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", escaped)
