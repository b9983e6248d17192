"""Secrets that were masked in one place and stand in another, where no name announces them.

One that cannot be an ordinary word is looked for anywhere; what could be one is a secret only as a quoted whole, the
way Python and JSON write it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from stashdbg_core.canonical import stored_form
from stashdbg_core.redact.placeholders import WORD
from stashdbg_core.redact.spans import Span, Take

_LETTER_AND_DIGIT: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[0-9])[!-~]{6,}\Z", re.DOTALL)
_LONG: Final = 16
_MOST: Final = 1000
"""Secrets of one error whose repeats are looked for."""


class Form(NamedTuple):
    """One way in which a secret may stand in a text."""

    written: str
    edge: int
    """Characters at both ends that are quotes around the secret."""
    secret: str
    kind: str


class Repeats:
    """Remembers what is masked, to mask it where a text says it again.

    Args:
        take: Makes placeholders.
        mask: Gets a text and what to look for; returns the text masked.
    """

    def __init__(self, take: Take, mask: Callable[[str, Sequence[Form], Take], str]) -> None:
        self._take = take
        self._mask = mask
        self._secrets: dict[str, str] = {}
        self._forms: list[Form] = []
        self._as_was: dict[str, str] = {}
        """Spelling -> the secret it is of."""

    def begin(self) -> None:
        """Forget what was masked so far."""
        self._secrets.clear()

    def take(self, secret: str, kind: str) -> str:
        """Return the placeholder of a secret, and remember the secret."""
        if len(self._secrets) < _MOST:
            self._secrets.setdefault(secret, kind)
        return self._take(secret, kind)

    def look_through(self, texts: Iterable[str]) -> bool:
        """Tell whether one of these texts repeats anything; what none of them does, is not looked for in each."""
        together = "\n".join(texts) if self._secrets else ""
        self._forms = [form for form in forms_of(self._secrets) if form.written in together]
        self._as_was = {form.written[form.edge : -form.edge or None]: form.secret for form in self._forms}
        return bool(self._forms)

    def mask(self, text: str) -> str:
        """Return one of these texts with what it repeats masked; the same object if it repeats nothing."""
        return self._mask(text, self._forms, lambda said, kind: self._take(self._as_was.get(said, said), kind))


def is_telling(secret: str) -> bool:
    """Tell whether a secret cannot be an ordinary word or number that stands elsewhere by chance."""
    long = len(secret) >= _LONG and not any(character.isspace() for character in secret)
    return long or _LETTER_AND_DIGIT.match(secret) is not None or secret.startswith("-----BEGIN")


def spellings(secret: str) -> tuple[str, ...]:
    """Return how a text may stand in JSON or in what Python prints: as it is, escaped, and escaped twice."""
    once = _escaped(secret)
    return tuple(dict.fromkeys((secret, once, _escaped(once), repr(secret)[1:-1])))


def forms_of(secrets: Mapping[str, str]) -> list[Form]:
    """Return how secrets, each with its kind, are looked for, the longest first."""
    forms: list[Form] = []
    for secret in sorted(secrets, key=len, reverse=True):
        plain, kind = secret.strip(), secrets[secret]
        if not plain or WORD in plain:
            continue
        if is_telling(plain):
            forms += [Form(written, 0, secret, kind) for written in spellings(plain)]
        else:
            forms += [
                Form(f"{mark}{written}{mark}", 1, secret, kind) for written in spellings(secret) for mark in "'\""
            ]
    return forms


def repeat_spans(text: str, forms: Iterable[Form]) -> Iterator[Span]:
    """Yield where secrets stand in ``text`` in one of these forms."""
    for written, edge, _, kind in forms:
        start = text.find(written)
        while start >= 0:
            end = start + len(written)
            yield Span(start + edge, end - edge, kind)
            start = text.find(written, end)


def _escaped(text: str) -> str:
    return stored_form(text).decode("utf-8", "surrogatepass")[1:-1]
