"""The head of a JSON tree as one line, whatever its size and depth."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json, SpelledNumber, spell_number, stored_form
from stashdbg_core.sanitize import shorten


class _Token(str):
    """Text that is already JSON."""

    __slots__ = ()


def preview(tree: Json, width: int = 120) -> str:
    """Return the head of a tree as one sanitised line of at most ``width`` characters."""
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
                pending += [value, _Token((", " if position else "") + quote(key, room) + ": ")]
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


def quote(text: str, room: int) -> str:
    """Return the head of a text as a JSON string."""
    return stored_form(text[: room + 1]).decode("utf-8")


def kind_word(item: Json) -> str:
    """Return what sort of JSON value this is, in one word."""
    return {dict: "object", list: "list", str: "text", bool: "boolean", type(None): "null", int: "integer"}.get(
        type(item), "number"
    )


def _leaf(item: Any, room: int) -> str:
    if type(item) is str:
        return quote(item, room)
    if type(item) is int and item.bit_length() > 4 * room + 64:
        return f"an integer of {item.bit_length()} bits"
    if type(item) in (float, SpelledNumber):
        return spell_number(item) if type(item) is SpelledNumber or item - item == 0 else repr(item)
    return stored_form(item).decode("ascii")
