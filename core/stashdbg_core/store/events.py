"""Events of an indexed file: read when looked at, their columns answered without touching the file."""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Sequence
from typing import overload

from stashdbg_core.model import EventSequence, RecordedEvent
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.event_record import decode_event
from stashdbg_core.store.index import NO_PARENT, ODD_ORDINAL, ODD_PARENT, EventColumns
from stashdbg_core.store.read_ahead import ReadAhead
from stashdbg_core.store.source import FileSource, Source

_KEPT = 512
_STRETCH = 1 << 20


class FileEvents(EventSequence):
    """The events of a file in ``seq`` order."""

    def __init__(self, source: Source, columns: EventColumns, blobs: FileBlobs) -> None:
        self._source = ReadAhead(source)
        self.identity = source.identity if isinstance(source, FileSource) else None
        """Device, inode, size and time of the file as it was read."""
        self._blobs = blobs
        self._names = columns.names
        self._columns = columns.columns
        self._length = len(columns)
        self._offset = self._columns["offset"]
        self._kept: dict[int, RecordedEvent] = {}

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> RecordedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[RecordedEvent]: ...
    def __getitem__(self, index: int | slice) -> RecordedEvent | Sequence[RecordedEvent]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(self._length))]
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            raise IndexError("event index out of range")
        event = self._kept.get(position)
        if event is None:
            event = decode_event(self.raw_at(position), self.seq_at(position))
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            self._kept[position] = event
            self._blobs.expect(event.ref, self._columns["ref"][position])
            if event.input_ref is not None:
                self._blobs.expect(event.input_ref, self._columns["input_ref"][position])
        return event

    def raw_at(self, index: int) -> bytes:
        """Return the JSON text of an event as it stands in the file."""
        return self._source.read_at(self._offset[index], self._columns["length"][index])

    def position_of(self, seq: int) -> int | None:
        """Return the index of the first event with this ``seq``, or None."""
        column = self._columns.get("seq")
        if column is None:
            return seq if 0 <= seq < self._length else None
        position = bisect_left(column, seq)
        return position if position < self._length and column[position] == seq else None

    def seq_at(self, index: int) -> int:
        """Return ``seq`` of the event at an index, clamped to 62 bits."""
        column = self._columns.get("seq")
        return index if column is None else int(column[index])

    def channel_at(self, index: int) -> str:
        name = self._name("channel", index)
        return self[index].channel if name is None else name

    def key_at(self, index: int) -> str:
        name = self._name("key", index)
        return self[index].key if name is None else name

    def outcome_at(self, index: int) -> str:
        name = self._name("outcome", index)
        return self[index].outcome if name is None else name

    def thread_at(self, index: int) -> str | None:
        number = self._columns["thread"][index]
        names = self._names["thread"]
        return self[index].thread if number == names.full else names.texts[number]

    def ordinal_at(self, index: int) -> int:
        ordinal = int(self._columns["ordinal"][index])
        return self[index].ordinal if ordinal == ODD_ORDINAL else ordinal

    def parent_at(self, index: int) -> int | None:
        """Return ``seq`` of the enclosing call."""
        column = self._columns.get("parent")
        parent = NO_PARENT if column is None else int(column[index])
        return None if parent == NO_PARENT else self[index].parent if parent == ODD_PARENT else parent

    def at_at(self, index: int) -> float | None:
        """Return the start in milliseconds since the epoch."""
        at = float(self._columns["at"][index])
        return at if at == at else None

    def ms_at(self, index: int) -> float | None:
        """Return the duration in milliseconds, to seven digits."""
        ms = float(self._columns["ms"][index])
        return ms if ms == ms else None

    def name_column(self, column: str) -> tuple[Sequence[int], Sequence[str | None], int]:
        """Return a column of names as numbers, the name of each number, and the number that stands for all others."""
        names = self._names[column]
        return self._columns[column], names.texts, names.full

    def number_column(self, column: str, start: int, stop: int) -> Sequence[float]:
        """Return ``seq``, ``ordinal``, ``at`` or ``ms`` of a slice of events; NaN where there is none."""
        if column == "seq" and "seq" not in self._columns:
            return range(start, min(stop, self._length))
        cut: Sequence[float] = self._columns[column][start:stop]
        if column == "ordinal" and ODD_ORDINAL in cut:
            return [self.ordinal_at(index) for index in range(start, min(stop, self._length))]
        return cut

    def may_have(self, field: str, start: int, stop: int) -> bool:
        """Tell whether some event of a slice may have a field; the slice is read at once if it lies in one stretch."""
        offsets, lengths = self._offset[start:stop], self._columns["length"][start:stop]
        if not offsets:
            return False
        low = min(offsets)
        size = max(map(operator.add, offsets, lengths)) - low
        if size > 2 * sum(lengths) + _STRETCH:
            return True
        text = self._source.read_at(low, size)
        return b'"%b"' % field.encode() in text or (b"\\" in text and b"\\u00" in text)  # one byte is found faster

    def blob_column(self, part: str, start: int, stop: int) -> Sequence[int]:
        """Return the numbers of a slice's values (``ref``) or inputs (``input_ref``); negative when not there."""
        cut: Sequence[int] = self._columns[part][start:stop]
        return cut

    def blob_at(self, index: int) -> int:
        """Return the number of the value in the blob table; negative when it is not there."""
        return int(self._columns["ref"][index])

    def input_blob_at(self, index: int) -> int:
        """Return the number of the input in the blob table; ``NONE`` or ``MISSING`` when it is not there."""
        return int(self._columns["input_ref"][index])

    def _name(self, column: str, index: int) -> str | None:
        number = self._columns[column][index]
        names = self._names[column]
        return None if number == names.full else names.texts[number]
