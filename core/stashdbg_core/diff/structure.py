"""Where two JSON trees differ: object members by key, list items by content, scalars by canonical form.

Nothing recurses, and work is in proportion to both trees (lists: see ``sequences``). Equality is that of canonical
form: key order does not count; ``1``, ``1.0`` and ``true`` differ, so do ``0.0`` and ``-0.0``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from stashdbg_core.canonical import Json, SpelledNumber
from stashdbg_core.diff.sequences import Pair, matches
from stashdbg_core.tags import TAG

Path: TypeAlias = "tuple[Path, str | int] | None"
"""Where a value stands: the path of its container, and its key or index there; None is the root."""


class Nothing:
    """The type of ``NOTHING``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING: Final = Nothing()
"""There is no value on this side; distinct from null."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place that is not the same; a side without it holds ``NOTHING``."""

    path: Path
    """On the first side, or where it would be there for a value that only the second has."""
    path_after: Path
    """On the second side; the indexes differ where items were inserted or removed before it."""
    before: Json | Nothing
    after: Json | Nothing

    @property
    def pointer(self) -> str:
        """Where it stands, an RFC 6901 pointer: on the second side if only that has it, else on the first."""
        return pointer_of(self.path_after if self.before is NOTHING else self.path)

    @property
    def parts(self) -> list[str | int]:
        """The keys and indexes of ``pointer``."""
        return path_parts(self.path_after if self.before is NOTHING else self.path)


_Task: TypeAlias = tuple[Path, Path, Any, Any]


def differences(before: Json, after: Json) -> Iterator[Difference]:
    """Yield every difference in the order of the trees; none exactly when the canonical forms are equal.

    List items are paired by position or by content, whichever reports less, and never out of order. Values of different
    types, such as a set and an error, are one difference.
    """
    contents = _Contents()
    pending: list[_Task] = [(None, None, before, after)]
    while pending:
        path, path_after, old, new = pending.pop()
        if old is new:
            continue
        if type(old) is dict and type(new) is dict and old.get(TAG) == new.get(TAG):
            pending.extend(reversed(_members(path, path_after, old, new)))
        elif type(old) is list and type(new) is list:
            pending.extend(reversed(_items(path, path_after, old, new, contents)))
        elif not same_leaf(old, new):
            yield Difference(path, path_after, old, new)


def pointer_of(path: Path, longest: int | None = None) -> str:
    """Spell a path as an RFC 6901 pointer, cut to ``longest`` characters with ``…`` if that is given."""
    steps = [str(step)[:longest].replace("~", "~0").replace("/", "~1") for step in path_parts(path)]
    text = "".join("/" + step for step in steps)
    return text if longest is None or len(text) <= longest else text[:longest] + "…"


def path_parts(path: Path) -> list[str | int]:
    """Return the keys and indexes from the root on."""
    parts: list[str | int] = []
    while path is not None:
        path, step = path
        parts.append(step)
    return parts[::-1]


def same_leaf(old: Any, new: Any) -> bool:
    """Tell whether two scalars have one canonical form; false for containers, which the walk takes apart."""
    if type(old) is not type(new) or type(old) is dict or type(old) is list or old != new:
        return False
    return type(old) is not float or math.copysign(1.0, old) == math.copysign(1.0, new)


def _members(path: Path, path_after: Path, old: dict[str, Any], new: dict[str, Any]) -> list[_Task]:
    tasks: list[_Task] = [((path, key), (path_after, key), value, new.get(key, NOTHING)) for key, value in old.items()]
    tasks += [((path, key), (path_after, key), NOTHING, value) for key, value in new.items() if key not in old]
    return tasks


def _items(path: Path, path_after: Path, old: list[Any], new: list[Any], contents: _Contents) -> list[_Task]:
    """Pair the items of two lists: equal ones in order, and what lies between them one by one."""
    numbers, others = contents.of_items(old), contents.of_items(new)
    if numbers == others:
        return []
    anchors = matches(numbers, others)
    if len(old) == len(new) and _positions_do(numbers, others, anchors):
        return [((path, at), (path_after, at), old[at], new[at]) for at in range(len(old)) if numbers[at] != others[at]]
    tasks: list[_Task] = []
    low = low_new = 0
    for high, high_new in (*anchors, (len(old), len(new))):
        paired = min(high - low, high_new - low_new)
        for step in range(paired):
            i, j = low + step, low_new + step
            tasks.append(((path, i), (path_after, j), old[i], new[j]))
        tasks += [((path, i), (path_after, low_new + paired), old[i], NOTHING) for i in range(low + paired, high)]
        tasks += [((path, high), (path_after, j), NOTHING, new[j]) for j in range(low_new + paired, high_new)]
        low, low_new = high + 1, high_new + 1
    return tasks


def _positions_do(numbers: list[int], others: list[int], anchors: list[Pair]) -> bool:
    """Tell whether pairing by position reports no more changes than pairing around ``anchors``."""
    by_position = sum(map(int.__ne__, numbers, others))
    by_content = low = low_new = 0
    for high, high_new in (*anchors, (len(numbers), len(others))):
        by_content += max(high - low, high_new - low_new)
        low, low_new = high + 1, high_new + 1
    return by_position <= by_content


class _Contents:
    """Numbers for contents, equal exactly when the canonical forms are; every container is walked once."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._known: dict[int, int] = {}
        """By the identity of a container, which the trees compared keep alive."""

    def of_items(self, items: list[Any]) -> list[int]:
        """Return the number of every item."""
        leaf, known = self._leaf, self._known
        numbers = []
        for item in items:
            if type(item) is dict or type(item) is list:
                if id(item) not in known:
                    self._walk(item)
                numbers.append(known[id(item)])
            else:
                numbers.append(leaf(item))
        return numbers

    def _number(self, content: Any) -> int:
        return self._numbers.setdefault(content, len(self._numbers))

    def _leaf(self, item: Any) -> int:
        kind = type(item)
        if kind is str:
            return self._number(item)
        if kind is float:
            return self._number((kind, item.hex()))
        return self._number((kind, item.token if kind is SpelledNumber else item))

    def _walk(self, root: Any) -> None:
        """Number a container and all within it, the inner ones first."""
        known = self._known
        pending = [root]
        while pending:
            node = pending[-1]
            if id(node) in known:
                pending.pop()
                continue
            children = node.values() if type(node) is dict else node
            inner = [child for child in children if type(child) in (dict, list) and id(child) not in known]
            if inner:
                pending += inner
                continue
            pending.pop()
            numbers = [
                known[id(child)] if type(child) is dict or type(child) is list else self._leaf(child)
                for child in children
            ]
            content = frozenset(zip(node, numbers, strict=True)) if type(node) is dict else tuple(numbers)
            known[id(node)] = self._number(content)
