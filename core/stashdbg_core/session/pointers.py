"""RFC 6901 pointers into JSON trees, and a walk over everything a tree says.

Trees may be as deep and as wide as a file allows; nothing here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from stashdbg_core.canonical import Json, SpelledNumber, spell_number
from stashdbg_core.errors import invalid_input
from stashdbg_core.sanitize import shorten

_INDEX = re.compile(r"0|[1-9][0-9]{0,11}")


class Absent:
    """The type of ``ABSENT``."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()
"""What a pointer finds where nothing is; null is something."""


def pointer_of(path: Sequence[str | int]) -> str:
    """Return the pointer of a path of keys and indices."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def parse_pointer(pointer: str) -> list[str]:
    """Return the steps of a pointer.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is none.
    """
    if pointer and not pointer.startswith("/"):
        raise invalid_input(
            f"{shorten(pointer, 60)!r} is not a JSON pointer", hint="write it as /choices/0/message; / separates steps"
        )
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def resolve(tree: Json, pointer: str) -> Json | Absent:
    """Return what stands at a pointer, ``ABSENT`` if nothing does.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the pointer is none.
    """
    for step in parse_pointer(pointer):
        if isinstance(tree, dict):
            if step not in tree:
                return ABSENT
            tree = tree[step]
        elif isinstance(tree, list) and _INDEX.fullmatch(step) and int(step) < len(tree):
            tree = tree[int(step)]
        else:
            return ABSENT
    return tree


Path = tuple["Path", str | int] | None
"""A path as a chain from the end to the root; None is the root."""


def path_pointer(path: Path) -> str:
    """Return the pointer of a chained path."""
    steps: list[str | int] = []
    while path is not None:
        steps.append(path[1])
        path = path[0]
    return pointer_of(steps[::-1])


def walk(tree: Json) -> Iterator[tuple[Path, str | None, Json]]:
    """Yield every place of a tree in reading order: its path, its key if it stands under one, and the subtree."""
    pending: list[tuple[Path, str | None, Json]] = [(None, None, tree)]
    while pending:
        path, key, node = pending.pop()
        yield path, key, node
        if isinstance(node, dict):
            pending += [((path, name), name, child) for name, child in reversed(node.items())]
        elif isinstance(node, list):
            pending += [((path, place), None, node[place]) for place in range(len(node) - 1, -1, -1)]


def scalar_text(node: Json) -> str | None:
    """Return a scalar as people read it, a text as itself; None for an object or list."""
    if isinstance(node, str):
        return node
    if isinstance(node, (dict, list)):
        return None
    if node is None or isinstance(node, bool):
        return {None: "null", True: "true", False: "false"}[node]
    if isinstance(node, SpelledNumber):
        return node.token
    if isinstance(node, int) and node.bit_length() > 14_000:  # what Python refuses to write in decimal
        return hex(node)
    return spell_number(node) if isinstance(node, float) else repr(node)
