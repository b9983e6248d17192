"""The part of a run that was chosen, as a recording of its own: nothing else of the run is in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable, RawObject, RecordedEvent, Recording
from stashdbg_core.report.units import Conversation, Run
from stashdbg_core.store.assembly import pieces_of
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList

_KEPT: Final = ("producer", "createdAt", "complete", "droppedEvents")
"""Facts of ``meta`` that tell nothing of single calls."""


def chosen_recording(run: Run, chosen: tuple[Conversation, ...]) -> Recording:
    """Return a run's recording with these conversations; as it is if they are all.

    Of a part, ``meta`` keeps only facts about the run as a whole and says how many events were left out; values that no
    chosen event reaches, unknown keys of the file and links to events left out are gone.
    """
    recording = run.recording
    if len(chosen) == len(run.conversations):
        return recording if recording.complete else replace(recording, meta=recording.meta.replaced(complete=False))
    positions = sorted(position for conversation in chosen for position in conversation.positions)
    events = [recording.events[position] for position in positions]
    known = {event.seq for event in events}
    events = [event if event.parent in known else event.replaced(parent=None) for event in events]
    meta: dict[str, Json] = {key: recording.meta[key] for key in _KEPT if key in recording.meta}
    if not recording.complete:
        meta["complete"] = False
    meta["omittedEvents"] = len(recording.events) - len(events)
    notes = [note for note in recording.notes if note.seq in known]
    return replace(
        recording,
        events=EventList(events),
        blobs=_reachable(recording.blobs, events),
        meta=RawObject.of(meta),
        extra=RawObject(),
        notes=notes,
    )


def _reachable(table: BlobTable, events: list[RecordedEvent]) -> BlobStore:
    """Return the values of these events and the pieces in them, as they stand."""
    blobs = BlobStore()
    for event in events:
        pending = [ref for ref in (event.ref, event.input_ref) if ref]
        while pending:
            ref = pending.pop()
            if ref in blobs or not (raw := table.payload(ref).raw):
                continue
            blobs.put_raw(ref, raw)
            try:
                pending.extend(pieces_of(raw))
            except StashError:
                continue  # a damaged value goes along as it is
    return blobs
