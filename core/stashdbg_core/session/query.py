"""The query language: one parser for filter, breakpoints and ``show --filter``.

``parse_query`` checks a query whole, without any recording at hand, and says where it is wrong. ``query_operators``
has the table of operators, of which ``docs/query.md`` is made; ``predicate`` makes a query into a test of events.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, TypeAlias

from stashdbg_core.errors import StashError
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.query_operators import FLAGS, OPERATORS, operator
from stashdbg_core.session.query_ranges import read_range, reader
from stashdbg_core.session.query_tokens import Token, fault, tokens
from stashdbg_core.session.text_match import TextMatch

_DEEPEST = 100
_MOST_TERMS = 500
_TERM_KINDS = frozenset({"word", "phrase", "regex"})
_QUOTE = 'put it in quotes to look for it as it stands: "…"'

MATCH_KINDS = {"word": "glob", "phrase": "literal", "regex": "regex"}
"""Kind of token to kind of ``TextMatch``."""

Kind: TypeAlias = Literal["all", "term", "not", "and", "or"]


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: a term with its operator (empty for a bare one), or a connective over others."""

    kind: Kind
    operands: tuple[Query, ...] = ()
    field: str = ""
    token: Token | None = None


def parse_query(text: str) -> Query:
    """Return a query parsed; an empty one accepts every event.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is none; the message names the column, ``details`` has ``column`` from 0.
    """
    parser = _Parser(text)
    if parser.at_end:
        return Query("all")
    query = parser.alternatives(0)
    if not parser.at_end:
        raise fault("a ) has no partner", text, parser.next.column, _QUOTE)
    return query


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._terms = 0

    @property
    def next(self) -> Token:
        return self._tokens[self._at]

    @property
    def at_end(self) -> bool:
        return self.next.kind == "end"

    def take(self) -> Token:
        token = self.next
        self._at += 1
        return token

    def alternatives(self, depth: int) -> Query:
        """Read ``a or b or …``."""
        if depth > _DEEPEST:
            raise fault(f"brackets are nested more than {_DEEPEST} deep", self._text, self.next.column)
        found = [self._all_of(depth)]
        while self.next.kind == "or":
            self.take()
            found.append(self._all_of(depth))
        return found[0] if len(found) == 1 else Query("or", tuple(found))

    def _all_of(self, depth: int) -> Query:
        found = [self._one(depth)]
        while self.next.kind in ("and", "not", "open", "field", *_TERM_KINDS):
            if self.next.kind == "and":
                self.take()
            found.append(self._one(depth))
        return found[0] if len(found) == 1 else Query("and", tuple(found))

    def _one(self, depth: int) -> Query:
        turned = False
        while self.next.kind == "not":
            self.take()
            turned = not turned
        token = self.take()
        if token.kind == "open":
            query = self.alternatives(depth + 1)
            if self.next.kind != "close":
                raise fault("a ( has no partner", self._text, token.column, _QUOTE)
            self.take()
        elif token.kind in _TERM_KINDS:
            query = self._term("", token)
        elif token.kind == "field":
            query = self._field(token)
        else:
            self._at -= 1
            raise fault("a word, a text or a name:… is missing", self._text, token.column, None)
        return Query("not", (query,)) if turned else query

    def _field(self, token: Token) -> Query:
        known = operator(token.text)
        if known is None:
            near = get_close_matches(token.text, [entry.name for entry in OPERATORS], n=1)
            names = f"did you mean {near[0]}:? " if near else ""
            raise fault(f"there is no operator {shorten(token.text, 30)}:", self._text, token.column, names + _QUOTE)
        if self.next.kind not in _TERM_KINDS:
            raise fault(
                f"{token.text}: needs something to look for", self._text, token.column, f"such as {known.example}"
            )
        return self._term(token.text, self.take())

    def _term(self, name: str, token: Token) -> Query:
        self._terms += 1
        if self._terms > _MOST_TERMS:
            raise fault(f"a query has at most {_MOST_TERMS} terms", self._text, token.column)
        _check(name, token, self._text)
        return Query("term", (), name, token)


def _check(name: str, token: Token, text: str) -> None:
    """Find what is wrong with a term before any recording is at hand."""
    known = operator(name)
    takes = known.takes if known is not None else "payload"
    try:
        if takes in ("name", "text", "payload"):
            if token.text or takes != "name":
                TextMatch(token.text, MATCH_KINDS[token.kind], token.flags)
        elif token.kind == "regex":
            raise fault(f"{name}: takes no pattern", text, token.column, f"such as {known.example}" if known else None)
        elif takes == "flag":
            if token.text not in {flag.name for flag in FLAGS}:
                flags = ", ".join(flag.name for flag in FLAGS)
                raise fault(f"there is no is:{shorten(token.text, 30)}", text, token.column, f"there are {flags}")
        else:
            read_range(token.text, reader(takes, 0.0))
    except ValueError:
        what = {"number": "a number", "duration": "a duration", "moment": "a moment"}[takes]
        example = f"such as {known.example}" if known else None
        raise fault(f"{name}: takes {what}, a range or a bound", text, token.column, example) from None
    except StashError as error:
        if "column" in error.details and error.details["column"] == token.column:
            raise
        raise fault(error.message, text, token.column, error.hint) from None
