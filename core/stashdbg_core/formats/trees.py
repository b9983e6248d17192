"""Trees of foreign files made storable: what JSON has not is tagged, and data that looks like a tag of ours is escaped.

``images.Tagged`` alone is a tag; binary content under one is stored once, apart, and never searched for secrets.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from stashdbg_core import tags
from stashdbg_core.canonical import Json, SpelledNumber, encode_plain, is_plain, stored_form
from stashdbg_core.formats.images import Tagged

_MARK = b'"$stash":'


def settled(tree: Json, put: Callable[[bytes], str]) -> tuple[Json, bytes]:
    """Return a tree that can be stored, and its stored form; the tree itself if nothing had to change.

    Args:
        tree: What a reader found. Bytes, tuples, keys that are no text, NaN and dates of YAML are all right.
        put: Stores one piece's stored form and returns its ref.
    """
    if is_plain(tree) if type(tree) is dict or type(tree) is list else is_plain([tree]):
        text = encode_plain(tree)
        if _MARK not in text:
            return tree, text
    settled_tree = _walk(tree, put)
    return settled_tree, stored_form(settled_tree)


def _walk(tree: Json, put: Callable[[bytes], str]) -> Json:
    root: list[Any] = [tree]
    pending: list[tuple[Any, Any]] = [(root, 0)]
    while pending:
        parent, place = pending.pop()
        node = parent[place]
        kind = type(node)
        if kind is Tagged:
            if node.get(tags.TAG) == tags.BYTES:
                parent[place] = {tags.TAG: tags.REF, "ref": put(stored_form(dict(node)))}
            else:
                parent[place] = dict(node)
        elif isinstance(node, dict):
            copy: Any = {key if type(key) is str else _key(key): value for key, value in node.items()}
            if tags.TAG in copy and not _is_float_tag(copy):
                pairs = [[key, value] for key, value in copy.items()]
                pending += [(pair, 1) for pair in pairs]
                copy = {tags.TAG: tags.DICT, "items": pairs}
            else:
                pending += [(copy, key) for key, value in copy.items() if type(value) is not str]
            parent[place] = copy
        elif isinstance(node, list | tuple | set | frozenset):
            copy = list(node)
            pending += [(copy, position) for position in range(len(copy))]
            parent[place] = copy
        else:
            parent[place] = _leaf(node, put)
    return root[0]


def _leaf(node: Any, put: Callable[[bytes], str]) -> Json:
    if node is None or type(node) in (str, int, bool, SpelledNumber):
        return node
    if isinstance(node, float):
        return float(node) if node - node == 0 else {tags.TAG: tags.FLOAT, "value": _not_finite(node)}
    if isinstance(node, bytes | bytearray):
        text = base64.b64encode(node).decode("ascii")
        return {tags.TAG: tags.REF, "ref": put(stored_form({tags.TAG: tags.BYTES, "base64": text}))}
    isoformat = getattr(node, "isoformat", None)
    return isoformat() if isoformat is not None else str(node)


def _not_finite(number: float) -> str:
    return "nan" if number != number else "inf" if number > 0 else "-inf"


def _is_float_tag(node: dict[str, Any]) -> bool:
    """Tell whether it is what the tolerant parser makes of a bare NaN."""
    return len(node) == 2 and node.get(tags.TAG) == tags.FLOAT and node.get("value") in ("nan", "inf", "-inf")


def _key(key: object) -> str:
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)
