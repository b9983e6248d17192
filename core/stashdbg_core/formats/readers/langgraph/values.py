"""Values that LangGraph stored, as data: what names a Python class stays a name, and nothing is imported or called.

LangGraph's own reader imports modules that the file names and calls what it finds there; this one gives
``{"$lc": "module.Class", "args": …}`` in the place of such an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.parse import parse_json

LC = "$lc"
"""Names the class of an object; its ``args`` are beside it."""
_DEPTH = 100
"""Objects within objects; deeper ones stay bytes."""
_PICKLE = b"\x80"
"""How pickles begin; as msgpack it is an empty map, which no checkpoint is."""
_NUMPY, _DELTA = 6, 7
"""Kinds of extension that are no class and its arguments: an array, a whole channel."""


class Unreadable(Exception):
    """A value that is kept as the bytes it was stored in; says why."""


def stored_value(kind: object, data: object) -> Json:
    """Return a value as data.

    Args:
        kind: Which of LangGraph's spellings it is in; None in files that do not say.
        data: What was stored.

    Raises:
        Unreadable: It has to stay as it is.
    """
    if kind == "null" or data is None:
        return None
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    if not isinstance(raw, bytes):
        return raw
    if kind in ("bytes", "bytearray"):
        return raw
    if kind is None:
        kind = "json" if raw[:1] in (b"{", b"[", b'"') else "pickle" if raw[:1] == _PICKLE else "msgpack"
    if kind == "json":
        return _json(raw)
    if kind == "msgpack":
        return _msgpack(raw)
    if kind == "pickle":
        raise Unreadable("pickled values would run code of the file")
    raise Unreadable("it is encrypted" if "+" in str(kind) else f"kind {kind} is not known")


def fields_of(value: Json) -> Json:
    """Return the fields of an object, and what is none as it is."""
    return value["args"] if isinstance(value, dict) and LC in value and "args" in value else value


def class_of(value: Json) -> str:
    """Return the name of an object's class, without its module; empty for what is no object."""
    name = value.get(LC) if isinstance(value, dict) else None
    return name.rpartition(".")[2] if isinstance(name, str) else ""


def mapping(value: Json) -> Mapping[Any, Any]:
    """Return an object's fields, or an empty mapping for what has none."""
    return object_of(fields_of(value))


def _json(raw: bytes) -> Json:
    try:
        return parse_json(raw)
    except StashError as error:
        raise Unreadable(error.message) from error


def _msgpack(raw: bytes, depth: int = 0) -> Json:
    def extension(code: int, inner: memoryview) -> Json:
        data = bytes(inner)
        if depth >= _DEPTH:
            return {LC: f"extension {code}", "args": data}
        return _object(code, _msgpack(data, depth + 1), data)

    try:
        return msgspec.msgpack.decode(raw, ext_hook=extension)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError, OverflowError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from error


def _object(code: int, told: Json, data: bytes) -> Json:
    """Return an object by its class and arguments, as one of the kinds of extension spells it."""
    if code == _DELTA:
        return told
    if code == _NUMPY and isinstance(told, list) and len(told) == 4:
        names = ("dtype", "shape", "order", "data")
        return {LC: "numpy.ndarray", "args": dict(zip(names, told, strict=True))}
    if isinstance(told, list) and len(told) >= 3 and isinstance(told[0], str) and isinstance(told[1], str):
        return {LC: f"{told[0]}.{told[1]}", "args": told[2]}
    return {LC: f"extension {code}", "args": data}
