"""What is kept of a file once it is indexed: columns about its events and the places of its values.

At rest an event costs 43 bytes, 51 where calls have calls inside, and a value 20; everything else stays in the file.
Where a column cannot hold an odd entry it holds a sentinel, and the file is asked. References are kept as 8-byte
hashes, checked in full when one is used.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Annotated, Any, ClassVar

import msgspec

from stashdbg_core.model import Note
from stashdbg_core.parse import over_limit
from stashdbg_core.store.event_record import decode_event
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import check_count, check_line

NONE, MISSING = -1, -2
"""In the columns ``ref`` and ``input_ref``: none was given; no such value is in the file."""
ODD_ORDINAL = -(2**31)
NO_PARENT, ODD_PARENT = -1, -2
_NO_NUMBER = float("nan")
_ABSENT = "sha256:" + "0" * 64
_OWN = re.compile(r"sha256:[0-9a-fA-F]{16}.{48}", re.DOTALL)
_NOTES_OF_A_KIND = 100


class Row(msgspec.Struct, gc=False):
    """What the columns hold of an event."""

    seq: Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]
    channel: str
    key: str
    ordinal: Annotated[int, msgspec.Meta(ge=1 - 2**31, le=2**31 - 1)]
    outcome: str
    ref: str
    inputRef: str | None = None
    at: float | None = None
    ms: float | None = None
    thread: str | None = None
    parent: Annotated[int, msgspec.Meta(ge=0, le=2**62)] | None = None


decode_rows = msgspec.json.Decoder(list[Row]).decode
_decode_row = msgspec.json.Decoder(Row).decode


class Names(dict[str | None, int]):
    """Names to small numbers, a new one for each new name until ``full``, which stands for all others."""

    def __init__(self, full: int, characters: int = 8_000_000) -> None:
        super().__init__()
        self.texts: list[str | None] = []
        self.full = full
        self._room = characters

    def __missing__(self, name: str | None) -> int:
        self._room -= len(name or "")
        if len(self.texts) >= self.full or self._room < 0:
            return self.full
        self[name] = number = len(self.texts)
        self.texts.append(name)
        return number


class NoteBook:
    """Notes, of each kind the first hundred and then a count."""

    def __init__(self) -> None:
        self._notes: list[Note] = []
        self._counts: dict[str, int] = {}

    def add(self, kind: str, message: str, **where: Any) -> None:
        """Take a note; ``where`` is its ``seq``, ``ref`` or ``offset``."""
        self._counts[kind] = count = self._counts.get(kind, 0) + 1
        if count <= _NOTES_OF_A_KIND:
            self._notes.append(Note(kind, message, **where))

    def skip(self, kind: str, count: int) -> None:
        """Count notes of a kind that is full without writing them."""
        self._counts[kind] = self._counts.get(kind, 0) + count

    def copy(self) -> NoteBook:
        """Return one that goes on from here by itself."""
        other = NoteBook()
        other._notes, other._counts = self._notes.copy(), self._counts.copy()
        return other

    def notes(self) -> tuple[Note, ...]:
        """Return the notes, and a last one for each kind of which there were more."""
        more = [
            Note(kind, f"and {count - _NOTES_OF_A_KIND} more notes of this kind")
            for kind, count in self._counts.items()
            if count > _NOTES_OF_A_KIND
        ]
        return (*self._notes, *more)


class EventColumns:
    """Columns about events, in file order while they are filled, in ``seq`` order afterwards."""

    CODES: ClassVar[dict[str, str]] = {
        "offset": "Q", "length": "I", "seq": "q", "channel": "H", "key": "H", "ordinal": "i", "outcome": "B",
        "ref": "Q", "input_ref": "Q", "at": "d", "ms": "f", "thread": "H",
    }  # fmt: skip
    """Column name to array type code; ``ref`` and ``input_ref`` become ``i`` when they are resolved."""
    PARENT: ClassVar[str] = "q"
    """Type code of the column ``parent``, which is there only if any event has one."""
    NAMES: ClassVar[dict[str, int]] = {"channel": 2**16 - 1, "key": 2**16 - 1, "outcome": 2**8 - 1, "thread": 2**16 - 1}

    def __init__(self, first: int = 0) -> None:
        self.columns: dict[str, array[Any]] = {name: array(code) for name, code in self.CODES.items()}
        self.first = first
        """How many events lie before these in the file."""
        self.longest = 0
        """Bytes of the longest one."""
        self.names = {name: Names(full) for name, full in self.NAMES.items()}
        self.odd: list[tuple[int, str]] = []
        """Position in the file, and what is wrong with the event's record."""

    def __len__(self) -> int:
        return len(self.columns["offset"])

    def add(self, rows: Sequence[Row], offsets: Iterable[int], lengths: Iterable[int]) -> None:
        """Append events that lie at these byte offsets."""
        columns, names = self.columns, self.names
        columns["offset"].extend(array("Q", offsets))
        columns["length"].extend(sizes := _lengths(lengths))
        self.longest = max(self.longest, max(sizes, default=0))
        columns["seq"].extend(array("q", [row.seq for row in rows]))
        columns["channel"].extend(array("H", map(names["channel"].__getitem__, [row.channel for row in rows])))
        columns["key"].extend(array("H", map(names["key"].__getitem__, [row.key for row in rows])))
        columns["ordinal"].extend(array("i", [row.ordinal for row in rows]))
        columns["outcome"].extend(array("B", map(names["outcome"].__getitem__, [row.outcome for row in rows])))
        columns["ref"].extend(hash_refs([row.ref for row in rows]))
        columns["input_ref"].extend(hash_refs([row.inputRef for row in rows]))
        columns["at"].extend(array("d", [_NO_NUMBER if (at := row.at) is None else at for row in rows]))
        columns["ms"].extend(array("f", [_NO_NUMBER if (ms := row.ms) is None else ms for row in rows]))
        columns["thread"].extend(array("H", map(names["thread"].__getitem__, [row.thread for row in rows])))
        parents = [row.parent for row in rows]
        if "parent" not in columns and parents.count(None) < len(parents):
            columns["parent"] = array(self.PARENT, [NO_PARENT]) * (len(self) - len(rows))
        if "parent" in columns:
            columns["parent"].extend(array(self.PARENT, [NO_PARENT if one is None else one for one in parents]))

    def add_one(self, raw: bytes, offset: int) -> None:
        """Append an event by its text, whatever is wrong with it."""
        try:
            row = _decode_row(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            row = self._odd_row(raw)
        self.add([row], [offset], [len(raw)])

    def _odd_row(self, raw: bytes) -> Row:
        position = self.first + len(self)
        event = decode_event(raw, position)
        if event.damage is not None:
            self.odd.append((position, event.damage))
        ordinal = event.ordinal if abs(event.ordinal) < 2**31 else ODD_ORDINAL
        seq = max(-(2**62), min(event.seq, 2**62))
        parent = event.parent if event.parent is None or 0 <= event.parent <= 2**62 else ODD_PARENT
        return Row(
            seq, event.channel, event.key, ordinal, event.outcome, event.ref, event.input_ref,
            _finite(event.at), _finite(event.ms), event.thread, parent,
        )  # fmt: skip


class BlobColumns:
    """Where values lie: an entry is a key and its value, ``"ref": VALUE``, at ``offset``."""

    CODES: ClassVar[dict[str, str]] = {"hash": "Q", "offset": "Q", "length": "I"}

    def __init__(self) -> None:
        self.columns: dict[str, array[Any]] = {name: array(code) for name, code in self.CODES.items()}
        self.longest = 0
        """Bytes of the longest one."""

    def __len__(self) -> int:
        return len(self.columns["offset"])

    def add(self, hashes: array[int], offsets: Iterable[int], lengths: Iterable[int]) -> None:
        """Append entries."""
        self.columns["hash"].extend(hashes)
        self.columns["offset"].extend(array("Q", offsets))
        self.columns["length"].extend(sizes := _lengths(lengths))
        self.longest = max(self.longest, max(sizes, default=0))


@dataclass
class Found:
    """What a layout found in a file."""

    events: EventColumns = field(default_factory=EventColumns)
    blobs: BlobColumns = field(default_factory=BlobColumns)
    top: dict[str, bytes] = field(default_factory=dict)
    """Every other top-level key, with its JSON text."""
    notes: NoteBook = field(default_factory=NoteBook)
    has_events: bool = True
    """Whether the file has the key ``events`` at all."""

    def check(self, limits: Limits) -> None:
        """Refuse more, or longer, events and values than allowed.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``, naming the limit.
        """
        check_count("events", len(self.events), limits.events)
        check_count("blobs", len(self.blobs), limits.blobs)
        check_line(max(self.events.longest, self.blobs.longest), limits)


@dataclass
class Index:
    """A file's index, finished: all that is needed to open the file again without reading it."""

    identity: str
    meta: dict[str, bytes]
    extra: dict[str, bytes]
    events: EventColumns
    blobs: BlobColumns
    twice: dict[str, int]
    """How many entries too many stand under a reference, for those that the file gives more than once."""
    notes: tuple[Note, ...]


def reorder(columns: dict[str, array[Any]], order: Sequence[int]) -> None:
    """Put every column into the given order."""
    for name, column in columns.items():
        columns[name] = array(column.typecode, map(column.__getitem__, order))


def ref_hash(ref: str) -> int:
    """Return 8 bytes of a reference as a number, never zero: its own first ones, or its blake2b if it is not ours."""
    if _OWN.fullmatch(ref):
        return int(ref[7:23], 16) or 1
    return int.from_bytes(blake2b(ref.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") or 1


def hash_refs(refs: Sequence[str | None]) -> array[int]:
    """Return ``ref_hash`` of each, zero for None."""
    full = [_ABSENT if ref is None else ref for ref in refs]
    text = "".join(full)
    if {71}.issuperset(map(len, full)) and text.isascii():
        try:
            packed = bytes.fromhex("".join([ref[7:23] for ref in full]))
        except ValueError:
            packed = b""
        begin_so = all(text[place::71] == char * len(full) for place, char in enumerate("sha256:"))
        if begin_so and len(packed) == 8 * len(full):
            hashes = unpack_hashes(packed)
            if hashes.count(0) == refs.count(None):
                return hashes
    return array("Q", [0 if ref is None else ref_hash(ref) for ref in refs])


def unpack_hashes(packed: bytes) -> array[int]:
    """Return big-endian 8-byte numbers as an array."""
    hashes = array("Q")
    hashes.frombytes(packed)
    if sys.byteorder == "little":
        hashes.byteswap()
    return hashes


def _lengths(lengths: Iterable[int]) -> array[int]:
    try:
        return array("I", lengths)
    except OverflowError:
        raise over_limit("line", 2**32 - 1, "an event or a value of more bytes") from None


def _finite(number: float | None) -> float | None:
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None
