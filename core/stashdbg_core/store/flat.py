"""A recording without shared pieces, for readers that do not know them.

Values that had pieces are written whole under the hash of their whole stored form, and events follow; every other
value, event and spelling stays. Pieces that no event names are left out, for they are inside the values now.
"""

from __future__ import annotations

from collections.abc import Iterator

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable, EventSequence, Recording
from stashdbg_core.store.assembly import pieces_of
from stashdbg_core.store.compact import strict_line
from stashdbg_core.store.event_record import encode_event, event_texts


def flat_parts(recording: Recording) -> tuple[Iterator[bytes], Iterator[tuple[str, bytes]]]:
    """Return the texts of the events, and the refs and texts of the values, of the recording without sharing."""
    named = _refs_named(recording.events)
    whole, inner = _whole_refs(recording.blobs, named)
    return _events(recording.events, whole), _blobs(recording.blobs, whole, inner - named)


def _refs_named(events: EventSequence) -> set[str]:
    named = {event.ref for event in events}
    named.update(event.input_ref for event in events if event.input_ref is not None)
    return named


def _whole_refs(blobs: BlobTable, named: set[str]) -> tuple[dict[str, str], set[str]]:
    """Return the new ref of each value with pieces that stays, and every ref used as a piece."""
    inner: set[str] = set()
    shared: list[str] = []
    for ref in blobs.refs():
        payload = blobs.payload(ref)
        try:
            pieces = pieces_of(payload.raw) if payload.state == "ok" else ()
        except StashError:
            continue
        if pieces:
            inner.update(pieces)
            shared.append(ref)
    whole: dict[str, str] = {}
    for ref in shared:
        if ref in named or ref not in inner:
            try:
                whole[ref] = content_ref(stored_form(blobs.tree(ref)))
            except StashError:
                continue  # what cannot be put together stays as it stands, its pieces beside it
    return whole, inner


def _events(events: EventSequence, whole: dict[str, str]) -> Iterator[bytes]:
    for event, text in zip(events, event_texts(events), strict=True):
        ref = whole.get(event.ref, event.ref)
        input_ref = None if event.input_ref is None else whole.get(event.input_ref, event.input_ref)
        if ref == event.ref and input_ref == event.input_ref:
            yield text
        else:
            yield encode_event(event.replaced(ref=ref, input_ref=input_ref))


def _blobs(blobs: BlobTable, whole: dict[str, str], hidden: set[str]) -> Iterator[tuple[str, bytes]]:
    written: set[str] = set()
    for ref in blobs.refs():
        if ref in hidden:
            continue
        new = whole.get(ref, ref)
        if new in written:
            continue
        written.add(new)
        try:
            text = stored_form(blobs.tree(ref)) if ref in whole else strict_line(blobs.payload(ref).raw)
        except StashError:
            continue
        yield new, text
