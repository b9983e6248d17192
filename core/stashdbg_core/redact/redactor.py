"""The masking of secrets before anything is stored: one object a recording.

The live program's values are never touched: trees go in, and what has to change is copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from stashdbg_core.canonical import Json
from stashdbg_core.redact.assignments import KindOf
from stashdbg_core.redact.edits import Place
from stashdbg_core.redact.names import normalise_name, sensitive_kind, sensitive_query_kind, sensitive_text_kind
from stashdbg_core.redact.nested import MAX_NESTING, mask_base64_json, mask_json_text
from stashdbg_core.redact.placeholders import PlaceholderTable
from stashdbg_core.redact.prefilter import Prefilter
from stashdbg_core.redact.repeats import Repeats
from stashdbg_core.redact.rules import SECRETS, Rule
from stashdbg_core.redact.spans import Take
from stashdbg_core.redact.stream_text import mask_across
from stashdbg_core.redact.text import Replacement, TextMasker
from stashdbg_core.redact.walk import Pass, Walk


class Finding(NamedTuple):
    """A secret found in a tree."""

    pointer: str
    """RFC 6901 pointer of the text that holds it."""
    kind: str


class Redactor:
    """Masks secrets in trees and texts; safe from many threads.

    Args:
        rules: Shapes to look for; ``SECRETS``, ``PII`` and own ones add up.
        names: Further names whose values are secret; compared like ours.
        keep: Names whose values are not secret, against the rules by name.
    """

    def __init__(self, rules: Sequence[Rule] = SECRETS, *, names: Iterable[str] = (), keep: Iterable[str] = ()) -> None:
        names = tuple(names)
        self._own = {normalise_name(name) for name in names}
        self._keep = {normalise_name(name) for name in keep}
        self._prefilter = Prefilter(rules, names)
        self._kind_of = self._adjusted(sensitive_kind)
        self._text = TextMasker(
            rules,
            self._adjusted(sensitive_text_kind),
            self._adjusted(sensitive_query_kind),
            self._adjusted(lambda name: sensitive_kind(name) or sensitive_query_kind(name)),
        )
        self._table = PlaceholderTable()
        self.suspects: Callable[[bytes], bool] = self._prefilter.suspects
        """Tell whether stored bytes, or plain UTF-8, may hold something to mask: never no where there is."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many places were masked so far, by kind."""
        return self._table.counts()

    def redact_tree(self, tree: Json) -> Json:
        """Return ``tree`` masked; the same object if there was nothing to mask."""
        for each in self.passes():
            tree = each.make(Walk).mask(tree)
        return tree

    def passes(self) -> tuple[Pass, ...]:
        """Return the ways of going through a tree that together mask it, each on what the one before has left."""
        return (Pass(partial(self._walk, self._table.placeholder), self._table.counts, self._table.count),)

    def redact_text(self, text: str) -> str:
        """Return ``text`` masked; the same object if there was nothing to mask."""
        return self._mask_text(text, None, self._table.placeholder, 0)

    def reserve(self, text: str) -> None:
        """Take no number for a new secret that a placeholder in ``text`` has."""
        self._table.reserve(text)

    def findings(self, tree: Json) -> list[Finding]:
        """Return where ``tree`` holds secrets, and of which kinds, in the order of a walk; nothing is counted."""
        each, places = self.finding_pass(), list[Finding]()
        assert each.kinds is not None
        kinds = each.kinds

        def found(place: Place, key: str | int) -> None:
            pointer = place.pointer(key)[len("/0") :]  # the walk starts from a list around the tree
            places.extend(Finding(pointer, kind) for kind in dict.fromkeys(kinds))
            kinds.clear()

        each.make(Walk, found=found).mask(tree)
        return places

    def finding_pass(self) -> Pass:
        """Return a way of going through a tree that tells kinds and counts nothing."""
        kinds: list[str] = []

        def take(_: str, kind: str) -> str:
            kinds.append(kind)
            return f"[REDACTED:{kind}]"

        return Pass(partial(self._walk, take), kinds=kinds)

    def _walk(self, take: Take, walk: Callable[..., Walk], nesting: int = 0, **more: Any) -> Walk:
        repeats = Repeats(take, self._text.mask_repeats)
        return walk(
            lambda text, kind: self._mask_text(text, kind, repeats.take, nesting),
            self._kind_of,
            lambda chunks: mask_across(chunks, lambda text: self._replacements(text, repeats.take)),
            repeats=repeats,
            **more,
        )

    def _replacements(self, text: str, take: Take) -> list[Replacement]:
        return self._text.replacements(text, take) if self.suspects(text.encode("utf-8", "surrogatepass")) else []

    def _adjusted(self, kind_of: KindOf) -> KindOf:
        """Return ``kind_of`` with the user's names added and taken away."""
        if not self._own and not self._keep:
            return kind_of

        def adjusted(name: str) -> str | None:
            plain = normalise_name(name)
            if plain in self._keep:
                return None
            return "secret" if plain in self._own else kind_of(name)

        return adjusted

    def _mask_text(self, text: str, kind: str | None, take: Take, nesting: int) -> str:
        if kind is not None:
            return self._text.mask_whole(text, kind, take)
        if len(text) < _SHORTEST or not self.suspects(text.encode("utf-8", "surrogatepass")):
            return text
        if nesting < MAX_NESTING:
            walked = mask_json_text(text, lambda tree: self._walk(take, Walk, nesting + 1).mask(tree))
            if walked is not None:
                return walked
            decoded = mask_base64_json(text, partial(self._mask_text, kind=None, take=take, nesting=nesting + 1))
            if decoded is not None and decoded != text:
                return decoded
        return self._text.mask(text, take)


_SHORTEST = 6
"""No shorter text holds both a name and a secret, or a secret with a shape."""
