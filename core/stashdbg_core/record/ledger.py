"""Where a recorder's events go: memory, or a journal beside the file to be.

A blob is written before, or with, the first event that refers to it. Nothing here locks; the recorder calls in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from stashdbg_core.canonical import Json, content_ref
from stashdbg_core.errors import StashError
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.record.call import Call
from stashdbg_core.store.atomic import cannot_write, free_path, target_of
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.journal import JournalWriter, remove_abandoned
from stashdbg_core.store.journal_pack import pack
from stashdbg_core.store.journal_place import JOURNAL_SUFFIX, journal_path
from stashdbg_core.store.journal_read import read_journal
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.sharing import Sharer
from stashdbg_core.store.source import FileSource
from stashdbg_core.store.writer import write_recording

EVENT_BYTES = 250
"""What an event's own record counts for in ``max_bytes``."""
_MOST_UNWRITTEN = 64 << 20

Unfinished = tuple[Call, str, bytes]
"""A call in flight, and the outcome and stored value it has if the tape ends now."""


class Ledger(Protocol):
    """Takes values and events in the order calls finish."""

    @property
    def size(self) -> int:
        """Bytes taken so far, roughly."""
        ...

    def store(self, stored: bytes) -> str:
        """Store a value, its large pieces shared, and return its ref."""
        ...

    def put(self, stored: bytes) -> str:
        """Store a value in one piece and return its ref."""
        ...

    def append(self, event: RecordedEvent) -> None:
        """Take a finished call; a file has it, and its values, when this returns."""
        ...

    def recording(self, recording_id: str, meta: Mapping[str, Json], unfinished: Sequence[Unfinished]) -> Recording:
        """Return the tape so far, calls in flight as they stand."""
        ...

    def finish(self, meta: Callable[[], Mapping[str, Json]], unfinished: Sequence[Unfinished]) -> None:
        """End the tape with the calls in flight as they stand."""
        ...


class MemoryLedger:
    """A tape in memory."""

    def __init__(self) -> None:
        self._events: list[RecordedEvent] = []
        self._blobs = BlobStore()
        self.store = self._blobs.share_stored
        self.put = self._blobs.put_stored
        self.append = self._events.append

    @property
    def size(self) -> int:
        """Bytes taken so far, roughly."""
        return self._blobs.stored_bytes + EVENT_BYTES * len(self._events)

    def recording(self, recording_id: str, meta: Mapping[str, Json], unfinished: Sequence[Unfinished]) -> Recording:
        """Return the tape so far, calls in flight as they stand; it does not change when recording goes on."""
        return _with_unfinished(recording_id, self._events, self._blobs.copy(), meta, unfinished)

    def finish(self, meta: Callable[[], Mapping[str, Json]], unfinished: Sequence[Unfinished]) -> None:
        """End the tape with the calls in flight as they stand."""
        for call, outcome, stored in unfinished:
            self.append(call.event(outcome, self.store(stored), call.elapsed()))


class JournalLedger:
    """A tape in a journal; memory holds only which values it has.

    Args:
        path: The file the tape becomes when it is closed.
        recording_id: The recording's id.
        meta: What is known at the start.
        force: Replace the file. Otherwise, or while somebody else records to it, a name that is taken becomes
            ``run-2.json``, ``run-3.json``, ….

    Raises:
        StashError: The journal cannot be created.
    """

    def __init__(self, path: Path, recording_id: str, meta: Mapping[str, Json], *, force: bool) -> None:
        self._journal, self.path, self._owned = _create(path, recording_id, meta, force=force)
        self._size = 0
        self._packed = False
        self._refs: set[str] = set()
        self._unwritten: list[tuple[str, bytes]] = []
        self._sharer = Sharer(self.put)
        self.store = self._sharer.store_text

    @property
    def size(self) -> int:
        """Bytes taken so far, roughly."""
        return self._size

    @property
    def journal_path(self) -> Path:
        """The journal's own file."""
        return self._journal.path

    def put(self, stored: bytes) -> str:
        """Store a value in one piece and return its ref."""
        ref = content_ref(stored)
        if ref not in self._refs:
            self._refs.add(ref)
            self._unwritten.append((ref, stored))
            self._size += len(stored)
        return ref

    def append(self, event: RecordedEvent) -> None:
        """Write a finished call and the values not yet written."""
        blobs, self._unwritten = self._unwritten, []
        try:
            self._journal.append(blobs, event)
        except BaseException:
            self._take_back(blobs)
            raise
        self._size += EVENT_BYTES

    def append_values(self) -> int:
        """Write the values not yet written, ahead of their events; return the journal's length then."""
        blobs, self._unwritten = self._unwritten, []
        return self._journal.append_values(blobs)

    def go_on_in(self, path: Path) -> None:
        """Write what comes next to a new file, which continues the journal.

        Raises:
            OSError: It cannot be made.
        """
        self._journal.go_on_in(path)

    def note(self, meta: Mapping[str, Json]) -> None:
        """Write what is known about the run by now."""
        self._journal.note(meta)

    def recording(self, recording_id: str, meta: Mapping[str, Json], unfinished: Sequence[Unfinished]) -> Recording:
        """Return the tape so far, read from the journal, calls in flight as they stand."""
        if self._packed:
            return open_recording(self.path)
        read = read_journal(FileSource(self.journal_path))
        blobs = BlobStore(read.blobs)
        for ref, raw in self._unwritten:
            blobs.put_raw(ref, raw)
        return _with_unfinished(recording_id, read.events, blobs, meta, unfinished)

    def save(self, recording: Recording) -> Path:
        """Write the tape so far to the file it becomes in the end."""
        self.path = write_recording(recording, self.path, overwrite=self._owned)
        self._owned = True
        return self.path

    def finish(self, meta: Callable[[], Mapping[str, Json]], unfinished: Sequence[Unfinished]) -> None:
        """End the tape with the calls in flight as they stand: the final file replaces the journal.

        Raises:
            OSError: The journal cannot be written.
            StashError: The file cannot be written; the journal stays.
        """
        for call, outcome, stored in unfinished:
            self.append(call.event(outcome, self.store(stored), call.elapsed()))
        self.note(meta())
        self._journal.close()
        self.path = pack(self.journal_path, self.path, overwrite=self._owned)
        self._packed = True

    def _take_back(self, blobs: list[tuple[str, bytes]]) -> None:
        """Keep values that could not be written for the next try; forget them if they become too many."""
        self._unwritten = blobs + self._unwritten
        if sum(len(raw) for _, raw in self._unwritten) > _MOST_UNWRITTEN:
            self._refs.difference_update(ref for ref, _ in self._unwritten)
            self._unwritten.clear()
            self._sharer = Sharer(self.put)
            self.store = self._sharer.store_text


def _with_unfinished(
    recording_id: str,
    events: Sequence[RecordedEvent],
    blobs: BlobStore,
    meta: Mapping[str, Json],
    unfinished: Sequence[Unfinished],
) -> Recording:
    open_events = [
        call.event(outcome, blobs.share_stored(stored), call.elapsed()) for call, outcome, stored in unfinished
    ]
    return Recording(recording_id, EventList([*events, *open_events]), blobs, RawObject.of(meta))


def _create(
    wanted: Path, recording_id: str, meta: Mapping[str, Json], *, force: bool
) -> tuple[JournalWriter, Path, bool]:
    """Make a journal, whose existence reserves a name, and tell for which file, and whether that may be replaced.

    Where somebody else records to the file wanted, a free name is taken, ``force`` or not.
    """
    target_of(wanted, overwrite=force)
    while True:
        owned = force and _is_free(journal_path(wanted))
        path = wanted if owned else free_path(wanted, beside=("", JOURNAL_SUFFIX))
        journal = journal_path(path)
        try:
            return JournalWriter(journal, recording_id, meta), path, owned
        except StashError as error:
            if not isinstance(error.__cause__, FileExistsError):  # else somebody was quicker
                raise


def _is_free(journal: Path) -> bool:
    try:
        return remove_abandoned(journal)
    except OSError as error:
        raise cannot_write(journal, error) from error
