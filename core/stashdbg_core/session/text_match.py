"""What to look for in texts: a literal, a word with globs, or a regular expression, each in bounded time.

A literal that has no capital letter is found in any case, an ASCII one in any ASCII case. A regular expression that
takes too long is given up with an error; ``re`` could not be stopped.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.pattern_word import required_word

MOST_CHARACTERS = 4096
"""Characters of a text or pattern that is looked for."""
_SECONDS = 0.5
_CHARACTERS_A_SECOND = 4_000_000
_PIECE = regex.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()]|\{\s*(\d*)\s*,?\s*(\d*)\s*\}", regex.S)
_MOST_REPEATS = 20_000
_STRUCTURE = frozenset(",:[]{} \t\n\r")
_LOWERED_TO_ASCII = "\u212a\u0130"
"""The sign of kelvin and the dotted capital i, the only other characters that lower case makes ASCII letters of."""
_OUTSIDE = _STRUCTURE | frozenset("0123456789+-.eEtrufalsnTRUFALSNiyIY")
"""Characters that stand in JSON text outside of strings, NaN and Infinity and any case included."""


class TextMatch:
    """One thing to look for.

    Args:
        text: A literal, a word in which ``*`` stands for anything, or a pattern.
        kind: Which of them.
        flags: Of a pattern: letters out of ``i``, ``m``, ``s``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: nothing to look for, too long, or no valid pattern.
    """

    def __init__(self, text: str, kind: str = "literal", flags: str = "") -> None:
        if not text:
            raise invalid_input("there is nothing to look for", hint="write a word, a text or a /regex/")
        if len(text) > MOST_CHARACTERS:
            raise invalid_input(
                f"a text to look for has at most {MOST_CHARACTERS:,} characters; this has {len(text):,}"
            )
        self.text = text
        self.is_literal = kind == "literal" or (kind == "glob" and "*" not in text)
        self.ignores_case = text == text.lower() if kind != "regex" else "i" in flags
        if kind == "regex":
            source, options = text, _options(flags)
        else:
            parts = [text] if self.is_literal else text.split("*")
            source, options = r"[^\n]*?".join(map(regex.escape, parts)), regex.I if self.ignores_case else 0
            if text.isascii():
                options |= regex.A  # as bytes are compared: the sign of kelvin is no k
        self._pattern = _compiled(source, options)
        self._folded = text.lower()
        self.needle = _needle(_required(text, kind, self.ignores_case), self.ignores_case)
        """What the JSON text of everything that says it holds, in lower case if case does not count; None: not known.

        A text may also spell it in another way than stored form does.
        """
        spans_tokens = not _STRUCTURE.isdisjoint(text) and _OUTSIDE.issuperset(text)
        self.needle_decides = self.is_literal and not spans_tokens
        """Whether a JSON text that holds the needle says it, if what holds it is no escape."""

    def spans(self, text: str, overlapped: bool = False) -> Iterator[tuple[int, int]]:
        """Yield where it stands in a text; an empty match counts nowhere.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: the pattern takes too long.
        """
        if self.is_literal and not overlapped:
            searched = self._searched(text)
            if searched is not None:
                yield from self._literal_spans(searched)
                return
        try:
            for found in self._pattern.finditer(text, overlapped=overlapped, timeout=_patience(text)):
                if found.end() > found.start():
                    yield found.span()
        except TimeoutError:
            raise self._too_slow(text) from None

    def _searched(self, text: str) -> str | None:
        """Return what a literal is looked for in, place by place the same; None where only the pattern can tell."""
        if not self.ignores_case:
            return text
        if text.isascii() or (self._folded.isascii() and not any(sign in text for sign in _LOWERED_TO_ASCII)):
            return text.lower()
        return None

    def _literal_spans(self, text: str) -> Iterator[tuple[int, int]]:
        wanted, size = (self._folded, len(self._folded)) if self.ignores_case else (self.text, len(self.text))
        at = text.find(wanted)
        while at >= 0:
            yield at, at + size
            at = text.find(wanted, at + size)

    def first(self, text: str) -> tuple[int, int] | None:
        """Return where it stands first in a text.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: the pattern takes too long.
        """
        searched = self._searched(text) if self.is_literal else None
        if searched is None:
            return next(self.spans(text), None)
        wanted = self._folded if self.ignores_case else self.text
        at = searched.find(wanted)
        return (at, at + len(wanted)) if at >= 0 else None

    def within(self, text: str) -> bool:
        """Tell whether it stands in a text.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: the pattern takes too long.
        """
        if self.is_literal:
            searched = self._searched(text)
            if searched is not None:
                return (self._folded if self.ignores_case else self.text) in searched
        return next(self.spans(text), None) is not None

    def whole(self, text: str) -> bool:
        """Tell whether a text is nothing but this.

        Raises:
            StashError: ``ERR_INVALID_INPUT``: the pattern takes too long.
        """
        try:
            return self._pattern.fullmatch(text, timeout=_patience(text)) is not None
        except TimeoutError:
            raise self._too_slow(text) from None

    def _too_slow(self, text: str) -> StashError:
        return invalid_input(
            f"the pattern /{shorten(self.text, 60)}/ was given up after {_patience(text):.1f} s on one text of "
            f"{len(text):,} characters",
            hint="nested repeats such as (a+)+ take exponential time; write it without them, or look for a plain text",
        )


def _patience(text: str) -> float:
    return _SECONDS + len(text) / _CHARACTERS_A_SECOND


def _options(flags: str) -> int:
    options = 0
    for letter in flags:
        if letter not in "ims":
            raise invalid_input(f"a /regex/ has no flag {letter!r}", hint="flags are i (any case), m and s")
        options |= {"i": regex.I, "m": regex.M, "s": regex.S}[letter]
    return options


def _compiled(source: str, options: int) -> regex.Pattern[str]:
    if _repeats(source) > _MOST_REPEATS:
        raise invalid_input(
            f"a pattern repeats at most {_MOST_REPEATS:,} times, nested repeats multiplied",
            hint="compiling it alone would take minutes; * and + have no such limit",
        )
    try:
        return regex.compile(source, options | regex.V0)
    except (regex.error, RecursionError, OverflowError) as error:
        where = getattr(error, "pos", None)
        place = "" if where is None else f" at character {where + 1}"
        reason = getattr(error, "msg", None) or "it is too deeply nested"
        raise invalid_input(
            f"the pattern /{shorten(source, 60)}/ is not a regular expression: {shorten(reason, 120)}{place}",
            hint="put the text in quotes to look for it as it stands",
            column=where,
        ) from None


def _repeats(source: str) -> int:
    """Return how often counted repeats, one inside another, make the compiler write out a part of a pattern."""
    inside = [1]
    last = 1
    most = 1
    for piece in _PIECE.finditer(source):
        token = piece.group()
        if token == "(":
            inside.append(1)
        elif token == ")" and len(inside) > 1:
            last = inside.pop()
            inside[-1] = max(inside[-1], last)
            continue
        elif token[0] == "{":
            counts = [min(int(count[:9]), 10**8) if len(count) < 10 else 10**8 for count in piece.groups() if count]
            last *= max(counts, default=1)
            inside[-1] = max(inside[-1], last)
            most = max(most, last)
        last = 1
    return most


def _required(text: str, kind: str, ignores_case: bool) -> str:
    """Return what stands in everything that fits."""
    if kind == "regex":
        return required_word(text, ignores_case) or ""
    return max(text.split("*"), key=len) if kind == "glob" else text


def _needle(text: str, ignores_case: bool) -> bytes | None:
    if ignores_case and not text.isascii():
        return None
    return stored_form(text.lower() if ignores_case else text)[1:-1] or None
