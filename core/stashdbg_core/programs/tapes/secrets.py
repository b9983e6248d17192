"""Secrets put back in the place of their placeholders while a program runs, and masked again wherever they come back.

A recording holds ``[REDACTED:password#2]`` where a secret stood. A program that runs on from it would send that text
out; ``--secret password#2=env:NAME`` serves the secret instead. What is recorded meanwhile has the placeholder again,
in whatever text the program put the secret.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import quote, quote_plus

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.redact.edits import edit_tree
from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER, OPENING
from stashdbg_core.sanitize import listed, shorten

_SHORTEST = 6
_HINT = "write PLACEHOLDER=env:NAME, such as 'password#2=env:DB_PASSWORD'"


class Secrets:
    """Placeholders and what they stand for; also rules of redaction (``record.masking.Rules``).

    Args:
        by_placeholder: The secret of each placeholder.
    """

    def __init__(self, by_placeholder: Mapping[str, str]) -> None:
        self._fill = dict(by_placeholder)
        self._mask: dict[str, str] = {}
        for placeholder, secret in by_placeholder.items():
            for spelled in (secret, json.dumps(secret)[1:-1], quote(secret, safe=""), quote_plus(secret)):
                self._mask.setdefault(spelled, placeholder)
        longest_first = sorted(self._mask, key=len, reverse=True)
        self._secret = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None
        self._anchors = [spelled.encode("utf-8", "surrogatepass") for spelled in self._mask]
        self._anchors += [json.dumps(spelled)[1:-1].encode() for spelled in self._mask]

    def __bool__(self) -> bool:
        return bool(self._fill)

    @property
    def placeholders(self) -> frozenset[str]:
        """The placeholders that are filled in."""
        return frozenset(self._fill)

    def filled(self, tree: Json) -> Json:
        """Return a tree with secrets in place of their placeholders."""
        return edit_tree(tree, self._filled) if self._fill else tree

    @property
    def counts(self) -> Mapping[str, int]:
        """Nothing: what is masked again was masked before."""
        return MappingProxyType({})

    def suspects(self, stored: bytes) -> bool:
        """Tell whether a stored form holds one of the secrets."""
        return any(anchor in stored for anchor in self._anchors)

    def redact_tree(self, tree: Json) -> Json:
        """Return a tree with placeholders in place of the secrets."""
        return edit_tree(tree, self.redact_text) if self._secret is not None else tree

    def redact_text(self, text: str) -> str:
        """Return a text with placeholders in place of the secrets."""
        return text if self._secret is None else self._secret.sub(lambda found: self._mask[found[0]], text)

    def _filled(self, text: str) -> str:
        if OPENING not in text:
            return text
        return ANY_PLACEHOLDER.sub(lambda found: self._fill.get(found[0], found[0]), text)


def masked_texts(recording: Recording) -> Iterator[str]:
    """Yield the values of a recording that may hold placeholders, as text."""
    for ref in recording.blobs.refs():
        raw = recording.blobs.payload(ref).raw
        if b"REDACTED" in raw:
            yield raw.decode("utf-8", "replace")


def check_held(placeholders: Collection[str], recording: Recording) -> None:
    """Refuse placeholders that no value of a recording holds.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: one is not there; the hint lists those that are.
    """
    if not placeholders:
        return
    held: dict[str, None] = {}
    for text in masked_texts(recording):
        held.update((match[0], None) for match in ANY_PLACEHOLDER.finditer(text) if match["number"])
    for placeholder in placeholders:
        if placeholder not in held:
            raise invalid_input(
                f"--secret {_short(placeholder)}: the recording holds no such placeholder",
                hint=f"it holds {listed([_short(one) for one in held])}" if held else "it holds none",
            )


def _short(placeholder: str) -> str:
    return placeholder.removeprefix(OPENING).removesuffix("]")


def secrets_of(settings: Sequence[str], environment: Mapping[str, str] | None = None) -> Secrets:
    """Return the secrets that settings name, each ``PLACEHOLDER=env:NAME``.

    Args:
        settings: A placeholder may be spelled without its brackets: ``password#2``.
        environment: Where they are; that of this process when None.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: a setting is malformed, or its variable is not set or too short.
    """
    variables = os.environ if environment is None else environment
    found: dict[str, str] = {}
    for setting in settings:
        spelled, _, source = setting.rpartition("=")
        placeholder = spelled if spelled.startswith(OPENING) else f"{OPENING}{spelled}]"
        match = ANY_PLACEHOLDER.fullmatch(placeholder)
        if match is None or not match["number"]:
            raise invalid_input(f"{shorten(spelled or setting, 60)!r} is no placeholder of one secret", hint=_HINT)
        kind, _, name = source.partition(":")
        if kind != "env" or not name:
            raise invalid_input(f"--secret {shorten(spelled, 60)} does not say where the secret is", hint=_HINT)
        secret = variables.get(name)
        if not secret:
            raise invalid_input(
                f"the environment variable {shorten(name, 60)} is not set", hint="set it, and try again"
            )
        if len(secret) < _SHORTEST:
            raise invalid_input(
                f"the secret in {shorten(name, 60)} has fewer than {_SHORTEST} characters",
                hint="one so short could not be masked again in the new recording",
            )
        found[placeholder] = secret
    return Secrets(found)
