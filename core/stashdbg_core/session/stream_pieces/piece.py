"""A piece of a text, where it stands and what it belongs to; and how trees are looked into on the way there."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.tags import DATACLASS, MODEL, TAG

Path: TypeAlias = tuple[str | int, ...]
Name: TypeAlias = tuple[str | int, ...]
"""Where a text stands in the message, such as ``("tool_calls", 0, "arguments")``."""


class Piece(NamedTuple):
    """What one chunk adds to one text."""

    name: Name
    path: Path
    """Where it stands in the chunk."""
    text: str


class _Missing:
    __slots__ = ()


MISSING = _Missing()


def value_at(tree: Any, path: Path) -> Any:
    """Return what stands at a place, a number also naming a key; ``MISSING`` if nothing does."""
    for step in path:
        if type(tree) is dict and step in tree:
            tree = tree[step]
        elif type(tree) is dict and type(step) is int and str(step) in tree:
            tree = tree[str(step)]
        elif type(tree) is list and type(step) is int and step < len(tree):
            tree = tree[step]
        else:
            return MISSING
    return tree


def opened(node: Any, path: Path) -> tuple[Any, Path]:
    """Return what a recorded object of a class holds, and where; anything else as it is."""
    if type(node) is dict and node.get(TAG) in (MODEL, DATACLASS) and type(node.get("fields")) is dict:
        return node["fields"], (*path, "fields")
    return node, path


def number(said: Json, default: int = 0) -> int:
    """Return the number that a chunk says, or else the default."""
    return said if type(said) is int else default
