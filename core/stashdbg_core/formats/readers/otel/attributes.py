"""Attributes of OpenTelemetry spans as plain JSON: typed values, ids in every spelling, JSON inside strings.

Nothing here raises for what a file holds; what cannot be read stays as it was found.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.images import Tagged
from stashdbg_core.parse import parse_json
from stashdbg_core.tags import BYTES, TAG

_DEPTH = 100
_INTEGER = re.compile(r"-?\d{1,40}")
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{1,32})")
_JSON_START = ("{", "[", '"')
_PARTS = 24


def any_value(node: Json, depth: int = _DEPTH) -> Json:
    """Return an OTLP ``AnyValue`` as JSON; what is not one is returned as it is."""
    if not isinstance(node, dict) or len(node) > 1 or not depth:
        return node
    for name, value in node.items():
        kind = name.replace("_", "").lower()
        if kind in ("stringvalue", "boolvalue"):
            return value
        if kind == "intvalue":
            return int(value) if isinstance(value, str) and _INTEGER.fullmatch(value) else value
        if kind == "doublevalue":
            return value
        if kind == "bytesvalue":
            return Tagged({TAG: BYTES, "base64": value}) if isinstance(value, str) else value
        if kind == "arrayvalue":
            items = value.get("values") if isinstance(value, dict) else None
            return [any_value(item, depth - 1) for item in items] if isinstance(items, list) else []
        if kind == "kvlistvalue":
            return attributes_of(value.get("values") if isinstance(value, dict) else None, depth - 1)
    return node or None


def attributes_of(node: Json, depth: int = _DEPTH) -> dict[str, Json]:
    """Return attributes by name, from OTLP's list of pairs or from the plain map that SDKs dump."""
    if isinstance(node, dict):
        return node
    found: dict[str, Json] = {}
    for pair in node if isinstance(node, list) else ():
        if isinstance(pair, dict) and isinstance(pair.get("key"), str):
            found[pair["key"]] = any_value(pair.get("value"), depth)
    return found


def hex_id(node: Json, digits: int) -> str:
    """Return a trace's or span's id as ``digits`` lower-case hex digits; empty for none.

    Knows hex with and without ``0x``, the base64 that plain protobuf JSON writes, and the integers that SDK dumps hold.
    """
    if type(node) is int and node > 0:
        return f"{node:0{digits}x}"
    if not isinstance(node, str) or not node.strip():
        return ""
    text = node.strip()
    found = _HEX.fullmatch(text)
    if found is None:  # the padding of base64 is no hex digit
        try:
            raw = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        if len(raw) * 2 != digits:
            return text[:200]
        text = raw.hex()
    else:
        text = found.group(1).lower()
    return "" if not text.strip("0") else text.zfill(digits)


def parsed(node: Json) -> tuple[Json, str | None]:
    """Return the JSON that stands in a string, and why it could not be read; anything else as it is.

    A string that does not start like an object, a list or a quoted text is a text of its own.
    """
    if not isinstance(node, str) or not node.lstrip().startswith(_JSON_START):
        return node, None
    try:
        return parse_json(node.encode("utf-8", "surrogatepass")), None
    except StashError:
        looks_whole = node.rstrip().endswith(("}", "]", '"'))
        return node, None if looks_whole or node.lstrip().startswith('"') else "its JSON ends early at the source"


def unflatten(attributes: Mapping[str, Json], prefix: str) -> Json:
    """Return the tree that attributes named ``prefix.a.0.b`` spell out; None if there are none.

    A level whose names are all numbers becomes a list in their order. A value that stands where others nest deeper is
    kept under the empty name.
    """
    root: dict[str, Any] = {}
    start = prefix + "."
    for name, value in attributes.items():
        if not name.startswith(start):
            continue
        parts = name[len(start) :].split(".", _PARTS)
        level = root
        for part in parts[:-1]:
            inner = level.get(part)
            if not isinstance(inner, _Level):
                inner = level[part] = _Level({} if inner is None else {"": inner})
            level = inner
        last = parts[-1]
        if isinstance(level.get(last), _Level):
            level[last][""] = value
        else:
            level[last] = value
    return _listed(_Level(root)) if root else None


class _Level(dict[str, Any]):
    """A level of names, told apart from an attribute's own value."""


def _listed(node: Any) -> Json:
    if not isinstance(node, _Level):
        return node
    if all(name.isascii() and name.isdigit() for name in node):
        return [_listed(node[name]) for name in sorted(node, key=lambda name: (len(name), name))]
    return {name: _listed(value) for name, value in node.items()}
