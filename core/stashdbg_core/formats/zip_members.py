"""Members of a zip archive: read by hand, for ``zipfile`` knows no Zstandard before Python 3.14.

Names in the archive are names only: nothing is written, and no path is made of one. A member is unpacked to a bounded
size. An archive whose directory is missing, as a crash leaves it, is read member by member from its start.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, cast

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording
from stashdbg_core.formats.compression import unpacked
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.parse import parse_json
from stashdbg_core.sanitize import shorten

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL = struct.Struct("<4s5H3L2H")
_MAGIC = b"PK\x03\x04"
ZIP_MAGICS = (_MAGIC, b"PK\x05\x06")
"""How archives begin: with a member, or with nothing but an end."""
_ENCRYPTED, _STREAMED = 0x1, 0x8
_SMALL = 256 << 20
"""Bytes that any member may unpack to."""
_RATIO = 200
"""Times its packed size that a larger one may."""
_MEMBERS = 2_000_000


@dataclass(frozen=True, slots=True)
class Member:
    """Where a member lies."""

    name: str
    offset: int
    """Of its local header."""
    method: int
    flags: int
    packed: int
    size: int
    checksum: int


class ZipMembers:
    """The members of an archive by name.

    Args:
        source: The file.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: not a zip archive, or one with too many members.
    """

    def __init__(self, source: ForeignSource) -> None:
        self._source = source
        self.whole = True
        """Whether the archive has its directory; else what could be found was found without it."""
        try:
            self.members: Mapping[str, Member] = self._directory()
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError, struct.error):
            self.whole = False
            self.members = self._scanned()
        if not self.members:
            raise invalid_recording(f"{shorten(source.name, 200)} is no zip archive that can be read")

    def json(self, name: str) -> Json:
        """Return a member as JSON; None if there is none of that name.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``: damaged, too large, or not JSON.
        """
        data = self.read(name)
        return None if data is None else parse_json(data)

    def read(self, name: str) -> bytes | None:
        """Return a member, unpacked; None if there is none of that name.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``: damaged or too large.
        """
        member = self.members.get(name)
        if member is None:
            return None
        data = self._unpacked(member)
        if zlib.crc32(data) != member.checksum:
            raise invalid_recording(f"{self._called(member)} is damaged")
        return data

    def _called(self, member: Member) -> str:
        return f"{shorten(self._source.name, 200)}: member {shorten(member.name, 100)}"

    def _unpacked(self, member: Member) -> bytes:
        what = self._called(member)
        limit = min(self._source.limits.line, max(_SMALL, _RATIO * member.packed))
        if member.flags & _ENCRYPTED:
            raise invalid_recording(f"{what} is encrypted")
        if member.size > limit:
            raise invalid_recording(f"{what} unpacks to {member.size} bytes, the limit is {limit}")
        packed = self._packed(member, what)
        if member.method == _STORED:
            return packed
        if member.method == _ZSTANDARD:
            return b"".join(unpacked(iter((packed,)), limit, what))
        if member.method != _DEFLATED:
            raise invalid_recording(f"{what} is packed by method {member.method}, which is not known")
        inflater = zlib.decompressobj(-15)
        try:
            data = inflater.decompress(packed, limit + 1)
        except zlib.error as error:
            raise invalid_recording(f"{what} is damaged") from error
        if len(data) > limit:
            raise invalid_recording(f"{what} unpacks to more than {limit} bytes")
        return data

    def _packed(self, member: Member, what: str) -> bytes:
        head = self._source.read_at(member.offset, _LOCAL.size)
        if len(head) < _LOCAL.size or not head.startswith(_MAGIC):
            raise invalid_recording(f"{what} is not where the archive says")
        fields = _LOCAL.unpack(head)
        return self._source.read_at(member.offset + _LOCAL.size + fields[9] + fields[10], member.packed)

    def _directory(self) -> dict[str, Member]:
        with zipfile.ZipFile(cast(IO[bytes], _Reader(self._source))) as archive:
            found = archive.infolist()
        if len(found) > _MEMBERS:
            raise invalid_recording(f"{shorten(self._source.name, 200)} has {len(found)} members")
        return {
            info.filename: Member(
                info.filename,
                info.header_offset,
                info.compress_type,
                info.flag_bits,
                info.compress_size,
                info.file_size,
                info.CRC,
            )
            for info in found
        }

    def _scanned(self) -> dict[str, Member]:
        """Return the members that follow one another from the start."""
        found: dict[str, Member] = {}
        offset = 0
        while len(found) < _MEMBERS:
            head = self._source.read_at(offset, _LOCAL.size)
            if len(head) < _LOCAL.size or not head.startswith(_MAGIC):
                break
            _, _, flags, method, _, _, checksum, packed, size, name_length, extra_length = _LOCAL.unpack(head)
            start = offset + _LOCAL.size
            name = self._source.read_at(start, name_length).decode("utf-8", "replace")
            end = start + name_length + extra_length + packed
            if flags & _STREAMED or end > self._source.size:
                break
            found[name] = Member(name, offset, method, flags, packed, size, checksum)
            offset = end
        return found


class _Reader:
    """A source as ``zipfile`` wants a file."""

    def __init__(self, source: ForeignSource) -> None:
        self._source = source
        self._at = 0

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._source.size}[whence]
        if base + offset < 0:
            raise ValueError("before the start")
        self._at = base + offset
        return self._at

    def read(self, length: int = -1) -> bytes:
        data = self._source.read_at(self._at, self._source.size - self._at if length < 0 else length)
        self._at += len(data)
        return data
