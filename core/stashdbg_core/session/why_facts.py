"""What a value says, in pieces that can turn up again in another one: texts, numbers, and flat objects as a whole.

JSON inside a text is read too, for that is how tools answer models. What says nothing is left out: words of four
letters that every message has, numbers of one or two digits, years.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json, SpelledNumber, canonical_form
from stashdbg_core.errors import StashError
from stashdbg_core.parse import parse_json
from stashdbg_core.session.gist import chunk_text
from stashdbg_core.session.pointers import Path, path_pointer, scalar_text, walk
from stashdbg_core.tags import STREAM, tag_of

FactKind: TypeAlias = Literal["text", "number", "whole"]

SHORTEST = 4
"""Characters of the shortest text that counts."""
_NESTED = 3
"""How often JSON is looked for inside a text inside JSON."""
_PARSED = 1_000_000
_NUMBERED = 20_000
"""Characters of a text in which numbers are looked for."""
_FLAT = 200
"""Members of an object that is compared as a whole."""
_NUMBER = re.compile(r"(?<![\w.])(?<!\w-)-?(?:\d{1,3}(?:,\d{3})+|\d{1,20})(?:\.\d{1,20})?(?!\w)")
_SILENT_KEYS = frozenset({
    "role", "type", "object", "model", "finish_reason", "stop_reason", "finishReason", "status", "$stash", "class",
    "ending", "kind", "media_type", "mime_type", "usage", "usageMetadata",
})  # fmt: skip
_SILENT_TEXTS = frozenset({"null", "none", "None", "true", "false", "True", "False", "user", "text", "tool", "string"})


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that a value says."""

    kind: FactKind
    key: str
    """What equal facts share: the text itself, a number without its spelling, the canonical form of an object."""
    pointer: str
    shown: str
    """The fact as it stands, for people."""
    within: tuple[str, ...] = ()
    """Keys of the facts that hold this one: the object around it, the text it stands in."""


def facts_of(tree: Json, prefix: str = "") -> Iterator[Fact]:
    """Yield what a tree says; facts inside a text have the text's pointer."""
    yield from _facts(tree, prefix, (), _NESTED, fixed=False)
    if tag_of(tree) == STREAM and isinstance(tree.get("chunks"), list):
        said = "".join(chunk_text(chunk) for chunk in tree["chunks"])
        yield from _text_facts(said, f"{prefix}/chunks", (), _NESTED)


def number_key(text: str) -> str | None:
    """Return what all spellings of a number share; None for one too plain to be evidence."""
    plain = text.replace(",", "")
    try:
        number = Decimal(plain).normalize()
    except InvalidOperation:
        return None
    digits = len(number.as_tuple().digits)
    is_year = "." not in plain and 1900 <= abs(number) <= 2100
    return None if digits < 3 or is_year else f"{number:f}" if abs(number) < 10**40 else None


def _facts(tree: Json, prefix: str, around: tuple[str, ...], nested: int, *, fixed: bool) -> Iterator[Fact]:
    wholes: dict[int, tuple[str, ...]] = {}
    for path, key, node in walk(tree):
        inside = around if path is None else (*around, *_inherited(wholes, path))
        if isinstance(node, (dict, list)):
            whole = _whole(node)
            if whole is not None:
                wholes[id(path)] = (whole,)
                yield Fact("whole", whole, prefix if fixed else prefix + path_pointer(path), whole, inside)
            continue
        if key in _SILENT_KEYS or node is None or isinstance(node, bool):
            continue
        pointer = prefix if fixed else prefix + path_pointer(path)
        if isinstance(node, str):
            yield from _text_facts(node, pointer, inside, nested)
        else:
            yield from _number_fact(node, pointer, inside)


def _inherited(wholes: dict[int, tuple[str, ...]], path: Path) -> tuple[str, ...]:
    """Return the flat object in which a scalar stands, if it is compared as a whole; there is at most one."""
    return () if path is None else wholes.get(id(path[0]), ())


def _text_facts(text: str, pointer: str, around: tuple[str, ...], nested: int) -> Iterator[Fact]:
    if len(text) < SHORTEST or text in _SILENT_TEXTS:
        return
    yield Fact("text", text, pointer, text, around)
    inside = (*around, text)
    if nested and text[:1] in ("{", "[") and len(text) <= _PARSED:
        try:
            tree = parse_json(text.encode("utf-8", "surrogatepass"))
        except (StashError, UnicodeError):
            tree = None
        if isinstance(tree, (dict, list)):
            yield from _facts(tree, pointer, inside, nested - 1, fixed=True)
            return
    for found in _NUMBER.finditer(text[:_NUMBERED]):
        key = number_key(found.group())
        if key is not None:
            yield Fact("number", key, pointer, found.group(), inside)


def _number_fact(node: Json, pointer: str, around: tuple[str, ...]) -> Iterator[Fact]:
    text = node.token if isinstance(node, SpelledNumber) else scalar_text(node)
    key = number_key(text) if text and len(text) <= 60 else None
    if text is not None and key is not None:
        yield Fact("number", key, pointer, text, around)


def _whole(node: Json) -> str | None:
    """Return the canonical form of an object or list of scalars that is long enough to be told from others."""
    if not 2 <= len(node) <= _FLAT:
        return None
    members = node.values() if isinstance(node, dict) else node
    if any(isinstance(member, dict) or (isinstance(member, list) and member) for member in members):
        return None
    try:
        text = canonical_form(node).decode("utf-8", "replace")
    except ValueError:
        return None
    return text if len(text) >= 16 and not (isinstance(node, dict) and "$stash" in node) else None
