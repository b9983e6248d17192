"""The quick question before the quick encoder: is this value plain JSON, down to the last leaf?

Plain means exactly the JSON types, finite floats, text keys, no key ``$stash``, not too deep and not too large: what
the fast encoder spells without changing its type. Everything else takes the careful way.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.tags import TAG

MAX_PARTS = 10_000_000
"""A plain value has no more; sharing inside a value can make few objects stand for very many."""
PLAIN_DEPTH = 120
"""Deeper values are encoded without recursion."""
HUGE = 10**4300
"""Python refuses to write or read integers of more digits in decimal unless told otherwise."""
_LEAST = -HUGE


def is_plain_value(value: Any) -> bool:
    """Tell whether ``value`` is plain; never raises and runs no code of the value's classes."""
    kind = type(value)
    if kind is str or kind is bool or value is None:
        return True
    if kind is int:
        return bool(_LEAST < value < HUGE)
    if kind is float:
        return bool(value - value == 0.0)
    if kind is not dict and kind is not list:
        return False
    try:
        return budget_left(value, PLAIN_DEPTH, MAX_PARTS) >= 0
    except RuntimeError:  # changed by another thread meanwhile, or called near the recursion limit
        return False


def budget_left(value: Any, depth: int, budget: int) -> int:
    """Return the budget less the parts of a dict or list, or -1 if it is not plain."""
    level = [value]
    while level:
        if not depth:
            return -1
        depth -= 1
        deeper: list[Any] = []
        for box in level:
            budget -= len(box)
            if budget < 0:
                return -1
            if type(box) is dict:
                for key in box:
                    if type(key) is not str:
                        return -1
                if TAG in box:
                    return -1
                box = box.values()
            for item in box:
                kind = type(item)
                if kind is str or kind is bool or item is None:
                    continue
                if kind is int:
                    if not _LEAST < item < HUGE:
                        return -1
                elif kind is float:
                    if item - item != 0.0:
                        return -1
                elif kind is dict or kind is list:
                    deeper.append(item)
                else:
                    return -1
        level = deeper
    return budget
