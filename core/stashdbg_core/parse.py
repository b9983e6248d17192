"""JSON text to trees: a fast strict parser, and a tolerant one behind it for what strict ones refuse.

The tolerant parser keeps what is there and says what was wrong: lone surrogates stay, bare ``NaN`` becomes its tag, bad
UTF-8 becomes U+FFFD, of duplicate keys the last counts. It does not recurse, so no input exhausts the stack.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, Protocol

import msgspec

from stashdbg_core.canonical import Json, SpelledNumber
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.tags import FLOAT, TAG

BOM = b"\xef\xbb\xbf"
INT_DIGITS = 4300
"""More digits than this no ``int`` is made of: CPython refuses, for the conversion takes quadratic time."""
MAX_PROBLEMS = 20
DEEPEST = 200_000
"""Nesting that is parsed where no limit is given: each level costs memory, and a text of brackets has many."""

_decode = msgspec.json.Decoder().decode
_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"-?[A-Za-z]+")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_NOT_FINITE = {"NaN": "nan", "-NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_END = object()


class ParseLimits(Protocol):
    """How much nesting, and how many digits in one number, are accepted."""

    @property
    def depth(self) -> int: ...
    @property
    def digits(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Parsed:
    """A tree and what was wrong with its text."""

    tree: Json
    problems: tuple[str, ...] = ()
    """Sentences for people, at most ``MAX_PROBLEMS``."""
    exact: bool = True
    """Whether the tree is what the text says; not so after bad UTF-8 or duplicate keys."""


def parse_json(text: bytes) -> Json:
    """Return the tree of a JSON text, tolerating what ``parse_tolerant`` does.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is not JSON at all.
    """
    try:
        return _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return parse_tolerant(text).tree


def parse_tolerant(text: bytes, limits: ParseLimits | None = None) -> Parsed:
    """Return the tree of a JSON text and its problems.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is not JSON at all, or breaks a limit.
    """
    problems: list[str] = []
    body = text.removeprefix(BOM)
    try:
        decoded, exact = body.decode("utf-8"), True
    except UnicodeDecodeError as error:
        problems.append(f"byte {error.start + len(text) - len(body)} is not UTF-8")
        decoded, exact = body.decode("utf-8", "replace"), False
    parser = _Parser(decoded, problems, limits)
    tree = parser.parse()
    return Parsed(tree, tuple(problems[:MAX_PROBLEMS]), exact and not parser.ambiguous)


class _Parser:
    """One pass over one text; ``stack`` holds the open containers, each with the key its next value goes to."""

    def __init__(self, text: str, problems: list[str], limits: ParseLimits | None) -> None:
        self.text = text
        self.problems = problems
        self.limits = limits
        self.deepest = DEEPEST if limits is None else limits.depth
        self.ambiguous = False
        self.stack: list[tuple[dict[str, Any] | list[Any], str]] = []

    def parse(self) -> Json:
        text, stack, space = self.text, self.stack, _SPACE
        root: Any = _END
        pos = 0
        fresh = False  # the container on top has just been opened
        while True:
            pos = space.match(text, pos).end()  # type: ignore[union-attr]
            if stack:
                container = stack[-1][0]
                closed = text[pos : pos + 1] == ("}" if type(container) is dict else "]")
                if closed:
                    stack.pop()
                    pos, fresh = pos + 1, False
                    continue
                pos = self._separator(pos, fresh)
                if type(container) is dict:
                    pos = self._key(pos, container)
            elif root is not _END:
                if pos != len(text):
                    raise self._broken(pos, "text after the value")
                return root
            value, pos = self._value(pos)
            if stack:
                container, key = stack[-1]
                if type(container) is dict:
                    container[key] = value
                else:
                    container.append(value)  # type: ignore[union-attr]
            else:
                root = value
            fresh = False
            if (type(value) is dict and TAG not in value) or type(value) is list:
                stack.append((value, ""))
                fresh = True
                if len(stack) > self.deepest:
                    raise over_limit("depth", self.deepest, "values nested deeper")

    def _separator(self, pos: int, fresh: bool) -> int:
        if fresh:
            return pos
        if self.text[pos : pos + 1] != ",":
            raise self._broken(pos, "a comma or a closing bracket is missing")
        return _SPACE.match(self.text, pos + 1).end()  # type: ignore[union-attr]

    def _key(self, pos: int, container: dict[str, Any]) -> int:
        if self.text[pos : pos + 1] != '"':
            raise self._broken(pos, "a key is missing")
        key, pos = self._string(pos)
        if key in container:
            self.ambiguous = True
            self._problem(f"key given twice, the last counts: {self._pointer(key)}")
        self.stack[-1] = (container, key)
        pos = _SPACE.match(self.text, pos).end()  # type: ignore[union-attr]
        if self.text[pos : pos + 1] != ":":
            raise self._broken(pos, "a colon is missing")
        return _SPACE.match(self.text, pos + 1).end()  # type: ignore[union-attr]

    def _value(self, pos: int) -> tuple[Json, int]:
        """Return a scalar, or a container still empty, and where reading goes on."""
        first = self.text[pos : pos + 1]
        if first == "{":
            return {}, pos + 1
        if first == "[":
            return [], pos + 1
        if first == '"':
            return self._string(pos)
        number = _NUMBER.match(self.text, pos)
        if number is not None:
            return self._number(number), number.end()
        word = _WORD.match(self.text, pos)
        name = word.group() if word is not None else ""
        if word is not None and name in _WORDS:
            return _WORDS[name], word.end()
        if word is not None and name in _NOT_FINITE:
            self._problem(f"bare {name}, which JSON has not, at {self._pointer()}")
            return {TAG: FLOAT, "value": _NOT_FINITE[name]}, word.end()
        raise self._broken(pos, "a value is missing" if first else "the text ends early")

    def _string(self, pos: int) -> tuple[str, int]:
        try:
            text, end = scanstring(self.text, pos + 1, False)
        except ValueError as error:
            raise self._broken(pos, "a string does not end, or holds a bad escape") from error
        return text, end

    def _number(self, found: re.Match[str]) -> int | float:
        token = found.group()
        digits = len(token) - (token[0] == "-")
        if self.limits is not None and digits > self.limits.digits:
            raise over_limit("digits", self.limits.digits, "a number of more digits")
        if found.group(1) is None and found.group(2) is None:
            try:
                return int(token) if digits <= INT_DIGITS else SpelledNumber(token)
            except ValueError:  # the program lowered the interpreter's own limit
                return SpelledNumber(token)
        number = float(token)
        return number if number - number == 0 else SpelledNumber(token)

    def _problem(self, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def _pointer(self, last: str | None = None) -> str:
        """Return the RFC 6901 pointer of the value being read, cut to a bounded length."""
        steps = [key if type(box) is dict else str(len(box) - 1) for box, key in self.stack[-20:]]
        if self.stack and type(self.stack[-1][0]) is list:
            steps[-1] = str(len(self.stack[-1][0]))
        if last is not None:
            steps[-1] = last
        path = "".join("/" + step.replace("~", "~0").replace("/", "~1")[:100] for step in steps)
        return ("…" if len(self.stack) > 20 else "") + path[-400:] if path else "the top"

    def _broken(self, pos: int, what: str) -> StashError:
        offset = len(self.text[:pos].encode("utf-8", "surrogatepass"))
        return invalid_recording(f"not JSON at byte {offset}: {what}", offset=offset)


def over_limit(name: str, limit: int, what: str) -> StashError:
    """Make the error for a text that breaks a limit."""
    return invalid_recording(
        f"{what} than the limit {name}={limit} allows",
        hint=f"raise it with --limit {name}=N if you trust the file",
        limit=name,
    )
