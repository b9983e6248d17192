"""A JSON tree laid out for reading, line by line, at any depth and size.

Text with line feeds is printed as the lines it is, and a tagged value without parts as what it stands for, so this is
for eyes; programs read ``--json``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stashdbg.cli.console import Part, Style, Styled
from stashdbg_core.canonical import Json, SpelledNumber, stored_form
from stashdbg_core.session.lines import Token
from stashdbg_core.session.scalars import read_scalar

_INDENT = "  "
_STYLES: dict[str, Style] = {"string": "string", "number": "number", "literal": "literal", "note": "dim"}


def pretty_lines(tree: Json, indent: str = "") -> Iterator[list[Part]]:
    """Yield the lines of a tree, each a list of parts; iterative, so depth costs no stack."""
    line: list[Part] = [indent]
    pending: list[Any] = [iter([("", tree, "")])]
    closers: list[str] = [""]
    while pending:
        item = next(pending[-1], None)
        if item is None:
            pending.pop()
            closer = closers.pop()
            if closer:
                yield line
                line = [indent + _INDENT * (len(pending) - 1), closer]
            continue
        key, value, comma = item
        if len(pending) > 1:
            yield line
            line = [indent + _INDENT * (len(pending) - 1)]
        if key:
            line += [Styled(key, "key"), ": "]
        scalar = read_scalar(value) if isinstance(value, dict) else None
        if scalar is not None:
            line += [*_styled(scalar.tokens), comma]
            for row in scalar.dump_lines:
                yield line
                line = [indent + _INDENT * len(pending), *_styled(row)]
        elif isinstance(value, dict | list) and value:
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            line.append(opening)
            closers.append(closing + comma)
            pending.append(_members(value) if isinstance(value, dict) else _items(value))
        else:
            *whole, last = _scalar(value)
            for text in whole:
                line.append(text)
                yield line
                line = [indent + _INDENT * len(pending)]
            line += [last, comma]
    yield line


def _styled(tokens: list[Token]) -> list[Part]:
    return [Styled(text, _STYLES[kind]) if kind in _STYLES else text for text, kind in tokens]


def _members(tree: dict[str, Json]) -> Iterator[tuple[str, Json, str]]:
    last = len(tree) - 1
    for place, (key, value) in enumerate(tree.items()):
        yield _spelled(key), value, "," if place < last else ""


def _items(tree: list[Json]) -> Iterator[tuple[str, Json, str]]:
    last = len(tree) - 1
    for place, value in enumerate(tree):
        yield "", value, "," if place < last else ""


def _scalar(value: Json) -> list[Part]:
    """Return the lines of a value that holds no others."""
    if isinstance(value, str):
        if "\n" in value:
            lines = value.split("\n")
            lines[0], lines[-1] = '"' + lines[0], lines[-1] + '"'
            return [Styled(text, "string") for text in lines]
        return [Styled(_spelled(value), "string")]
    if value is None or isinstance(value, bool):
        return [Styled(_spelled(value), "literal")]
    if isinstance(value, int | float | SpelledNumber):
        return [Styled(_spelled(value), "number")]
    return ["{}" if isinstance(value, dict) else "[]"]


def _spelled(value: Json) -> str:
    return stored_form(value).decode("utf-8")
