"""The two sharing tags as text and as trees, and the escape for data that looks like one.

Only the exact shapes count: ``{"$stash":"ref","ref":TEXT}`` and ``{"$stash":"list","parts":[TEXT, …],"items":[…]}``,
keys in any order. Anything else is data, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.parse import parse_json
from stashdbg_core.tags import DICT, LIST, REF, TAG

Slot = tuple[Any, Any]
"""A place in a tree: a list and an index, or a dict and a key."""

_REF_MARK = b'"$stash":"ref"'
_LIST_MARK = b'"$stash":"list"'
_STASH = b'"$stash"'
"""Looked for after its ``$`` alone: one byte is found much faster, and most texts have none."""
_ESCAPED = re.compile(rb"\\u00(?:24|[67])")
"""The sign or a letter of a tag as an escape."""
SHARING = re.compile(
    rb'\{"\$stash":"(?:ref","ref":"(?P<ref>[^"\\]+)"\}|list","parts":\[(?P<parts>[^\]\\]*)\],"items":)'
)
"""A sharing tag as this module spells it; of a list all that stands before its items."""
_PART = re.compile(rb'"([^"]*)"')


def ref_tag(ref: str) -> bytes:
    """Return the text that stands for the value of another blob."""
    return b'{"$stash":"ref","ref":"%b"}' % ref.encode()


def list_tag(parts: Sequence[str], items: Sequence[bytes]) -> bytes:
    """Return the text of a list made of the lists of other blobs and then of items in stored form."""
    refs = ",".join(f'"{part}"' for part in parts).encode()
    return b'{"$stash":"list","parts":[%b],"items":[%b]}' % (refs, b",".join(items))


def is_ref_tag(tree: Json) -> bool:
    """Tell whether a tree is exactly a ``ref`` tag."""
    return type(tree) is dict and len(tree) == 2 and tree.get(TAG) == REF and type(tree.get("ref")) is str


def is_list_tag(tree: Json) -> bool:
    """Tell whether a tree is exactly a ``list`` tag."""
    if type(tree) is not dict or len(tree) != 3 or tree.get(TAG) != LIST or type(tree.get("items")) is not list:
        return False
    parts = tree.get("parts")
    return type(parts) is list and all(type(part) is str for part in parts)


def looks_shared(stored: bytes) -> bool:
    """Tell whether text in stored form may hold a sharing tag."""
    return b"$" in stored and _STASH in stored and (_REF_MARK in stored or _LIST_MARK in stored)


def names_tag(raw: bytes) -> bool:
    """Tell whether JSON text in any spelling may hold a tag of any kind."""
    return (b"$" in raw and _STASH in raw) or _is_escaped(raw)


def may_share(raw: bytes) -> bool:
    """Tell whether JSON text in any spelling may hold a sharing tag."""
    return (b"$" in raw and _STASH in raw and (b'"ref"' in raw or b'"parts"' in raw)) or _is_escaped(raw)


def tags_respelled(raw: bytes) -> bytes:
    """Return JSON text with its sharing tags spelled as ``SHARING`` finds them; the same text if they are."""
    found, tags = len(SHARING.findall(raw)), raw.count(_STASH)
    if found != tags and tags == raw.count(_STASH + b':"'):  # others of our spelling
        tags = raw.count(_REF_MARK) + raw.count(_LIST_MARK)
    if found == tags and not _is_escaped(raw):
        return raw
    try:
        root = [parse_json(raw)]
        pending: list[Slot] = [slot for slot, _ in tagged_slots(root)]
        while pending:
            parent, place = pending.pop()
            tag = parent[place]
            keys = (TAG, "ref") if is_ref_tag(tag) else (TAG, "parts", "items")
            parent[place] = {key: tag[key] for key in keys}
            if "items" in tag:
                pending += [slot for slot, _ in tagged_slots(tag["items"])]
        return stored_form(root[0])
    except (StashError, ValueError):
        return raw


def _is_escaped(raw: bytes) -> bool:
    return b"\\" in raw and b"\\u00" in raw and _ESCAPED.search(raw) is not None


def refs_used(text: bytes) -> Iterator[str]:
    """Yield the refs that sharing tags name in a text, spelled as ``SHARING`` finds them."""
    for use in SHARING.finditer(text):
        found = [use["ref"]] if use["ref"] is not None else _PART.findall(use["parts"])
        yield from (ref.decode("utf-8", "replace") for ref in found)


def tagged_slots(tree: Json) -> Iterator[tuple[Slot, int]]:
    """Yield the outermost sharing tags of a tree, each with its depth; the root's slot is not among them."""
    pending: list[tuple[Json, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        places = enumerate(node) if type(node) is list else node.items() if type(node) is dict else ()
        for place, child in places:
            kind = type(child)
            if kind is dict:
                if TAG in child and (is_ref_tag(child) or is_list_tag(child)):
                    yield (node, place), depth + 1
                else:
                    pending.append((child, depth + 1))
            elif kind is list:
                pending.append((child, depth + 1))


def escape_sharing_tags(tree: Json) -> Json:
    """Return a tree in which data that looks like a sharing tag is a ``dict`` tag; the same object if there is none."""
    if not _holds_tag(tree):
        return tree
    root: list[Json] = [tree]
    pending: list[Slot] = [(root, 0)]
    while pending:
        parent, place = pending.pop()
        node = parent[place]
        if type(node) is list:
            copy: Any = list(node)
            pending += [(copy, position) for position in range(len(copy))]
        elif type(node) is dict:
            copy = dict(node)
            if is_ref_tag(node) or is_list_tag(node):
                pairs = [[key, value] for key, value in node.items()]
                pending += [(pair, 1) for pair in pairs]
                copy = {TAG: DICT, "items": pairs}
            else:
                pending += [(copy, key) for key in copy]
        else:
            continue
        parent[place] = copy
    return root[0]


def _holds_tag(tree: Json) -> bool:
    return is_ref_tag(tree) or is_list_tag(tree) or any(True for _ in tagged_slots(tree))
