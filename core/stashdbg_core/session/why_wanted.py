"""The facts whose source is looked for, and the match of an earlier output against them.

A fact equal to a wanted one claims it: of several outputs that said it the latest counts. Of longer texts also a part
counts, 23 characters at least (or a short wanted text as a word in a longer output); each stretch is claimed once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from stashdbg_core.session.why_facts import Fact

EvidenceKind: TypeAlias = Literal["verbatim", "same value", "same number", "order only"]

_GRAM = 12
_LONGEST_WORDY = 2 * _GRAM
"""Up to so many characters a wanted text is looked for as a whole inside longer ones."""
_SCANNED = 400_000
"""Characters of one output text that are compared with parts of wanted ones."""
_MOST_WANTED = 4_000_000
"""Characters of wanted texts whose parts are looked for."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why one event is linked to a later one; never that it caused anything."""

    kind: EvidenceKind
    characters: int
    """How long what both say is; 0 for order only."""
    source: str
    """Pointer in the output of the earlier event."""
    sink: str
    """Pointer in the input of the later one."""
    text: str
    """What both say, its head."""

    @property
    def words(self) -> str:
        """The label: ``35 characters verbatim``, ``same value``, ``same number``, ``order only``."""
        return f"{self.characters:,} characters verbatim" if self.kind == "verbatim" else self.kind


@dataclass(slots=True)
class Wanted:
    """One fact that is looked for, and which later events said it."""

    fact: Fact
    sinks: dict[int, str] = field(default_factory=dict)
    """Node number to pointer in its input."""
    claimed: bool = False
    covered: list[tuple[int, int]] = field(default_factory=list)


class WantedFacts:
    """All facts whose source is still looked for."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, str], Wanted] = {}
        self._grams: dict[str, tuple[Wanted, int]] = {}
        self._first_words: dict[str, list[Wanted]] = {}
        self._holders: dict[str, list[Wanted]] = {}
        """Key of a fact to the wanted facts inside it."""
        self._characters = 0
        self._open = 0
        """Facts that nobody claimed yet."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is looked for any more."""
        return not self._open

    def add(self, facts: Iterable[Fact], node: int) -> int:
        """Want facts that a node's input says; return how many."""
        count = 0
        for fact in facts:
            count += 1
            wanted = self._by_key.get((fact.kind, fact.key))
            if wanted is None or wanted.claimed:
                wanted = self._by_key[fact.kind, fact.key] = Wanted(fact)
                self._open += 1
                self._index(wanted)
            wanted.sinks.setdefault(node, fact.pointer)
        return count

    def match(self, facts: Iterable[Fact]) -> Iterator[tuple[Wanted, Evidence]]:
        """Yield what of an earlier output's facts was wanted; it is claimed by that."""
        facts = list(facts)
        yield from self._match_equal(sorted((f for f in facts if f.kind != "number"), key=lambda f: f.kind != "whole"))
        for fact in facts:
            if fact.kind == "text":
                yield from self._match_words(fact)
                yield from self._match_parts(fact)
        yield from self._match_equal(fact for fact in facts if fact.kind == "number")

    def _match_equal(self, facts: Iterable[Fact]) -> Iterator[tuple[Wanted, Evidence]]:
        for fact in facts:
            wanted = self._by_key.get((fact.kind, fact.key))
            if wanted is not None and not wanted.claimed:
                self._claim(wanted)
                yield wanted, _evidence(_equal_kind(fact, wanted.fact), fact, wanted, fact.shown)

    def _index(self, wanted: Wanted) -> None:
        fact = wanted.fact
        for holder in fact.within:
            self._holders.setdefault(holder, []).append(wanted)
        if fact.kind != "text":
            return
        if len(fact.key) <= _LONGEST_WORDY:
            word = _WORD.search(fact.key)
            if word:
                self._first_words.setdefault(word.group(), []).append(wanted)
        elif self._characters < _MOST_WANTED:
            self._characters += len(fact.key)
            for at in range(0, len(fact.key) - _GRAM + 1, _GRAM):
                self._grams.setdefault(fact.key[at : at + _GRAM], (wanted, at))

    def _claim(self, wanted: Wanted) -> None:
        """Mark a fact and all that stand inside it as found."""
        pending = [wanted]
        while pending:
            one = pending.pop()
            self._open -= not one.claimed
            one.claimed = True
            pending += [inner for inner in self._holders.pop(one.fact.key, ()) if not inner.claimed]

    def _match_words(self, fact: Fact) -> Iterator[tuple[Wanted, Evidence]]:
        text = fact.key[:_SCANNED]
        for word in _WORD.finditer(text):
            for wanted in self._first_words.get(word.group(), ()):
                key = wanted.fact.key
                start = word.start() - (_WORD.search(key) or word).start()
                if (
                    not wanted.claimed
                    and start >= 0
                    and text.startswith(key, start)
                    and _stands_alone(text, start, key)
                ):
                    self._claim(wanted)
                    yield wanted, _evidence("verbatim", fact, wanted, key)

    def _match_parts(self, fact: Fact) -> Iterator[tuple[Wanted, Evidence]]:
        text, at = fact.key[:_SCANNED], 0
        grams = self._grams
        while grams and at <= len(text) - _GRAM:
            found = grams.get(text[at : at + _GRAM])
            if found is None or found[0].claimed:
                at += 1
                continue
            wanted, offset = found
            key = wanted.fact.key
            start, end = _extend(text, at, key, offset)
            place = offset - (at - start)
            at = end
            if end - start < _LONGEST_WORDY - 1:
                continue
            if any(low <= place and place + end - start <= high for low, high in wanted.covered):
                continue
            wanted.covered.append((place, place + end - start))
            for inner in self._holders.get(key, ()):
                if not inner.claimed and inner.fact.shown in text[start:end]:
                    self._claim(inner)
            yield wanted, _evidence("verbatim", fact, wanted, text[start:end])


def _extend(text: str, at: int, key: str, offset: int) -> tuple[int, int]:
    """Return the longest stretch of a text around ``at`` that stands in a key around ``offset``."""
    start, back = at, offset
    while start > 0 and back > 0 and text[start - 1] == key[back - 1]:
        start, back = start - 1, back - 1
    end, on = at, offset
    while end < len(text) and on < len(key) and text[end] == key[on]:
        end, on = end + 1, on + 1
    return start, end


def _stands_alone(text: str, start: int, key: str) -> bool:
    end = start + len(key)
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (before.isalnum() and key[0].isalnum()) and not (after.isalnum() and key[-1].isalnum())


def _equal_kind(fact: Fact, wanted: Fact) -> EvidenceKind:
    if fact.kind == "text":
        return "verbatim"
    if fact.kind == "number" and (fact.shown != wanted.shown or _in_text(fact) or _in_text(wanted)):
        return "same number"
    return "same value"


def _in_text(fact: Fact) -> bool:
    return any(not holder.startswith(("{", "[")) for holder in fact.within)


def _evidence(kind: EvidenceKind, fact: Fact, wanted: Wanted, text: str) -> Evidence:
    return Evidence(kind, len(text), fact.pointer, next(iter(wanted.sinks.values()), ""), text[:200])
