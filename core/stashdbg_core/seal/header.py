"""What a seal covers besides the events: version, id, meta, unknown keys, and the values that no event reaches.

Each is one text in stored form: ``1``, ``"run-1"``, ``{KEY:VALUE}`` for a key of ``meta`` or of the top level,
``[REF,VALUE]`` for a value, REF being null where it is a hash, for a hash depends on how a value is shared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from stashdbg_core.canonical import REF_PREFIX, stored_form
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.model import Note, Recording
from stashdbg_core.parse import parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.seal.chain import commitment
from stashdbg_core.seal.whole import WholeValues
from stashdbg_core.store.events import FileEvents

NOT_SEALED = "redaction"
"""The key of ``meta`` that a redacted copy changes, and that a seal leaves out."""
_TWO_MEANINGS = frozenset({"duplicate-key", "odd-meta", "odd-id"})
_NOT_WHOLE = frozenset(
    {"damaged", "truncated", "trailing-text", "odd-events", "odd-blobs", "no-version", "damaged-line"}
)


class HeaderPart(NamedTuple):
    """One thing that a seal covers outside the events."""

    kind: str
    """``version``, ``id``, ``meta``, ``extra`` or ``blob``."""
    name: str
    """A key, or a value's ref; empty where there is one of the kind."""
    text: bytes
    """In stored form; of a blob its ref alone."""


def header_parts(recording: Recording, values: WholeValues, named: set[str]) -> list[HeaderPart]:
    """Return the parts in the order in which they are sealed.

    Args:
        recording: What is sealed.
        values: The recording's values, those of all events hashed before.
        named: Every ref that an event names.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: a value in the header does not mean one thing.
    """
    parts = [
        HeaderPart("version", "", stored_form(recording.version)),
        HeaderPart("id", "", stored_form(recording.id)),
    ]
    meta = {key: raw for key, raw in recording.meta.raw.items() if key != NOT_SEALED}
    parts += [HeaderPart("meta", key, text) for key, text in _entries(meta)]
    parts += [HeaderPart("extra", key, text) for key, text in _entries(recording.extra.raw)]
    for ref in unreached(recording, values, named):
        foreign = None if ref.startswith(REF_PREFIX) and len(ref) == 71 else ref
        parts.append(HeaderPart("blob", ref, stored_form(foreign)))
    return parts


def part_commitment(part: HeaderPart, salt: bytes, values: WholeValues) -> bytes:
    """Return the commitment to a part.

    Raises:
        StashError: A value is damaged, or a piece of it is missing.
    """
    if part.kind != "blob":
        return commitment(salt, part.text)
    digest = hashlib.sha256(salt + b"[" + part.text + b",")
    for text in values.texts(part.name):
        digest.update(text)
    digest.update(b"]")
    return digest.digest()


def unreached(recording: Recording, values: WholeValues, named: set[str]) -> list[str]:
    """Return the refs of whole values that no event reaches, in file order: pieces of them are not listed."""
    if _all_named(recording):
        return []
    rest = [ref for ref in recording.blobs.refs() if ref not in named and not values.reached(ref)]
    inside: set[str] = set()
    for ref in rest:
        try:
            inside.update(use for use in values.uses(ref) if use != ref)
        except StashError:
            continue  # hashing it says why
    return [ref for ref in rest if ref not in inside] if inside else rest


def not_whole(recording: Recording) -> Note | None:
    """Return the first note that says that a file is no whole JSON text, or not only one."""
    return next((note for note in recording.notes if note.kind in _NOT_WHOLE), None)


def _all_named(recording: Recording) -> bool:
    """Tell from a file's columns alone whether events name every value; no is not final."""
    events = recording.events
    if not isinstance(events, FileEvents):
        return False
    places = range(len(events))
    numbers = set(map(events.blob_at, places)).union(map(events.input_blob_at, places))
    return sum(number >= 0 for number in numbers) == len(recording.blobs)


def two_meanings(recording: Recording) -> Note | None:
    """Return the first note that says that a file gives something twice, or in a way that readers may read apart."""
    return next((note for note in recording.notes if note.kind in _TWO_MEANINGS), None)


def _entries(raw: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for key, text in raw.items():
        parsed = parse_tolerant(text)
        if not parsed.exact:
            raise invalid_recording(f"{shorten(key, 60)} does not mean one thing: {parsed.problems[0]}")
        yield key, stored_form({key: parsed.tree})
