"""What is odd about the numbering, the outcomes and the references of a file's events, as notes."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from stashdbg_core.model import RETURN, THROW
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index import ODD_ORDINAL, Found, NoteBook, reorder

_LONGEST_COUNT = 15
"""Digits."""


def put_in_order(found: Found) -> None:
    """Put the events into ``seq`` order, and say where ``seq`` is not 0, 1, 2 and so on."""
    columns, notes = found.events.columns, found.notes
    seqs = columns["seq"]
    if seqs == array("q", range(len(seqs))):
        del columns["seq"]
        return
    order = sorted(range(len(seqs)), key=seqs.__getitem__)
    if order != list(range(len(seqs))):
        notes.add("unsorted", "events do not stand in seq order in the file; they are shown in it")
        reorder(columns, order)
        seqs = columns["seq"]
    before = -1
    for seq in seqs:
        if seq == before:
            notes.add("seq-repeated", f"more than one event has seq {seq}", seq=seq)
        elif seq < 0 or seq > 2**53:
            notes.add("seq-odd", f"an event has seq {seq}, which is no place in a recording", seq=seq)
        elif seq != before + 1:
            which = f"seq {before + 1}" if seq == before + 2 else f"seq {before + 1} to {seq - 1}"
            notes.add("seq-gap", f"no event has {which}", seq=seq)
        before = seq


def note_dropped(meta: Mapping[str, bytes], notes: NoteBook) -> int:
    """Say how many events the recorder could not keep; return that."""
    raw = meta.get("droppedEvents", b"0")
    count = int(raw) if raw.isdigit() and len(raw) <= _LONGEST_COUNT else 0
    if count:
        notes.add("dropped", "1 event was not recorded" if count == 1 else f"{count:,} events were not recorded")
    return count


def note_damaged(found: Found) -> None:
    """Say which events are damaged; the columns are still in file order."""
    columns, first = found.events.columns, found.events.first
    for position, damage in found.events.odd:
        where = {name: columns[name][position - first] for name in ("seq", "offset")}
        found.notes.add("damaged-event", f"event {position} of the file: {damage}", **where)


def note_missing(events: FileEvents, missing: list[tuple[int, str]], notes: NoteBook) -> None:
    """Say which values and inputs are not in the file."""
    for position, column in missing[:2000]:
        event = events[position]
        if event.damage is not None and not event.ref:
            continue
        if column == "ref":
            notes.add("missing-blob", f"the value of event {event.seq} is missing", seq=event.seq, ref=event.ref)
        elif event.input_ref is not None and event.input_ref.startswith("sha256:"):
            notes.add("missing-blob", f"the input of event {event.seq} is missing", seq=event.seq, ref=event.input_ref)
        else:
            notes.add(
                "input-not-stored", f"the input of event {event.seq} was not stored", seq=event.seq, ref=event.input_ref
            )
    if len(missing) > 2000:
        notes.skip("missing-blob", len(missing) - 2000)


def note_ordinals(events: FileEvents, found: Found, notes: NoteBook) -> None:
    """Say which calls have an ordinal that is not the count of those before of their channel and key."""
    columns = found.events.columns
    calls = [channel << 32 | key for channel, key in zip(columns["channel"], columns["key"], strict=True)]
    counts: dict[int, Iterator[int]] = defaultdict(count)
    due = array("i", list(map(next, map(counts.__getitem__, calls))))
    if due == columns["ordinal"]:
        return
    places = zip(calls, columns["ordinal"], due, strict=True)
    odd = {call for call, ordinal, expected in places if ordinal != expected}
    odd = {call for call in odd if call & 0xFFFFFFFF != found.events.names["key"].full}
    seen: dict[int, set[int]] = {call: set() for call in odd}
    last: dict[int, int] = {}
    for position, call in enumerate(calls if odd else ()):
        if call in odd:
            ordinal = columns["ordinal"][position]
            _note_ordinal(events, position, ordinal, seen[call], last.get(call, -1), notes)
            seen[call].add(ordinal)
            last[call] = ordinal


def _note_ordinal(events: FileEvents, position: int, ordinal: int, seen: set[int], last: int, notes: NoteBook) -> None:
    seq = events.seq_at(position)
    if ordinal in seen and ordinal != ODD_ORDINAL:
        call = f"{shorten(events.channel_at(position), 40)} {shorten(events.key_at(position), 80)}"
        notes.add("ordinal-repeated", f"event {seq} is the second call {ordinal} of {call}", seq=seq)
    elif ordinal < 0:
        notes.add("ordinal-odd", f"event {seq} has an ordinal that counts no calls", seq=seq)
    elif ordinal != last + 1:
        notes.add("ordinal-gap", f"event {seq} has ordinal {ordinal} where {last + 1} was due", seq=seq)


def note_outcomes(events: FileEvents, found: Found, notes: NoteBook, places: Sequence[int] | None = None) -> None:
    """Say which events, of all or of those at ``places``, ended in a way that this version does not know."""
    names = found.events.names["outcome"]
    known = {names.get(RETURN, -1), names.get(THROW, -1)}
    outcomes = found.events.columns["outcome"]
    if places is None:
        places = () if known.issuperset(set(outcomes)) else range(len(outcomes))
    damaged = {position for position, _ in found.events.odd}
    for position in places:
        if outcomes[position] not in known and position not in damaged:
            seq = events.seq_at(position)
            word = shorten(events.outcome_at(position), 40)
            notes.add("unknown-outcome", f"event {seq} ended with {word!r}, which is neither return nor throw", seq=seq)


def note_seqs(events: FileEvents, notes: NoteBook, places: Sequence[int]) -> None:
    """Say which events at ``places`` have a ``seq`` that another has too, or that is no place on a tape."""
    for place in places:
        seq = events.seq_at(place)
        if place and events.seq_at(place - 1) == seq:
            notes.add("seq-repeated", f"more than one event has seq {seq}", seq=seq)
        elif seq < 0 or seq > 2**53:
            notes.add("seq-odd", f"an event has seq {seq}, which is no place in a recording", seq=seq)
