"""Secrets in running text that a name announces: ``password=…``, ``"api_key": "…"``, ``Cookie: …``, ``--token …``,
``<password>…</password>``.

Prose about passwords, code that passes variables about and counts of tokens stay as they are; what is quoted after a
sensitive name, stands in a query or form, or looks like a random string is masked.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from stashdbg_core.redact.names import NUMERIC
from stashdbg_core.redact.near import LONG, matches_at, matches_near, places_of
from stashdbg_core.redact.spans import Span

KindOf: TypeAlias = Callable[[str], str | None]
"""Tells what kind of secret a name announces, if any."""
Windows: TypeAlias = list[tuple[int, int]]
"""Stretches of a text, in order: the first position and the last."""

_LEAD: Final = 128
"""Characters from where an assignment's name begins to its ``=`` or ``:``, at most."""
_SET_OFF: Final = 16
"""Characters that set the name off, at most."""
_REACH: Final = 64
"""Characters from the sign to within the secret, at most."""
_OF_NAMES: Final = string.ascii_letters + string.digits + "_.%-"
_AFTER_NAMES: Final = " ]\"'\\"

_NAME = r"(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,79}+)"
_QUOTED = re.compile(
    _NAME
    + r"""(?:\\{0,8}["'])?\]? {0,4}(?:=>|:?=|:)\s{0,4}[bru]{0,2}(?P<quote>\\{0,8}["'])"""
    + r"""(?P<secret>(?:(?!(?P=quote))[^\n]){1,8192})"""
)
_EQUALS = re.compile(
    _NAME
    + r"(?P<quote>\\{0,8}[\"'])?(?P<gap> {0,4})=(?P<gap2>[ \t]{0,4})"
    + r"(?P<secret>[^\s\0&;,\"'<>()\[\]{}|\\`]+)(?P<after>.?)"
)
_QUERY = re.compile(r"(?:(?<=[?&;])|(?<=\A))(?P<name>[A-Za-z0-9_.%-]{1,80})=(?P<secret>[^\s&;#\"'<>\\]+)")
_COLON = re.compile(
    r"(?P<start>^[ \t>*-]{0,16}|\\n|[\r\n{,(][ \t]{0,8})?"
    + _NAME
    + r"(?:\\{0,8}[\"'])?:[ \t]{0,8}(?P<secret>[^\s,;\"'<>()\[\]{}|\\`]+)(?P<after>[ \t,;)}\]]*(?:$|[\r\n]|\\n|.))?",
    re.MULTILINE,
)
_HEADER = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_-]{1,79}+):[ \t]{0,8}"
    r"(?P<scheme>(?i:bearer|basic|token|digest|aws4-hmac-sha256|apikey|bot|negotiate|key)[ \t]+)?"
    r"(?P<secret>[^\r\n\"'\\`]{1,8192})"
)
_FLAG = re.compile(
    r"(?<![\w-])--(?P<name>[A-Za-z][A-Za-z0-9-]{1,60}) +(?P<quote>[\"']?)"
    r"(?P<secret>[^\s\"'<>\[\](){}|&;-][^\s\"'<>\[\](){}|&;]*)"
)
_ELEMENT = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9]{0,40}:)?(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,79}+)>(?P<secret>[^\s<>]{1,8192})</"
)
_TEMPLATE = re.compile(
    _NAME + r"""["']?(?: {0,4}=|:) {0,4}`(?![/.~])(?P<secret>[^\s`$(){}<>\[\]|\\]{4,512})(?P<after>.?)"""
)
"""A string of JavaScript in backticks; Markdown sets off words, code and paths in the same way."""
_MARKED_WORD = re.compile(r"[A-Za-z_./:,-]+\Z")
_VARIABLE = re.compile(r"%[A-Za-z_]*%?\Z")
_METAVAR = re.compile(r"[A-Z_]+\Z")
_IDENTIFIER = re.compile(r"[A-Za-z_]+(?:\.[A-Za-z_]+)*\.?\Z")
_PLAIN_WORD = re.compile(r"[A-Za-z][a-z]*[.!?]?\Z|[a-z]+(?:[-/'][a-z]+)+\Z|[A-Z_]+\Z")
_FORM = re.compile(r"\A[A-Za-z0-9_.%~*+-]{1,80}=[^\s&]*(?:&[A-Za-z0-9_.%~*+\[\]-]{1,80}=[^\s&]*)+\Z")
_NO_SECRET: Final = frozenset(
    "none null nil true false str string int integer float bool boolean number object array bytes any "  # noqa: SIM905
    "text optional required undefined default empty unknown missing invalid expired yes no basic bearer digest oauth "
    "oauth2".split()
)


def is_form(text: str) -> bool:
    """Tell whether the whole of ``text`` is an URL-encoded form."""
    return _FORM.match(text) is not None


def is_word(text: str) -> bool:
    """Tell whether ``text`` says that there is no secret: a type, ``null``, ``required``."""
    return text.lower() in _NO_SECRET


def assignment_spans(text: str, kind_of: KindOf, query_kind_of: KindOf) -> Iterator[Span]:
    """Yield the secrets of ``text`` that a name announces; ``query_kind_of`` decides on URL parameters."""
    colons, equals = windows_before(text, ":"), windows_before(text, "=")
    for match in _found(_HEADER, text, colons):
        kind = kind_of(match["name"])
        if kind in ("authorization", "cookie"):
            yield from _header_span(match, kind)
    for match, how in _assignments(text, colons, equals):
        kind = query_kind_of(match["name"]) if how == "query" else kind_of(match["name"]) if how else None
        if kind is not None and not _says_nothing(match["secret"], kind):
            yield Span(match.start("secret"), match.end("secret"), kind)


def _assignments(text: str, colons: Windows, equals: Windows) -> Iterator[tuple[re.Match[str], str]]:
    """Yield possible assignments and how they are written; an empty word says that it is none."""
    for match in _found(_QUOTED, text, sorted(colons + equals)):
        yield match, "quoted"
    for match in _found(_QUERY, text, equals):
        yield match, "query"
    for match in _found(_EQUALS, text, equals):
        yield match, _after_equals(match)
    for match in _found(_COLON, text, colons):
        yield match, _after_colon(match)
    if "`" in text:
        for match in _found(_TEMPLATE, text, sorted(colons + equals)):
            is_word_or_path = match["after"] != "`" or _MARKED_WORD.match(match["secret"])
            yield match, "" if is_word_or_path else "template"
    if "</" in text:
        for match in _ELEMENT.finditer(text):
            yield match, "" if _PLAIN_WORD.match(match["secret"]) else "element"
    if "--" in text:
        flags = matches_at(_FLAG, text, places_of(text, "--"), 0) if len(text) >= LONG else _FLAG.finditer(text)
        for match in flags:
            yield match, "" if _METAVAR.match(match["secret"]) else "flag"


def windows_before(text: str, sign: str) -> Windows:
    """Return where assignments by a sign may begin, and where the sign is: where a name, or its end, leads to it."""
    windows: Windows = []
    for place in places_of(text, sign):
        first = max(place - _LEAD, 0)
        led = text[first:place].rstrip(_AFTER_NAMES)
        before = len(led.rstrip(_OF_NAMES))
        if before < len(led):
            windows.append((max(first + before - _SET_OFF, 0), place))
    return windows


def _found(pattern: re.Pattern[str], text: str, windows: Windows) -> Iterator[re.Match[str]]:
    """Yield the matches of a pattern, each of which begins within a window."""
    if not windows:
        return iter(())
    return matches_near(pattern, text, windows, _REACH) if len(text) >= LONG else pattern.finditer(text)


def _says_nothing(secret: str, kind: str) -> bool:
    if secret[0] in "$<{*" or _VARIABLE.match(secret) or is_word(secret) or not secret.strip("*.-_ "):
        return True
    return kind not in NUMERIC and secret.replace(".", "").isdigit()


def _after_equals(match: re.Match[str]) -> str:
    secret, after = match["secret"], match["after"]
    if secret[0] == "=" or (secret[-1] == "=" and after == "="):
        return ""
    is_code = _IDENTIFIER.match(secret) is not None
    if is_code and after in ("(", "[", ".", "{"):
        return ""
    if match["gap"] or match["gap2"]:
        return "" if is_code else "assigned"
    if is_code and after in (")", ",") and not match["name"].isupper():
        return ""
    return "assigned"


def _after_colon(match: re.Match[str]) -> str:
    secret = match["secret"]
    if secret[0] in "=:/" or (_IDENTIFIER.match(secret) and (match["after"] or "")[:1] in ("(", "[")):
        return ""
    ends_line = not (match["after"] or "").strip(" \t,;)}]\r\n").replace("\\n", "")
    if match["start"] is not None and ends_line:
        return "line"
    return "" if _PLAIN_WORD.match(secret.rstrip(".")) else "word"


def _header_span(match: re.Match[str], kind: str) -> Iterator[Span]:
    """Yield what a header says after its scheme: a cookie to the end of its line, a credential to the next space."""
    secret = match["secret"].rstrip()
    start = match.start("secret")
    if not secret:
        return
    if kind == "cookie":
        if "=" in secret:
            yield Span(start, start + len(secret), kind)
    elif match["scheme"] and not _PLAIN_WORD.match(secret.split()[0]):
        yield Span(start, start + len(secret if "," in secret else secret.split()[0]), kind)
