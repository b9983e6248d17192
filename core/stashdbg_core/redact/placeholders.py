"""What stands where a secret stood: ``[REDACTED:openai-key#1]``.

A placeholder shows the kind of secret and a number that is the same for the same secret within one redactor, so that
equality survives; nothing of the secret, not even its length, is in it. The table from secret to number is keyed with a
random key that lives in memory only.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Final

from stashdbg_core.canonical import Json
from stashdbg_core.redact.edits import edit_tree

OPENING: Final = "[REDACTED:"
WORD: Final = "REDACTED"
ANY_PLACEHOLDER: Final = re.compile(
    r"(?:\[|%(?:25){0,4}5[Bb])REDACTED(?:(?::|%(?:25){0,4}3[Aa])(?P<kind>[a-z][a-z-]{0,39})"
    r"(?:(?:#|%(?:25){0,4}23)(?P<number>[0-9]{1,9}))?)?(?:\]|%(?:25){0,4}5[Dd])"
)
"""A placeholder, also percent-encoded as in a URL. A kind has no digit and no capital: no secret passes for one."""

_NUMBER = re.compile(r"(REDACTED(?::|%(?:25){0,4}3[Aa])[a-z][a-z-]{0,39})(?:#|%(?:25){0,4}23)[0-9]{1,9}(?=\]|%)")


class PlaceholderTable:
    """Gives every secret its placeholder and counts them; safe from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key = secrets.token_bytes(32)
        self._numbers: dict[bytes, int] = {}
        self._last = 0
        self._counts: Counter[str] = Counter()

    def placeholder(self, secret: str, kind: str) -> str:
        """Return the placeholder of ``secret`` where it is known as ``kind``; equal numbers are equal secrets."""
        digest = hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()
        with self._lock:
            number = self._numbers.get(digest)
            if number is None:
                self._last += 1
                number = self._numbers[digest] = self._last
            self._counts[kind] += 1
        return f"{OPENING}{kind}#{number}]"

    def reserve(self, text: str) -> None:
        """Never give a number that a placeholder in ``text`` already has."""
        if WORD not in text:
            return
        with self._lock:
            for match in ANY_PLACEHOLDER.finditer(text):
                self._last = max(self._last, int(match["number"] or 0))

    def count(self, places: Mapping[str, int]) -> None:
        """Count further places, by kind, whose placeholders are made already."""
        with self._lock:
            self._counts.update(places)

    def counts(self) -> Mapping[str, int]:
        """Return how many places were masked, by kind."""
        with self._lock:
            return dict(self._counts)


def normalise_placeholders(tree: Json) -> Json:
    """Return ``tree`` with the numbers of its placeholders gone, for matching; the same object if it has none."""
    return edit_tree(tree, _strip)


def _strip(text: str) -> str:
    return _NUMBER.sub(r"\1", text) if WORD in text else text
