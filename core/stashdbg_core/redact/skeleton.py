"""The tree of one stored piece, other pieces still by reference: what is walked when each piece is looked at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from stashdbg_core import tags
from stashdbg_core.parse import parse_json
from stashdbg_core.store.sharing_tags import is_list_tag, is_ref_tag, may_share


class Link:
    """Stands in a tree for the value of another piece."""

    __slots__ = ("ref",)

    def __init__(self, ref: str) -> None:
        self.ref = ref


@dataclass(slots=True)
class Skeleton:
    """One piece, parsed."""

    tree: Any
    """With a ``Link`` for every piece used; of a list that extends others, its own items."""
    parts: tuple[str, ...] | None = None
    """The lists that come before its own items, if it is a list that extends others."""
    uses: tuple[tuple[str, int], ...] = ()
    """Each use of another piece, and how deep in this one it stands."""
    list_parts: tuple[str, ...] = ()
    """Every piece that must be a list."""
    odd: bool = False
    """Whether it can only be looked at whole: a stream, whose chunks are read as one text, an error, whose texts repeat
    what else is in it, or an unusual spelling."""


_WHOLE: Final = frozenset({tags.STREAM, tags.EXCEPTION})
_TAG: Final = tags.TAG


def skeleton(raw: bytes) -> Skeleton:
    """Return the tree of a piece.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is not JSON.
    """
    tree = parse_json(raw)
    if b"$" not in raw and b"\\" not in raw:
        return Skeleton(tree)
    parts: tuple[str, ...] | None = None
    uses: list[tuple[str, int]] = []
    must: list[str] = []
    if is_list_tag(tree):
        parts = tuple(tree["parts"])
        must += parts
        uses += [(part, 0) for part in parts]
        tree = tree["items"]
    odd = False
    root: list[Any] = [tree]
    pending: list[tuple[Any, Any, int]] = [(root, 0, 0)]
    shares = may_share(raw)
    while pending:
        parent, place, depth = pending.pop()
        node = parent[place]
        if type(node) is dict:
            if shares and is_ref_tag(node):
                parent[place] = Link(node["ref"])
                uses.append((node["ref"], depth))
                continue
            if shares and is_list_tag(node):  # ours stand by themselves
                odd = True
                must += node["parts"]
                uses += [(part, depth) for part in node["parts"]]
                pending.append((node, "items", depth))
                continue
            tag = node.get(_TAG)
            odd = odd or type(tag) is dict or (type(tag) is str and tag in _WHOLE)
            pending += [(node, key, depth + 1) for key, value in node.items() if type(value) in (dict, list)]
        elif type(node) is list:
            pending += [(node, at, depth + 1) for at, value in enumerate(node) if type(value) in (dict, list)]
    return Skeleton(root[0], parts, tuple(uses), tuple(must), odd)


def with_tags(tree: Any) -> Any:
    """Return a copy of a tree with tags for its links; data that looks like such a tag is escaped."""
    root: list[Any] = [tree]
    pending: list[tuple[Any, Any]] = [(root, 0)]
    while pending:
        parent, place = pending.pop()
        node = parent[place]
        if type(node) is Link:
            parent[place] = {_TAG: tags.REF, "ref": node.ref}
        elif type(node) is list:
            parent[place] = copy = list(node)
            pending += [(copy, at) for at in range(len(copy))]
        elif type(node) is dict:
            if is_ref_tag(node) or is_list_tag(node):
                pairs = [[key, value] for key, value in node.items()]
                parent[place] = {_TAG: tags.DICT, "items": pairs}
                pending += [(pair, 1) for pair in pairs]
            else:
                entries = dict(node)
                parent[place] = entries
                pending += [(entries, key) for key in entries]
    return root[0]
