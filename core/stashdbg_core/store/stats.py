"""What a recording holds, counted: events by channel, values, bytes, what sharing saves, the biggest values.

A file's events are counted from its columns and its values read once, in file order, one at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.model import THROW, BlobTable, EventSequence, Recording
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.sharing_tags import names_tag, refs_used, tags_respelled

BIGGEST = 10

_BlobId: TypeAlias = int | str
_EventRow: TypeAlias = tuple[str, str, str | None, float | None, float | None, _BlobId | None, _BlobId | None]
"""Channel, outcome, thread, at, ms, and which blobs its value and its input are."""
_MAX_WHOLE = 1 << 62
"""Where adding up stops: pieces of a hostile file may claim any size."""


@dataclass(frozen=True, slots=True)
class ChannelStats:
    """Calls of one channel."""

    events: int
    throws: int


@dataclass(frozen=True, slots=True)
class BigBlob:
    """A large stored value and the first event that needs it, if one does."""

    ref: str
    bytes: int
    seq: int | None = None
    channel: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class RecordingStats:
    """A recording in numbers; sizes in bytes of stored form."""

    id: str
    events: int
    complete: bool
    channels: dict[str, ChannelStats]
    throws: int
    blobs: int
    bytes: int
    """All stored values, each piece once."""
    whole_bytes: int
    """The same if every event held its own whole value and input."""
    threads: dict[str, int]
    """Events by lane; those of the main lane, which has no name, are not among them."""
    duration_ms: float | None
    """From the first start to the last end, if events say when they were."""
    biggest: tuple[BigBlob, ...] = field(default=())

    def to_json(self) -> dict[str, Json]:
        """Return the facts under the names that ``stashdbg stats --json`` prints."""
        return {
            "id": self.id,
            "events": self.events,
            "complete": self.complete,
            "channels": {name: {"events": c.events, "throws": c.throws} for name, c in self.channels.items()},
            "throws": self.throws,
            "blobs": self.blobs,
            "bytes": self.bytes,
            "wholeBytes": self.whole_bytes,
            "threads": self.threads,
            "durationMs": self.duration_ms,
            "biggestBlobs": [
                {"ref": b.ref, "bytes": b.bytes, "seq": b.seq, "channel": b.channel, "key": b.key} for b in self.biggest
            ],
        }


def recording_stats(recording: Recording) -> RecordingStats:
    """Count what a recording holds.

    Raises:
        StashError: ``ERR_NOT_FOUND``: its file was changed or cannot be read any more.
    """
    table = _Table(recording.blobs)
    table.read()
    tally = _Tally(table)
    for row in _rows(recording.events):
        tally.add(row)
    return RecordingStats(
        id=recording.id,
        events=len(recording.events),
        complete=recording.complete,
        channels={name: ChannelStats(*counts) for name, counts in tally.channels.items()},
        throws=sum(throws for _, throws in tally.channels.values()),
        blobs=len(table.sizes),
        bytes=sum(table.sizes.values()),
        whole_bytes=tally.whole_bytes,
        threads=tally.threads,
        duration_ms=tally.last - tally.first if tally.first <= tally.last else None,
        biggest=_biggest(recording.events, table),
    )


class _Tally:
    def __init__(self, table: _Table) -> None:
        self._table = table
        self.channels: dict[str, list[int]] = {}
        self.threads: dict[str, int] = {}
        self.whole_bytes = 0
        self.first, self.last = float("inf"), float("-inf")

    def add(self, row: _EventRow) -> None:
        channel, outcome, thread, at, ms, value, given = row
        counts = self.channels.setdefault(channel, [0, 0])
        counts[0] += 1
        counts[1] += outcome == THROW
        if thread is not None:
            self.threads[thread] = self.threads.get(thread, 0) + 1
        if at is not None:
            self.first, self.last = min(self.first, at), max(self.last, at + (ms or 0))
        self.whole_bytes += self._table.whole(value) + self._table.whole(given)


class _Table:
    """Sizes of values and their uses of each other; an id is a number in a file's table, else the ref."""

    def __init__(self, blobs: BlobTable) -> None:
        self._blobs = blobs
        self.sizes: dict[_BlobId, int] = {}
        self._uses: dict[_BlobId, list[_BlobId]] = {}
        self._whole: dict[_BlobId, int] = {}

    def read(self) -> None:
        """Read every value once."""
        for blob, raw in self._entries():
            self.sizes[blob] = len(raw)
            refs = refs_used(tags_respelled(raw)) if names_tag(raw) else ()
            used = [part for ref in refs if (part := self._id(ref)) is not None]
            if used:
                self._uses[blob] = used

    def ref(self, blob: _BlobId) -> str:
        """Return the ref of an id."""
        return self._blobs.ref_at(blob) if isinstance(blob, int) and isinstance(self._blobs, FileBlobs) else str(blob)

    def whole(self, blob: _BlobId | None) -> int:
        """Return the size of a value with its pieces put in; 0 if it is missing. A piece within itself counts once."""
        if blob is None or blob not in self._uses:
            return 0 if blob is None else self.sizes.get(blob, 0)
        whole = self._whole
        pending = [(blob, False)]
        while pending:
            node, is_added_up = pending.pop()
            uses = self._uses.get(node, ())
            if is_added_up:
                whole[node] = min(self.sizes.get(node, 0) + sum(whole.get(used, 0) for used in uses), _MAX_WHOLE)
            elif node not in whole:
                whole[node] = 0
                pending.append((node, True))
                pending += [(used, False) for used in uses if used not in whole]
        return whole[blob]

    def users(self) -> dict[_BlobId, list[_BlobId]]:
        """Return which values use each piece."""
        users: dict[_BlobId, list[_BlobId]] = {}
        for blob, used in self._uses.items():
            for piece in used:
                users.setdefault(piece, []).append(blob)
        return users

    def _entries(self) -> Iterator[tuple[_BlobId, bytes]]:
        blobs = self._blobs
        if isinstance(blobs, FileBlobs):
            yield from ((number, raw) for number, _, raw in blobs.entries())
        else:
            yield from ((ref, blobs.payload(ref).raw) for ref in blobs.refs())

    def _id(self, ref: str) -> _BlobId | None:
        if isinstance(self._blobs, FileBlobs):
            return self._blobs.number_of(ref)
        return ref if ref in self._blobs else None


def _rows(events: EventSequence) -> Iterator[_EventRow]:
    if not isinstance(events, FileEvents):
        for event in events:
            yield event.channel, event.outcome, event.thread, event.at, event.ms, event.ref, event.input_ref
        return
    for index in range(len(events)):
        value, given = events.blob_at(index), events.input_blob_at(index)
        yield (
            events.channel_at(index),
            events.outcome_at(index),
            events.thread_at(index),
            events.at_at(index),
            events.ms_at(index),
            value if value >= 0 else None,
            given if given >= 0 else None,
        )


def _biggest(events: EventSequence, table: _Table) -> tuple[BigBlob, ...]:
    """Return the largest stored pieces, each with the first event whose value or input needs it."""
    big = heapq.nlargest(BIGGEST, table.sizes, key=table.sizes.__getitem__)
    needs: dict[_BlobId, list[_BlobId]] = {}
    users = table.users()
    for blob in big:
        reached, pending = {blob}, [blob]
        while pending:
            fresh = [user for user in users.get(pending.pop(), ()) if user not in reached]
            reached.update(fresh)
            pending += fresh
        for user in reached:
            needs.setdefault(user, []).append(blob)
    owners: dict[_BlobId, int] = {}
    for index, row in enumerate(_rows(events)):
        for named in row[-2:]:
            for blob in needs.get(named, ()) if named is not None else ():
                owners.setdefault(blob, index)
        if len(owners) == len(big):
            break
    return tuple(_big_blob(events, table, blob, owners.get(blob)) for blob in big)


def _big_blob(events: EventSequence, table: _Table, blob: _BlobId, index: int | None) -> BigBlob:
    if index is None:
        return BigBlob(table.ref(blob), table.sizes[blob])
    event = events[index]
    return BigBlob(table.ref(blob), table.sizes[blob], event.seq, event.channel, event.key)
