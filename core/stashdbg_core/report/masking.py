"""What leaves is masked first: secrets by the rules of redaction, the reporter's home and name, and then once more what
was masked in one place and still stands in another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from stashdbg_core.canonical import REF_PREFIX
from stashdbg_core.model import Recording
from stashdbg_core.redact.placeholders import OPENING, PlaceholderTable
from stashdbg_core.redact.recording import redact_recording
from stashdbg_core.redact.redactor import Redactor
from stashdbg_core.redact.repeats import is_telling, spellings
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.redact.stream_text import mask_across
from stashdbg_core.redact.text import Replacement
from stashdbg_core.redact.walk import Pass, Walk
from stashdbg_core.report.personal import Person, PersonalText, rewritten

_REFERENCE: Final = re.compile(REF_PREFIX + "[0-9a-f]{64}")
_REFERENCE_BYTES: Final = re.compile(_REFERENCE.pattern.encode())


class _Remembering(PlaceholderTable):
    """A table that can tell the secrets it has seen; it lives no longer than the making of one report."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, str] = {}

    def placeholder(self, secret: str, kind: str) -> str:
        """Return the placeholder of a secret and remember both."""
        shown = super().placeholder(secret, kind)
        self.seen.setdefault(secret, shown)
        return shown

    def copy(self) -> _Remembering:
        """Return a table that goes on from here by itself."""
        table = _Remembering()
        table._key, table._numbers, table._last = self._key, dict(self._numbers), self._last
        return table


class ReportRedactor(Redactor):
    """Masks secrets and the reporter."""

    def __init__(self, rules: RuleSet, person: Person) -> None:
        super().__init__(rules.rules, names=rules.names, keep=rules.keep)
        self._rules, self._person = rules, person
        self._remembering = self._table = _Remembering()
        self._personal = PersonalText(person)
        by_rule = self.suspects
        self.suspects = lambda stored: by_rule(stored) or self._personal.suspects(stored)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places were changed so far, by kind."""
        return {**self._table.counts(), **self._personal.counts}

    def passes(self) -> tuple[Pass, ...]:
        """Return how a tree is masked: by the rules, then for the person."""
        personal = self._personal
        return super().passes() + _edits(
            personal.replace, personal.replacements, lambda: personal.counts, personal.counts.update
        )

    def redact_text(self, text: str) -> str:
        """Return ``text`` masked; the same object if there was nothing to mask."""
        return self._personal.replace(super().redact_text(text))

    def copy(self) -> ReportRedactor:
        """Return a redactor that knows the same placeholders and numbers new ones by itself."""
        other = ReportRedactor(self._rules, self._person)
        other._remembering = other._table = self._remembering.copy()
        return other

    def secrets(self) -> dict[str, str]:
        """Return the secrets seen that can be told from ordinary words, with what stands for each."""
        found = {text.strip(): shown for text, shown in self._remembering.seen.items()}
        return {text: shown for text, shown in found.items() if is_telling(text)}


class Residue(Redactor):
    """Masks known secrets wherever they stand, announced or not."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        super().__init__(())
        ordered = sorted(secrets.items(), key=lambda item: (-len(item[0]), item[0]))
        self._spellings = [(form, shown) for secret, shown in ordered for form in spellings(secret)]
        self._needles = [form.encode("utf-8", "surrogatepass") for form, _ in self._spellings]
        self._counts: Counter[str] = Counter()
        self.suspects = lambda stored: self.holds(stored) or b'"base64"' in stored or b'"stream"' in stored

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places were changed so far, by kind."""
        return dict(self._counts)

    def holds(self, data: bytes) -> bool:
        """Tell whether a secret stands in JSON or plain text; references, random digits that they are, do not count."""
        if not any(needle in data for needle in self._needles):
            return False
        data = _REFERENCE_BYTES.sub(b"", data)
        return any(needle in data for needle in self._needles)

    def passes(self) -> tuple[Pass, ...]:
        """Return how a tree is masked."""
        return _edits(self.redact_text, self._found, lambda: self._counts, self._counts.update)

    def redact_text(self, text: str) -> str:
        """Return ``text`` masked; the same object if there was nothing to mask."""
        return rewritten(text, self._found(text))

    def _found(self, text: str) -> list[Replacement]:
        """Return what to write instead of the secrets in ``text``; of two that overlap, the longer secret."""
        found: list[Replacement] = []
        references = [match.span() for match in _REFERENCE.finditer(text)] if REF_PREFIX in text else []
        for form, shown in self._spellings:
            start = text.find(form)
            while start >= 0:
                end = start + len(form)
                is_free = all(end <= other.start or other.end <= start for other in found)
                if is_free and not any(first <= start and end <= last for first, last in references):
                    found.append(Replacement(start, end, shown))
                start = text.find(form, end)
        self._counts.update(new[len(OPENING) : -1].partition("#")[0] for _, _, new in found)
        return sorted(found)


def mask_recordings(recordings: Sequence[Recording], redactor: ReportRedactor) -> list[Recording]:
    """Return masked copies; a secret found in one of them is masked in all."""
    masked = [redact_recording(recording, redactor) for recording in recordings]
    secrets = redactor.secrets()
    if not secrets:
        return masked
    residue = Residue(secrets)
    return [redact_recording(recording, residue) for recording in masked]


def _edits(
    change: Callable[[str], str],
    find: Callable[[str], list[Replacement]],
    counts: Callable[[], Mapping[str, int]],
    again: Callable[[Mapping[str, int]], None],
) -> tuple[Pass, ...]:
    """Return how every text is changed: in bytes and across the chunks of streams first, then in every key."""

    def make(every_text: bool, walk: Callable[..., Walk], **more: Any) -> Walk:
        chunks = partial(mask_across, find=find)
        return walk(lambda text, _: change(text), lambda _: None, chunks, every_text=every_text, **more)

    return tuple(Pass(partial(make, every_text), counts, again) for every_text in (False, True))
