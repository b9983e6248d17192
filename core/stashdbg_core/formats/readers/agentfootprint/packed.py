"""Packed recordings of agentfootprint: values that stand more than once are kept apart, and referred to by number.

Unpacking shares them again, so it costs what the file has; what the tree would have in full is bounded all the same,
for whoever writes it out pays that.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording

_REF, _ESCAPE = "$af:ref", "$af:esc"
_GROWTH = 1000
"""Times its packed size that a recording may have."""
_LEAST = 64_000_000


def unpacked(values: Json, tree: Json, size: int, where: str) -> Json:
    """Return a recording with its references resolved; both trees are changed.

    Args:
        values: What is referred to.
        tree: The recording.
        size: Bytes of the file.
        where: Name of the file, for messages.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: a reference leads nowhere or to itself, or it grows too large.
    """
    pool: list[Any] = values if isinstance(values, list) else []
    return _Pool(pool, max(_LEAST, _GROWTH * size), where).resolved(tree)


class _Pool:
    def __init__(self, values: list[Any], most: int, where: str) -> None:
        self._values = values
        self._most = most
        self._where = where
        self._sizes: dict[int, int] = {}
        """What each resolved value weighs in full."""

    def resolved(self, tree: Json) -> Json:
        """Return the tree, what it needs of the values resolved first."""
        waiting = [(number, False) for number in _numbers(tree)]
        opened: set[int] = set()
        while waiting:
            number, done = waiting.pop()
            if done:
                self._values[number], self._sizes[number] = self._replace(self._values[number])
                opened.discard(number)
                continue
            if type(number) is not int or not 0 <= number < len(self._values):
                raise invalid_recording(f"{self._where}: a packed recording refers to a value that is not there")
            if number in self._sizes:
                continue
            if number in opened:
                raise invalid_recording(f"{self._where}: a packed recording has a value that holds itself")
            opened.add(number)
            waiting.append((number, True))
            waiting += [(inner, False) for inner in _numbers(self._values[number])]
        return self._replace(tree)[0]

    def _replace(self, tree: Json) -> tuple[Json, int]:
        root: list[Any] = [tree]
        weight = 0
        pending: list[tuple[Any, Any]] = [(root, 0)]
        while pending:
            parent, place = pending.pop()
            node = parent[place]
            if isinstance(node, dict) and len(node) == 1:
                if _REF in node:
                    parent[place] = self._values[node[_REF]]
                    weight += self._sizes[node[_REF]]
                    continue
                if isinstance(node.get(_ESCAPE), dict):
                    node = parent[place] = node[_ESCAPE]
            weight += 4 + (len(node) if isinstance(node, str) else 0)
            if isinstance(node, dict):
                pending += [(node, key) for key in node]
            elif isinstance(node, list):
                pending += [(node, position) for position in range(len(node))]
        if weight > self._most:
            raise invalid_recording(f"{self._where}: a packed recording grows beyond {self._most} bytes")
        return root[0], weight


def _numbers(tree: Json) -> list[Any]:
    """Return what the references of a tree refer to."""
    found: list[Any] = []
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if len(node) == 1 and _REF in node:
                found.append(node[_REF])
                continue
            if len(node) == 1 and isinstance(node.get(_ESCAPE), dict):
                node = node[_ESCAPE]
            pending += node.values()
        elif isinstance(node, list):
            pending += node
    return found
