"""From what a layout found to an index in ``seq`` order, with notes on what is odd about it."""

from __future__ import annotations

from array import array
from pathlib import Path

from stashdbg_core.errors import StashError
from stashdbg_core.model import Note, RawObject, Recording
from stashdbg_core.parse import parse_json, parse_tolerant
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index import MISSING, NONE, Found, Index, NoteBook
from stashdbg_core.store.index_checks import (
    note_damaged,
    note_dropped,
    note_missing,
    note_ordinals,
    note_outcomes,
    put_in_order,
)
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import split_object
from stashdbg_core.store.source import Source


def finish(found: Found, source: Source, limits: Limits) -> tuple[FileEvents, FileBlobs, tuple[Note, ...]]:
    """Sort and resolve events and values, and note what is odd; the columns are changed in place."""
    twice = _settle(found, source, limits)
    blobs = FileBlobs(source, found.blobs, limits, twice)
    return FileEvents(source, found.events, blobs), blobs, found.notes.notes()


def make_index(found: Found, source: Source, limits: Limits) -> Index:
    """Do as ``finish`` does, and read the other keys of the top level."""
    notes, top = found.notes, found.top
    identity = _identity(top.pop("id", None), notes)
    meta = _object(top.pop("meta", None), notes, limits)
    top.pop("version", None)
    note_dropped(meta, notes)
    twice = _settle(found, source, limits)
    return Index(identity, meta, top, found.events, found.blobs, twice, notes.notes())


def _settle(found: Found, source: Source, limits: Limits) -> dict[str, int]:
    notes = found.notes
    note_damaged(found)
    put_in_order(found)
    hashes = found.blobs.columns["hash"]
    numbers = _Numbers(zip(hashes, range(len(hashes)), strict=True))  # of entries with one hash, the last
    twice = _given_twice(found, source, limits, len(numbers))
    missing = _resolve(found, numbers)
    events = FileEvents(source, found.events, FileBlobs(source, found.blobs, limits, twice))
    note_missing(events, missing, notes)
    note_ordinals(events, found, notes)
    note_outcomes(events, found, notes)
    return twice


def recording_of(index: Index, source: Source, limits: Limits, path: Path | None) -> Recording:
    """Make the recording that an index describes."""
    blobs = FileBlobs(source, index.blobs, limits, index.twice)
    return Recording(
        id=index.identity,
        events=FileEvents(source, index.events, blobs),
        blobs=blobs,
        meta=RawObject(index.meta),
        extra=RawObject(index.extra),
        notes=index.notes,
        path=path,
    )


def _identity(raw: bytes | None, notes: NoteBook) -> str:
    try:
        tree = None if raw is None else parse_json(raw)
    except StashError:
        tree = None
    if isinstance(tree, str):
        return tree
    notes.add("odd-id", "the recording has no id" if raw is None else "the recording's id is no text")
    return ""


def _object(raw: bytes | None, notes: NoteBook, limits: Limits) -> dict[str, bytes]:
    """Return the texts of the values of ``meta``; of keys that stand twice the last counts."""
    if raw is None:
        return {}
    try:
        parsed = parse_tolerant(raw, limits)
    except StashError as error:
        notes.add("odd-meta", f"meta cannot be read: {error.message}")
        return {}
    for problem in parsed.problems:
        notes.add("odd-meta", f"meta: {problem}")
    if not isinstance(parsed.tree, dict):
        notes.add("odd-meta", "meta is not an object; it counts as empty")
        return {}
    return split_object(raw, limits)


def _given_twice(found: Found, source: Source, limits: Limits, distinct: int) -> dict[str, int]:
    """Return how many entries too many the file has under a reference, for those that it has more than once."""
    hashes = found.blobs.columns["hash"]
    if distinct == len(hashes):
        return {}
    blobs = FileBlobs(source, found.blobs, limits, {})
    seen: dict[int, list[int]] = {}
    for number, value in enumerate(hashes):
        seen.setdefault(value, []).append(number)
    twice: dict[str, int] = {}
    for numbers in seen.values():
        if len(numbers) == 1:
            continue
        refs: set[str] = set()
        for number in numbers:
            ref = blobs.ref_at(number)
            if ref in refs:
                twice[ref] = twice.get(ref, 0) + 1
                message = f"value {shorten(ref, 80)} is given more than once; the last counts"
                offset = found.blobs.columns["offset"][number]
                found.notes.add("duplicate-key", message, ref=ref, offset=offset)
            refs.add(ref)
    return twice


class _Numbers(dict[int, int]):
    """Hashes of references to numbers of values."""

    def __missing__(self, number: int) -> int:
        return MISSING


def _resolve(found: Found, numbers: _Numbers) -> list[tuple[int, str]]:
    """Turn hashes of references into numbers of values; return where one is missing, and in which column."""
    numbers[0] = NONE  # no reference hashes to zero
    missing: list[tuple[int, str]] = []
    for name in ("ref", "input_ref"):
        column = array("i", list(map(numbers.__getitem__, found.events.columns[name])))
        found.events.columns[name] = column
        if MISSING in column:
            missing += [(place, name) for place, number in enumerate(column) if number == MISSING]
    return missing
