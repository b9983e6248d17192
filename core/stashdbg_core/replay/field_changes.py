"""Where two JSON trees differ, said in a line or two each: what a divergence shows.

Never more than a stated number of changes, each value cut to one sanitised line, no recursion, and work in proportion
to the smaller tree. Equality is that of canonical form: key order is ignored, ``1``, ``1.0`` and ``true`` differ, so do
``0.0`` and ``-0.0``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from stashdbg_core.canonical import Json, SpelledNumber, spell_number, stored_form
from stashdbg_core.sanitize import shorten

LINE = 120
"""Characters a shown value has at most."""
MOST_CHANGES = 10
_POINTER = 1000
"""A longer pointer is cut; no payload makes a message long."""
_LEAD = 24
"""Characters of equal text shown before the first difference of two long strings."""
_ALIGN_BUDGET = 100_000
"""Nodes compared to find what two lists of unequal length share, before falling back to comparing by position."""


@dataclass(frozen=True, slots=True)
class Change:
    """One field that is not the same: an RFC 6901 pointer and both values as text, None where there is none."""

    pointer: str
    recorded: str | None
    live: str | None

    def to_json(self) -> dict[str, Json]:
        """Return the change as JSON; a side without the field has no key."""
        sides = {"recorded": self.recorded, "live": self.live}
        return {"pointer": self.pointer, **{name: text for name, text in sides.items() if text is not None}}


def field_changes(recorded: Json, live: Json, *, limit: int = MOST_CHANGES, width: int = LINE) -> tuple[Change, ...]:
    """Return the first ``limit`` differences, in the order of the recorded tree; empty exactly when both are equal."""
    found: list[Change] = []
    budget = [_ALIGN_BUDGET]
    pending: list[_Pair] = [(None, recorded, live)]
    while pending and len(found) < limit:
        path, old, new = pending.pop()
        if old is new:
            continue
        if type(old) is dict and type(new) is dict:
            pending.extend(reversed(_members(path, old, new)))
        elif type(old) is list and type(new) is list:
            pending.extend(reversed(_items(path, old, new, budget)))
        elif not _same_leaf(old, new):
            found.append(_change(_pointer(path), old, new, width))
    return tuple(found)


def preview(tree: Json, width: int = LINE) -> str:
    """Return the head of a tree as one sanitised line of at most ``width`` characters, whatever its size and depth."""
    out: list[str] = []
    room = width + 1
    pending: list[Any] = [tree]
    while pending and room > 0:
        item = pending.pop()
        if type(item) is _Token:
            text = str(item)
        elif type(item) is dict:
            text = "{"
            pending.append(_Token("}"))
            heads = [(key, item[key]) for key, _ in zip(item, range(room), strict=False)]
            for position in range(len(heads) - 1, -1, -1):
                key, value = heads[position]
                pending += [value, _Token((", " if position else "") + _quote(key, room) + ": ")]
        elif type(item) is list:
            text = "["
            pending.append(_Token("]"))
            for position in range(min(len(item), room) - 1, -1, -1):
                pending.append(item[position])
                if position:
                    pending.append(_Token(", "))
        else:
            text = _leaf(item, room)
        out.append(text)
        room -= len(text)
    return shorten("".join(out), width)


class _Token(str):
    """Text that is already JSON."""

    __slots__ = ()


class _Absent:
    __slots__ = ()


_ABSENT = _Absent()
_Path: TypeAlias = "tuple[_Path, str | int] | None"
"""Where a value stands: the path of its container, and its key or index there."""
_Pair: TypeAlias = tuple[_Path, Any, Any]


def _members(path: _Path, old: dict[str, Any], new: dict[str, Any]) -> list[_Pair]:
    pairs: list[_Pair] = [((path, key), value, new.get(key, _ABSENT)) for key, value in old.items()]
    if len(new) != len(old) or any(live is _ABSENT for _, _, live in pairs):
        pairs += [((path, key), _ABSENT, value) for key, value in new.items() if key not in old]
    return pairs


def _items(path: _Path, old: list[Any], new: list[Any], budget: list[int]) -> list[_Pair]:
    """Pair the items of two lists; of unequal lengths, what both end with is taken off first."""
    kept, made = len(old), len(new)
    start = 0
    if kept != made:
        shorter = min(kept, made)
        while start < shorter and _equal(old[start], new[start], budget):
            start += 1
        while min(kept, made) > start and _equal(old[kept - 1], new[made - 1], budget):
            kept, made = kept - 1, made - 1
    pairs: list[_Pair] = [((path, at), old[at], new[at]) for at in range(start, min(kept, made))]
    pairs += [((path, at), old[at], _ABSENT) for at in range(max(start, made), kept)]
    pairs += [((path, at), _ABSENT, new[at]) for at in range(max(start, kept), made)]
    return pairs


def _equal(one: Any, other: Any, budget: list[int]) -> bool:
    pending = [(one, other)]
    while pending:
        budget[0] -= 1
        if budget[0] < 0:
            return False
        old, new = pending.pop()
        if old is new:
            continue
        if type(old) is dict and type(new) is dict:
            if len(old) != len(new) or any(key not in new for key in old):
                return False
            pending.extend((value, new[key]) for key, value in old.items())
        elif type(old) is list and type(new) is list:
            if len(old) != len(new):
                return False
            pending.extend(zip(old, new, strict=True))
        elif not _same_leaf(old, new):
            return False
    return True


def _same_leaf(old: Any, new: Any) -> bool:
    if type(old) is not type(new) or old != new:
        return False
    return type(old) is not float or math.copysign(1.0, old) == math.copysign(1.0, new)


def _change(pointer: str, old: Any, new: Any, width: int) -> Change:
    if type(old) is str and type(new) is str and max(len(old), len(new)) > width - 2:
        start = max(_common_prefix(old, new) - _LEAD, 0)
        return Change(pointer, _window(old, start, width), _window(new, start, width))
    recorded = None if old is _ABSENT else preview(old, width)
    live = None if new is _ABSENT else preview(new, width)
    if recorded == live and recorded is not None:  # alike within a line: say what tells them apart
        recorded, live = f"{preview(old, width - 20)} ({_kind(old)})", f"{preview(new, width - 20)} ({_kind(new)})"
    return Change(pointer, recorded, live)


def _window(text: str, start: int, width: int) -> str:
    """Return the part of a long text that holds the first difference, its escapes not counted twice."""
    end = start + width - 4
    return shorten(_quote(("…" if start else "") + text[start:end] + ("…" if end < len(text) else ""), width), width)


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _leaf(item: Any, room: int) -> str:
    if type(item) is str:
        return _quote(item, room)
    if type(item) is int and item.bit_length() > 4 * room + 64:
        return f"an integer of {item.bit_length()} bits"
    if type(item) in (float, SpelledNumber):
        return spell_number(item) if type(item) is SpelledNumber or item - item == 0 else repr(item)
    return stored_form(item).decode("ascii")


def _quote(text: str, room: int) -> str:
    return stored_form(text[: room + 1]).decode("utf-8")


def _kind(item: Any) -> str:
    return {dict: "object", list: "list", str: "text", bool: "boolean", type(None): "null", int: "integer"}.get(
        type(item), "number"
    )


def _pointer(path: _Path) -> str:
    """Spell a path as a pointer, cut to ``_POINTER`` characters."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append("/" + str(step)[:_POINTER].replace("~", "~0").replace("/", "~1"))
    text = "".join(reversed(steps))
    return text if len(text) <= _POINTER else text[:_POINTER] + "…"
