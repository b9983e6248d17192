"""What a journal has gained since it was read, put into its columns.

Only what is new is read. The columns of the recording read before are copied, never changed: whoever still looks at it
sees what was there. Where the lines of a call came late, its event is put in its place by ``seq``.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index import MISSING, NO_PARENT, NONE, BlobColumns, EventColumns, Found
from stashdbg_core.store.index_checks import note_damaged, note_missing, note_outcomes, note_seqs
from stashdbg_core.store.journal_read import Journal, JournalBlobs, JournalEvents, recording_of_journal
from stashdbg_core.store.scan import check_count, check_size
from stashdbg_core.store.source import Source


def read_growth(recording: Recording, source: Source) -> Recording | None:
    """Return the recording with what its journal gained; None where that cannot be told from the new bytes alone.

    So it is where the file no longer begins with what was read, is no journal, or gained a value that was there or was
    missed before.

    Raises:
        StashError: As ``read_journal``.
    """
    events = recording.events
    if not isinstance(events, JournalEvents) or not _goes_on(events, source):
        return None
    before = events.journal
    check_size(source.size, source.name, before.limits)
    found = Found(EventColumns(len(events)), notes=before.found.notes.copy())
    found.events.names = before.found.events.names
    gained = Journal(before.limits, found, before.id, dict(before.meta), end=before.end)
    gained.read(source)
    numbers = events.hand_over_numbers()
    if not _number(found.blobs, numbers, events.missing):
        return None
    missing = _resolve(found.events, numbers)
    note_damaged(found)
    places = _join(before.found, gained.found)
    check_count("events", len(found.events), before.limits.events)
    check_count("blobs", len(found.blobs), before.limits.blobs)
    _note(gained, places, source)
    grown = recording_of_journal(gained, source)
    assert isinstance(grown.events, JournalEvents)
    grown.events.numbers, grown.events.missing = numbers, events.missing | missing
    return grown


def _goes_on(events: JournalEvents, source: Source) -> bool:
    """Tell whether a file begins with what was read of it."""
    end, first, last = events.journal.end, events.first_bytes, events.last_bytes
    try:
        return source.size >= end and (
            source.read_at(0, len(first)) == first and source.read_at(end - len(last), len(last)) == last
        )
    except StashError:
        return False


def _number(gained: BlobColumns, numbers: dict[int, int], missing: set[int]) -> bool:
    """Number new values after those known; tell whether each is new, and none was missed so far."""
    hashes = gained.columns["hash"]
    if len(set(hashes)) < len(hashes) or not (numbers.keys().isdisjoint(hashes) and missing.isdisjoint(hashes)):
        return False
    numbers.update(zip(hashes, range(len(numbers), len(numbers) + len(hashes)), strict=True))
    return True


def _resolve(gained: EventColumns, numbers: dict[int, int]) -> set[int]:
    """Turn hashes of references into numbers of values; return those of which there is no value."""
    missing: set[int] = set()
    for name in ("ref", "input_ref"):
        hashes = gained.columns[name]
        found = [numbers.get(number, MISSING) if number else NONE for number in hashes]
        missing.update(number for number, place in zip(hashes, found, strict=True) if place == MISSING)
        gained.columns[name] = array("i", found)
    return missing


def _join(before: Found, gained: Found) -> list[int]:
    """Put what was known before what was gained; return where the new events stand now, in ``seq`` order."""
    for name, column in gained.blobs.columns.items():
        gained.blobs.columns[name] = before.blobs.columns[name] + column
    old, new = before.events.columns, gained.events.columns
    count, more = len(before.events), len(gained.events)
    if "parent" in old or "parent" in new:
        known = {"parent": old.get("parent", array("q", [NO_PARENT]) * count)}
        old = old | known
        new.setdefault("parent", array("q", [NO_PARENT]) * more)
    if "seq" not in old:
        if sorted(new["seq"]) == list(range(count, count + more)):
            order = sorted(range(more), key=new.pop("seq").__getitem__)
            _append(old, new, count, order)
            return list(range(count, count + more))
        old = old | {"seq": array("q", range(count))}
    first = bisect_right(old["seq"], min(new["seq"], default=0)) if more else count
    seqs = old["seq"][first:] + new["seq"]
    order = sorted(range(len(seqs)), key=seqs.__getitem__)
    _append(old, new, first, order)
    return [first + place for place, number in enumerate(order) if number >= count - first]


def _append(old: Mapping[str, array[Any]], new: dict[str, array[Any]], first: int, order: Sequence[int]) -> None:
    """Make of each new column the whole one, from ``first`` on in the given order."""
    for name, column in new.items():
        tail = old[name][first:] + column
        new[name] = old[name][:first] + array(tail.typecode, map(tail.__getitem__, order))


def _note(gained: Journal, places: Sequence[int], source: Source) -> None:
    """Say what is odd about the new events; the numbering of calls is looked at where a file is read whole."""
    found = gained.found
    columns = found.events.columns
    events = FileEvents(source, found.events, JournalBlobs(source, found.blobs, gained.limits, {}))
    lost = [(place, name) for name in ("ref", "input_ref") for place in places if columns[name][place] == MISSING]
    note_missing(events, lost, found.notes)
    whole = [place for place in places if events[place].damage is None] if found.events.odd else places
    note_outcomes(events, found, found.notes, whole)
    note_seqs(events, found.notes, places)
