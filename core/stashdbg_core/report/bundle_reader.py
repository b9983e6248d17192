"""A bundle opened again: recordings read straight from the archive, nothing ever extracted.

Only entries with the names of ours are looked at, and only if they are plain files that stand once; whatever else is
there is named in a note. A stored recording is read where it lies, by ``pread``; a compressed one is unpacked in
memory, never beyond the limits. Structures as in APPNOTE.TXT 4.3; neither ZIP64 nor encryption.
"""

from __future__ import annotations

import re
import stat
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.model import Note, Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.sanitize import listed, shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import read_source
from stashdbg_core.store.source import BytesSource, FileSource, Source

MANIFEST: Final = "manifest.json"
_LOCAL: Final = b"PK\x03\x04"
_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_ENTRY: Final = struct.Struct("<4sHHHHHHIIIHHHHHII")
_LOCAL_HEAD: Final = struct.Struct("<4sHHHHHIIIHH")
_MAX_DIRECTORY: Final = 4_000_000
_MAX_MANIFEST: Final = 16_000_000
_RATIO: Final = 200
"""A compressed recording may grow by this factor; JSON of real runs grows by 5 to 50."""
_SLICE: Final = 1 << 20
_RECORDING: Final = re.compile(r"recording\.json|recordings/run-([1-9][0-9]{0,5})\.json")
_STORED, _DEFLATED = 0, 8
_ENCRYPTED: Final = 1
_NAMED: Final = 10


@dataclass(frozen=True, slots=True)
class OpenedBundle:
    """A bundle and what is in it."""

    path: Path | None
    manifest: dict[str, Json] | None
    """As it stands in the archive, unchecked; None if there is none that can be read."""
    recordings: tuple[Recording, ...]
    """In the order of their numbers; each has the notes of the archive too."""
    names: tuple[str, ...]
    """Name of each recording in the archive."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    method: int
    crc: int
    packed: int
    size: int
    offset: int


class _Slice:
    """A part of a source as a source of its own."""

    def __init__(self, source: Source, start: int, size: int, name: str) -> None:
        self._source, self._start = source, start
        self.size, self.name = size, name

    def read_at(self, offset: int, length: int) -> bytes:
        return self._source.read_at(self._start + offset, max(0, min(length, self.size - offset)))

    def changed(self) -> bool:
        return self._source.changed()


def is_bundle(head: bytes) -> bool:
    """Tell by its first bytes whether a file is a zip archive."""
    return head.startswith((_LOCAL, _END))


def open_bundle(path: Path, *, limits: Limits = Limits()) -> OpenedBundle:
    """Open a bundle from a file.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be read; ``ERR_INVALID_RECORDING``: it is no archive, holds no
            recording of ours, or a recording in it is damaged or breaks a limit.
    """
    return read_bundle(FileSource(path), limits, Path(path))


def read_bundle(source: Source, limits: Limits, path: Path | None = None) -> OpenedBundle:
    """Open a bundle from a source; see ``open_bundle``."""
    entries, notes = _known(list(_directory(source)), source.name)
    manifest = _manifest(source, entries.pop(MANIFEST, None))
    names = _names(entries, source.name)
    opened = []
    for name in names:
        recording = read_source(_content(source, entries[name], limits), limits, path)
        opened.append(replace(recording, notes=(*recording.notes, *notes)))
    return OpenedBundle(path, manifest, tuple(opened), tuple(names))


def recording_names(source: Source) -> list[str]:
    """Return the names of the recordings in a bundle, in order; only its directory is read.

    Raises:
        StashError: As ``open_bundle``.
    """
    entries, _ = _known(list(_directory(source)), source.name)
    entries.pop(MANIFEST, None)
    return _names(entries, source.name)


def _names(entries: dict[str, _Entry], where: str) -> list[str]:
    if not entries:
        raise invalid_recording(
            f"{where} is an archive without a recording in it",
            hint="a bug report holds recording.json or recordings/run-1.json",
        )
    return sorted(entries, key=_number)


def _known(entries: list[tuple[_Entry, str | None]], where: str) -> tuple[dict[str, _Entry], list[Note]]:
    """Return the usable entries of ours by name, and notes on the others.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: two entries have the name of one recording.
    """
    known: dict[str, _Entry] = {}
    odd: list[str] = []
    for entry, problem in entries:
        derived = entry.name in ("transcript.txt", "narrative.txt", "environment.json")
        if entry.name != MANIFEST and _RECORDING.fullmatch(entry.name) is None:
            if not derived:
                odd.append(shorten(entry.name, 60))
        elif problem is not None:
            odd.append(f"{entry.name} ({problem})")
        elif entry.name in known:
            raise invalid_recording(
                f"{where} holds {entry.name} twice", hint="a bundle of ours does not; ask for it again"
            )
        else:
            known[entry.name] = entry
    if not odd:
        return known, []
    return known, [Note("ignored-entry", f"ignored in the archive: {listed(odd, _NAMED, 160)}")]


def _directory(source: Source) -> Iterator[tuple[_Entry, str | None]]:
    """Yield the entries of the central directory, each with the reason not to read it, if there is one."""
    tail_start = max(0, source.size - _END_SIZE - 0xFFFF)
    tail = source.read_at(tail_start, source.size - tail_start)
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_SIZE:
        raise invalid_recording(
            f"{source.name} is not a whole archive: its directory is missing", hint="fetch it again"
        )
    count, size, offset = struct.unpack("<HII", tail[at + 10 : at + 20])
    start = tail_start + at - size
    if size > _MAX_DIRECTORY or offset == 0xFFFFFFFF or start < 0 or start != offset:
        raise invalid_recording(f"{source.name} is an archive that no bug report has: its directory is odd")
    listing, place = source.read_at(start, size), 0
    for _ in range(count):
        if place + _ENTRY.size > len(listing) or listing[place : place + 4] != b"PK\x01\x02":
            raise invalid_recording(f"{source.name} is a damaged archive: its directory ends early")
        (_, made, _, flags, method, _, _, crc, packed, real, named, extra, comment, _, _, attributes, local) = (
            _ENTRY.unpack_from(listing, place)
        )
        name = listing[place + _ENTRY.size : place + _ENTRY.size + named].decode("utf-8", "replace")
        place += _ENTRY.size + named + extra + comment
        yield _Entry(name, method, crc, packed, real, local), _problem(made, flags, method, attributes)


def _problem(made: int, flags: int, method: int, attributes: int) -> str | None:
    mode = attributes >> 16
    if made >> 8 == 3 and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
        return "not a plain file"
    if flags & _ENCRYPTED:
        return "encrypted"
    return None if method in (_STORED, _DEFLATED) else "an unknown compression"


def _content(source: Source, entry: _Entry, limits: Limits) -> Source:
    """Return the content of an entry, its checksum checked.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: the entry is damaged or larger than the limit.
    """
    name = f"{entry.name} in {source.name}"
    if entry.size > limits.size:
        raise invalid_recording(
            f"{name} has {entry.size:,} bytes; the limit is {limits.size:,}",
            hint="--limit size=… raises it",
            limit="size",
        )
    head = source.read_at(entry.offset, _LOCAL_HEAD.size)
    if len(head) < _LOCAL_HEAD.size or not head.startswith(_LOCAL):
        raise invalid_recording(f"{name} is damaged: it is not where the archive says")
    named, extra = struct.unpack("<HH", head[26:30])
    start = entry.offset + _LOCAL_HEAD.size + named + extra
    if source.read_at(entry.offset + _LOCAL_HEAD.size, named).decode("utf-8", "replace") != entry.name:
        raise invalid_recording(f"{name} is damaged: it has two names")
    if start + entry.packed > source.size:
        raise invalid_recording(f"{name} is damaged: the archive ends before it does")
    if entry.method == _DEFLATED:
        data = _inflated(_Slice(source, start, entry.packed, name), entry)
        content: Source = BytesSource(data, name)
    else:
        if entry.packed != entry.size:
            raise invalid_recording(f"{name} is damaged: it has two sizes")
        content = _Slice(source, start, entry.size, name)
    if _checksum(content) != entry.crc:
        raise invalid_recording(f"{name} is damaged: its checksum does not fit")
    return content


def _inflated(packed: _Slice, entry: _Entry) -> bytes:
    if entry.size > max(entry.packed, 1) * _RATIO + _SLICE:
        raise invalid_recording(f"{packed.name} claims to grow more than {_RATIO} times when unpacked")
    stream = zlib.decompressobj(-15)
    try:
        data = stream.decompress(packed.read_at(0, packed.size), entry.size + 1)
    except zlib.error:
        raise invalid_recording(f"{packed.name} is damaged: it cannot be unpacked") from None
    if len(data) != entry.size or not stream.eof:
        raise invalid_recording(f"{packed.name} is damaged: it has another size than the archive says")
    return data


def _checksum(content: Source) -> int:
    crc = 0
    for offset in range(0, content.size, _SLICE):
        crc = zlib.crc32(content.read_at(offset, _SLICE), crc)
    return crc


def _manifest(source: Source, entry: _Entry | None) -> dict[str, Json] | None:
    if entry is None or entry.size > _MAX_MANIFEST:
        return None
    try:
        content = _content(source, entry, Limits(size=_MAX_MANIFEST))
        tree = parse_json(content.read_at(0, content.size))
    except StashError:
        return None
    return tree if type(tree) is dict else None


def _number(name: str) -> int:
    match = _RECORDING.fullmatch(name)
    return int(match[1] or 0) if match is not None else 0
