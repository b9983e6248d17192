"""Masking of what a reader hands over, each long text looked at once.

A session tells most things more than once: a tool's output is its result, and stands in the prompt of every later
call. A long text is put aside before the tree around it is searched, with a mark in its place: what is masked because
of where it stands, such as under the name of a password, still is.
"""

from __future__ import annotations

import re
import secrets
from typing import Any

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.redact import Redactor

LONG = 1000
"""Characters of a text that is worth remembering."""
_REMEMBERED = 200_000
_MASKED_KEPT = 200
_LONGEST_KEPT = 100_000
_DEPTH = 12
_STREAM = b'"$stash":"stream"'
"""In the chunks of a stream a secret may be cut in two: they are searched together."""


class Masker:
    """Masks stored values.

    Args:
        redactor: Finds secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._clean: set[tuple[int, int]] = set()
        """Hash and length of long texts with nothing to mask."""
        self._masked: dict[tuple[int, int], str] = {}
        """Others, masked."""
        self._mark = f"\ue000{secrets.token_hex(8)}"
        self._marks = re.compile(f"{self._mark}:([0-9]{{1,9}})\ue001")

    def stored(self, tree: Json, text: bytes) -> bytes:
        """Return the stored form of a tree, masked.

        Args:
            tree: A tree that can be stored.
            text: Its stored form.
        """
        if len(text) < LONG or _STREAM in text:
            return self._searched(tree, text)
        aside: list[str] = []
        rest = self._without_long(tree, aside, _DEPTH)
        if not aside:
            return self._searched(tree, text)
        kept = [self._looked_at(long) for long in aside]
        masked = self._redactor.redact_tree(rest) if self._redactor.suspects(stored_form(rest)) else rest
        if masked is rest and all(new is old for new, old in zip(kept, aside, strict=True)):
            return text
        return stored_form(self._restored(masked, kept, _DEPTH))

    def _searched(self, tree: Json, text: bytes) -> bytes:
        if not self._redactor.suspects(text):
            return text
        masked = self._redactor.redact_tree(tree)
        return text if masked is tree else stored_form(masked)

    def _without_long(self, tree: Json, aside: list[str], depth: int) -> Json:
        """Return a tree with marks in place of its long texts; the same object if there are none."""
        if isinstance(tree, str):
            if len(tree) < LONG:
                return tree
            aside.append(tree)
            return f"{self._mark}:{len(aside) - 1}\ue001"
        if not depth:
            return tree
        copy: Any = None
        if isinstance(tree, dict):
            for key, value in tree.items():
                if isinstance(value, str | dict | list):
                    new = self._without_long(value, aside, depth - 1)
                    if new is not value:
                        copy = dict(tree) if copy is None else copy
                        copy[key] = new
        elif isinstance(tree, list):
            for place, value in enumerate(tree):
                if isinstance(value, str | dict | list):
                    new = self._without_long(value, aside, depth - 1)
                    if new is not value:
                        copy = tree.copy() if copy is None else copy
                        copy[place] = new
        return tree if copy is None else copy

    def _restored(self, tree: Json, aside: list[str], depth: int) -> Json:
        if isinstance(tree, str):
            return self._marks.sub(lambda found: aside[int(found.group(1))], tree) if self._mark in tree else tree
        if depth and isinstance(tree, dict):
            return {key: self._restored(value, aside, depth - 1) for key, value in tree.items()}
        if depth and isinstance(tree, list):
            return [self._restored(value, aside, depth - 1) for value in tree]
        return tree

    def _looked_at(self, text: str) -> str:
        """Return a text masked; the same object if there was nothing to mask."""
        known = (hash(text), len(text))
        if known in self._clean:
            return text
        masked = self._masked.get(known)
        if masked is not None:
            return masked
        masked = self._redactor.redact_text(text)
        if masked == text:
            if len(self._clean) >= _REMEMBERED:
                self._clean.clear()
            self._clean.add(known)
            return text
        if len(masked) <= _LONGEST_KEPT:
            if len(self._masked) >= _MASKED_KEPT:
                self._masked.clear()
            self._masked[known] = masked
        return masked
