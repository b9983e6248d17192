"""One text masked: shapes, announced secrets, URLs. What is masked once is never matched again.

Within a URL or a form the placeholder is percent-encoded, so that the URL stays one and decodes to the placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote, quote_plus, unquote_plus

import regex

from stashdbg_core.redact.assignments import KindOf, assignment_spans, is_form, is_word
from stashdbg_core.redact.multipart import multipart_spans
from stashdbg_core.redact.near import LONG, matches_at, places_of
from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER
from stashdbg_core.redact.repeats import Form, repeat_spans
from stashdbg_core.redact.rules import Rule
from stashdbg_core.redact.spans import Span, Take, holds, settle


class Replacement(NamedTuple):
    """``new`` instead of ``text[start:end]``."""

    start: int
    end: int
    new: str


_REFERENCE = re.compile(r"sha256:[0-9a-f]{64}")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s\"'<>\\`{}|^]+")
_PARAMETER = re.compile(r"(?<==)[^\s&;#\"'<>\\]++")
_ENCODED = re.compile("%[0-9A-Fa-f]{2}")
_SCHEME: Final = re.compile(r"(?i:bearer|basic|token|digest|aws4-hmac-sha256|apikey|bot|negotiate|key)[ \t]+")
_MASKED_COOKIE: Final = re.compile(
    r"[^=;\s]{1,256}=(?:\[REDACTED:cookie\])?"
    r"(?:; (?i:(?:path|domain|max-age|samesite|expires)=[^;]{0,200}|secure|httponly|partitioned))*"
)
"""A cookie that is set, its value gone, as ``exchange.headers`` keeps it."""
_DECODED_DEPTH: Final = 3
_ROUNDS: Final = 8
"""A placeholder sets off what stood next to the secret, which then may be one too; two rounds do nearly always."""
_TOO_SLOW: Final = "unsearched"
"""Kind of a text that a user's rule did not finish within its time."""


class TextMasker:
    """Finds the secrets of single texts.

    Args:
        rules: The shapes looked for.
        kind_of: Tells which names announce a secret in running text.
        query_kind_of: Tells which names of URL parameters do.
        field_kind_of: Tells which names of fields of a form do.
    """

    def __init__(self, rules: Iterable[Rule], kind_of: KindOf, query_kind_of: KindOf, field_kind_of: KindOf) -> None:
        self._rules = [(rule, _compile(rule), tuple(map(_with_odd, rule.anchors))) for rule in rules]
        self._kind_of_name = kind_of
        self._query_kind_of = query_kind_of
        self._field_kind_of = field_kind_of

    def mask(self, text: str, take: Take, depth: int = 0) -> str:
        """Return ``text`` with its secrets replaced; the same object if it has none."""
        for _ in range(_ROUNDS):
            found = self.replacements(text, take, depth)
            if not found:
                break
            text = replaced(text, found)
        return text

    def replacements(self, text: str, take: Take, depth: int = 0) -> list[Replacement]:
        """Return what to write instead of the secrets of ``text``: disjoint stretches in order."""
        announced = assignment_spans(text, self._kind_of_name, self._query_kind_of)
        fields = multipart_spans(text, self._field_kind_of)
        return _settled(text, [*self._encoded(text, take, depth), *self._shapes(text), *fields, *announced], take)

    def mask_repeats(self, text: str, forms: Sequence[Form], take: Take) -> str:
        """Return ``text`` with what it repeats, in one of these forms, replaced; the same object if that is nothing."""
        found = _settled(text, list(repeat_spans(text, forms)), take)
        return replaced(text, found) if found else text

    def mask_whole(self, text: str, kind: str, take: Take) -> str:
        """Return what stands for ``text``, the value of a name that announces a secret of ``kind``."""
        if not text.strip() or (kind == "authorization" and is_word(text)):
            return text
        scheme = _SCHEME.match(text) if kind == "authorization" else None
        start = scheme.end() if scheme else 0
        secret = text[start:]
        if ANY_PLACEHOLDER.fullmatch(secret):
            return text
        if kind == "cookie" and _MASKED_COOKIE.fullmatch(secret):
            return self.mask(text, take)
        return text[:start] + take(secret, self._kind_of(secret) or kind)

    def _kind_of(self, secret: str) -> str | None:
        spans = self._shapes(secret) if len(secret) < 8192 else ()
        return next((span.kind for span in spans if span.end - span.start == len(secret)), None)

    def _shapes(self, text: str) -> Iterator[Span]:
        lowered = text.lower()
        is_long = len(text) >= LONG and len(lowered) == len(text)
        for rule, pattern, anchors in self._rules:
            places: list[int] | None = None
            if anchors:
                possible = [anchor for odd, anchor in anchors if odd in lowered]
                if is_long and rule.lead is not None:
                    places = places_of(lowered, *possible)
                if not (any(anchor in lowered for anchor in possible) if places is None else places):
                    continue
            try:
                for match in _matches(rule, pattern, text, places):
                    group = "secret" if "secret" in pattern.groupindex else 0
                    start, end = match.span(group)
                    if start < end and (rule.check is None or rule.check(text[start:end])):
                        yield Span(start, end, rule.name)
            except TimeoutError:
                yield Span(0, len(text), _TOO_SLOW)

    def _encoded(self, text: str, take: Take, depth: int) -> Iterator[Span]:
        """Yield percent-encoded values whose decoded text holds a secret, as they are encoded once it is masked."""
        if "%" not in text or "=" not in text or depth >= _DECODED_DEPTH:
            return
        for match in _PARAMETER.finditer(text):
            if _ENCODED.search(match.group()) is None:
                continue
            decoded = unquote_plus(match.group(), errors="surrogateescape")
            masked = self.mask(decoded, take, depth + 1)
            if masked != decoded:
                yield Span(*match.span(), "", quote_plus(masked, errors="surrogateescape"))


def replaced(text: str, found: Iterable[Replacement]) -> str:
    """Return ``text`` with disjoint stretches, given in order, replaced."""
    parts: list[str] = []
    end = 0
    for start, stop, new in found:
        parts += text[end:start], new
        end = stop
    parts.append(text[end:])
    return "".join(parts)


def _settled(text: str, spans: list[Span], take: Take) -> list[Replacement]:
    """Return what to write instead of spans of a text, of those that overlap the first: disjoint, in order."""
    if not spans:
        return []
    protected = [match.span() for match in ANY_PLACEHOLDER.finditer(text)]
    protected += [match.span() for match in _REFERENCE.finditer(text)]
    in_form = is_form(text)
    urls = [match.span() for match in _URL.finditer(text)] if "://" in text else []
    found: list[Replacement] = []
    for start, end, kind, replacement in settle(spans, protected):
        new = take(text[start:end], kind) if replacement is None else replacement
        if replacement is None and (in_form or holds(urls, start, end)):
            new = quote(new, safe="")
        found.append(Replacement(start, end, new))
    return found


def _compile(rule: Rule) -> Any:
    return re.compile(rule.pattern, re.ASCII) if rule.timeout is None else regex.compile(rule.pattern)


def _with_odd(anchor: str) -> tuple[str, str]:
    """Return an anchor behind the character of it that is the rarest in texts, which is looked for faster."""
    return next((char for char in anchor if not char.isalnum()), ""), anchor


def _matches(rule: Rule, pattern: Any, text: str, places: list[int] | None) -> Iterator[re.Match[str]]:
    """Yield the matches of a rule's pattern; ``places``, if given, are all those of its anchors."""
    if rule.timeout is not None:
        yield from pattern.finditer(text, timeout=rule.timeout)
    elif places is not None and rule.lead is not None:
        yield from matches_at(pattern, text, places, rule.lead)
    else:
        yield from pattern.finditer(text)
