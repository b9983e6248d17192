"""A query cut into tokens, each knowing its column; every fault points at where it stands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten

MOST_CHARACTERS = 10_000
TokenKind: TypeAlias = Literal["open", "close", "or", "and", "not", "field", "word", "phrase", "regex", "end"]

_SPACE = re.compile(r"\s*")
_FIELD = re.compile(r"([A-Za-z_][\w-]*):")
_PHRASE = re.compile(r'"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_ESCAPE = re.compile(r'\\(["\\])')
_REGEX = re.compile(r"/((?:[^/\\]++|\\.)*+)/([A-Za-z]*)", re.DOTALL)
_WORD = re.compile(r"""[^\s()"]+""")
_WORDS: dict[str, TokenKind] = {"or": "or", "OR": "or", "and": "and", "AND": "and", "not": "not", "NOT": "not"}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a query."""

    kind: TokenKind
    column: int
    """Characters before it."""
    text: str = ""
    """A field's name; a phrase, pattern or word without its marks."""
    flags: str = ""


def fault(message: str, query: str, column: int, hint: str | None = None) -> StashError:
    """Make the error for a query, which names the column, counted from 1, and what stands there."""
    rest = shorten(query[column:], 24)
    where = f"at column {column + 1}: {rest}" if rest else "at its end"
    return invalid_input(f"{message}, {where}", hint=hint, column=column)


def tokens(query: str) -> list[Token]:
    """Return the tokens of a query, ``end`` last.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: too long, or a quote or pattern has no end.
    """
    if len(query) > MOST_CHARACTERS:
        raise invalid_input(f"a query has at most {MOST_CHARACTERS:,} characters; this has {len(query):,}")
    found: list[Token] = []
    at = _end(_SPACE, query, 0)
    while at < len(query):
        at = _take(query, at, found)
        if found[-1].kind != "field":
            at = _end(_SPACE, query, at)
    found.append(Token("end", len(query)))
    return found


def _take(query: str, at: int, found: list[Token]) -> int:
    """Append the token that starts at a column and return where it ends."""
    after_field = bool(found) and found[-1].kind == "field"
    character = query[at]
    if character == '"':
        return _take_phrase(query, at, found)
    if character == "/":
        return _take_regex(query, at, found)
    if character in "()":
        found.append(Token("open" if character == "(" else "close", at))
        return at + 1
    if not after_field:
        if character == "-" and at + 1 < len(query) and not query[at + 1].isspace():
            found.append(Token("not", at))
            return at + 1
        field = _FIELD.match(query, at)
        if field:
            found.append(Token("field", at, field.group(1)))
            return field.end()
    if character.isspace():
        raise fault("something must follow the colon without a blank", query, found[-1].column)
    end = _end(_WORD, query, at)
    word = query[at:end]
    found.append(Token(_WORDS.get(word, "word") if not after_field else "word", at, word))
    return end


def _take_phrase(query: str, at: int, found: list[Token]) -> int:
    phrase = _PHRASE.match(query, at)
    if phrase is None:
        raise fault('a " has no partner', query, at, 'write \\" for a quote inside a text')
    found.append(Token("phrase", at, _ESCAPE.sub(r"\1", phrase.group(1))))
    return phrase.end()


def _take_regex(query: str, at: int, found: list[Token]) -> int:
    pattern = _REGEX.match(query, at)
    if pattern is None:
        raise fault("a / has no partner", query, at, 'a pattern is written /like this/; for a plain slash use "quotes"')
    found.append(Token("regex", at, pattern.group(1).replace("\\/", "/"), pattern.group(2)))
    return pattern.end()


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
