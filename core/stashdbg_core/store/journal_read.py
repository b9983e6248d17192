"""Reading a journal, whatever ended it.

A torn last line is left out, a damaged one costs itself; both are named in a note. Every whole line counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.model import FORMAT_VERSION, Note, RawObject, Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.compact import is_strict_json, strict_line
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index import MISSING, Found, NoteBook, decode_rows, ref_hash, reorder
from stashdbg_core.store.index_checks import note_dropped
from stashdbg_core.store.index_finish import finish
from stashdbg_core.store.journal_lines import BLOB_START, BLOB_VALUE, END, EVENT_START, HEADER_START, META_START
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import check_count, check_line, check_size
from stashdbg_core.store.source import FileSource, Source

_SLICE = 1 << 22
_BLOB = re.compile(rb'\{"blob":("[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"),"value":')
_REF_LENGTH = len('"sha256:') + 64 + 1
_SEAM = 256
"""Bytes at the start and at the end of what was read that are compared before reading on."""
_NOT_OF_A_JOURNAL = frozenset({"seq-gap", "ordinal-gap", "unsorted"})
"""Notes that say of a journal only what is usual there, or what the note on calls in flight says."""
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class JournalBlobs(FileBlobs):
    """The values of a journal; an entry is ``"REF","value":VALUE``."""

    def size_at(self, number: int, ref: str | None = None) -> int:
        ref = self.ref_at(number) if ref is None else ref
        return max(0, int(self._columns["length"][number]) - len(ref) - 2 - len(BLOB_VALUE))

    def raw_at(self, number: int) -> bytes:
        entry = self._entry(number)
        at = entry.find(b'"' + BLOB_VALUE)
        return entry[at + 1 + len(BLOB_VALUE) :] if at > 0 else b""

    def _split(self, entry: bytes) -> tuple[str | None, bytes]:
        at = entry.find(b'"' + BLOB_VALUE) + 1
        return (str(parse_json(entry[:at])), entry[at + len(BLOB_VALUE) :]) if at else (None, b"")


@dataclass
class Journal:
    """What has been read so far."""

    limits: Limits
    found: Found = field(default_factory=Found)
    id: str = ""
    meta: dict[str, bytes] = field(default_factory=dict)
    torn_at: int | None = None
    """Where the last line begins, if the file ends within it."""
    end: int = 0
    """Bytes read, a torn line not counted."""
    events: list[tuple[bytes, int]] = field(default_factory=list)
    """Texts and offsets not yet in the columns."""

    def read(self, source: Source) -> None:
        """Read on from ``end``; the columns stay in file order.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``: a newer version, or a limit is broken.
        """
        self.torn_at = None
        for offset, lines, is_last in _blocks(source, self.limits, self.end):
            for position, line in enumerate(lines):
                torn = is_last and position == len(lines) - 1
                if torn and line and not (line.endswith(END) and is_strict_json(line)):
                    self.torn_at = offset
                    break
                if line and not self.take(line, offset):
                    self.damaged(offset)
                offset += len(line) + (not torn)
            self.end = offset
            self.flush()

    def take(self, line: bytes, offset: int) -> bool:
        """Read one line; tell whether it was one."""
        if not line.endswith(END):
            return False
        if line.startswith(BLOB_START):
            return self._take_blob(line, offset)
        if line.startswith(EVENT_START):
            self.events.append((line[len(EVENT_START) : -1], offset + len(EVENT_START)))
            return True
        if line.startswith((META_START, HEADER_START)):
            return self._take_object(line)
        return False

    def flush(self) -> None:
        """Put the events read into the columns."""
        texts, offsets = [text for text, _ in self.events], [offset for _, offset in self.events]
        self.events = []
        try:
            rows = decode_rows(b"[" + b",".join(texts) + b"]") if texts else []
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            rows = []
        if len(rows) == len(texts):
            self.found.events.add(rows, offsets, [len(text) for text in texts])
        else:
            for text, offset in zip(texts, offsets, strict=True):
                self._add_odd(text, offset)
        check_count("events", len(self.found.events), self.limits.events)
        check_count("blobs", len(self.found.blobs), self.limits.blobs)

    def damaged(self, offset: int) -> None:
        """Note a line that is none of a journal's."""
        self.found.notes.add("damaged-line", f"the line at byte {offset} is damaged and left out", offset=offset)

    def _add_odd(self, text: bytes, offset: int) -> None:
        try:
            strict_line(text)
        except StashError:
            self.damaged(offset - len(EVENT_START))
        else:
            self.found.events.add_one(text, offset)

    def _take_blob(self, line: bytes, offset: int) -> bool:
        match = _BLOB.match(line)
        if match is None:
            return False
        ref = match.group(1)
        start = match.start(1)
        number = ref_hash(ref[1:-1].decode("ascii") if len(ref) == _REF_LENGTH and ref.isascii() else parse_json(ref))
        hashes = self.found.blobs.columns["hash"][:0]
        hashes.append(number)
        self.found.blobs.add(hashes, [offset + start], [len(line) - start - len(END)])
        return True

    def _take_object(self, line: bytes) -> bool:
        try:
            parts = _decode_object(strict_line(line))
            meta = _decode_object(parts.get("meta", msgspec.Raw(b"{}")))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, StashError):
            return False
        if line.startswith(HEADER_START):
            _check_version(parts)
            found: Json = parse_json(bytes(parts.get("id", msgspec.Raw(b'""'))))
            self.id = found if isinstance(found, str) else ""
        self.meta.update({key: bytes(raw) for key, raw in meta.items()})
        return True


class JournalEvents(FileEvents):
    """The events of a journal, and what it takes to read on when there are more."""

    def __init__(self, source: Source, journal: Journal, blobs: FileBlobs) -> None:
        super().__init__(source, journal.found.events, blobs)
        self.journal = journal
        self.first_bytes = source.read_at(0, min(journal.end, _SEAM))
        self.last_bytes = source.read_at(max(0, journal.end - _SEAM), min(journal.end, _SEAM))
        """Both tell whether a file that has grown still begins with what was read."""

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The number of each value by the hash of its reference."""
        hashes = self.journal.found.blobs.columns["hash"]
        return dict(zip(hashes, range(len(hashes)), strict=True))

    def hand_over_numbers(self) -> dict[int, int]:
        """Return ``numbers`` to a recording that will add to them; it has to be made anew if asked for here again."""
        numbers = self.numbers
        del self.numbers
        return numbers

    @cached_property
    def missing(self) -> set[int]:
        """Hashes of references to values that are not there."""
        found = self.journal.found.events.columns
        refs = [self[place].ref for place, number in enumerate(found["ref"]) if number == MISSING]
        inputs = [self[place].input_ref or "" for place, number in enumerate(found["input_ref"]) if number == MISSING]
        return {ref_hash(ref) for ref in (*refs, *inputs)}


def read_journal(source: Source, limits: Limits | None = None) -> Recording:
    """Return the recording of a journal, events in ``seq`` order; not complete unless the run said so.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: a newer version, or a limit is broken.
    """
    limits = limits or Limits()
    check_size(source.size, source.name, limits)
    journal = Journal(limits)
    journal.read(source)
    _drop_repeated(journal.found, source)
    finish(journal.found, source, limits)
    return recording_of_journal(journal, source)


def recording_of_journal(journal: Journal, source: Source) -> Recording:
    """Make the recording of a journal whose columns are in ``seq`` order and resolved."""
    blobs = JournalBlobs(source, journal.found.blobs, journal.limits, {})
    events = JournalEvents(source, journal, blobs)
    notes = [note for note in journal.found.notes.notes() if note.kind not in _NOT_OF_A_JOURNAL]
    if journal.torn_at is not None:
        what = f"the file ends within a line at byte {journal.torn_at}"
        notes.append(Note("truncated", what, offset=journal.torn_at))
    dropped = NoteBook()
    gaps = (events.seq_at(len(events) - 1) + 1 - len(events)) if len(events) else 0
    gaps -= note_dropped(journal.meta, dropped)
    notes += dropped.notes()
    if gaps > 0:
        what = "1 call" if gaps == 1 else f"{gaps} calls"
        notes.append(Note("in-flight", f"{what} had started and not finished when the recording ended"))
    meta = RawObject(journal.meta)
    if journal.torn_at is not None or meta.get("complete") is not True:
        meta = meta.replaced(complete=False)
    return Recording(
        id=journal.id,
        events=events,
        blobs=blobs,
        meta=meta,
        notes=tuple(notes),
        path=source.path if isinstance(source, FileSource) else None,
    )


def _blocks(source: Source, limits: Limits, offset: int) -> Iterator[tuple[int, list[bytes], bool]]:
    """Yield lines, many at a time, with the first one's offset; of the last block the last line has no end."""
    carry = b""
    while True:
        part = source.read_at(offset + len(carry), max(_SLICE, len(carry)))
        block = carry + part
        if offset + len(block) >= source.size or not part:
            yield offset, block.split(b"\n"), True
            return
        cut = block.rfind(b"\n") + 1
        carry = block[cut:]
        check_line(len(carry), limits)
        if cut:
            yield offset, block[: cut - 1].split(b"\n"), False
            offset += cut


def _drop_repeated(found: Found, source: Source) -> None:
    """Keep of values written twice the last: a writer that could not finish a call writes its values again."""
    hashes = found.blobs.columns["hash"]
    if len(set(hashes)) == len(hashes):
        return
    blobs = JournalBlobs(source, found.blobs, Limits(), {})
    last: dict[tuple[int, str], int] = {}
    for number, key in enumerate(hashes):
        last[key, blobs.ref_at(number)] = number
    reorder(found.blobs.columns, sorted(last.values()))


def _check_version(parts: dict[str, msgspec.Raw]) -> None:
    version = bytes(parts.get("version", msgspec.Raw(b"null")))
    if version != str(FORMAT_VERSION).encode():
        raise invalid_recording(
            f"the journal's version is not {FORMAT_VERSION}, the one this build reads",
            hint="open it with the stashdbg that wrote it, or a newer one",
        )
