"""A stored zip whose bytes depend on names, contents and one moment alone.

Local headers, central directory and end record as in APPNOTE.TXT 4.3; no compression, no extra fields, UTF-8 names, one
date for all entries, in UTC, mode 0600.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from stashdbg_core.errors import invalid_input

_VERSION: Final = 20
_MADE_BY: Final = 3 << 8 | _VERSION
"""3: attributes are those of Unix."""
_UTF8: Final = 0x0800
_ATTRIBUTES: Final = 0o100600 << 16
_MAX: Final = 0xFFFFFFFF


def zip_bytes(entries: Sequence[tuple[str, bytes]], now: datetime) -> bytes:
    """Return the archive; a moment that zip cannot say becomes the nearest it can.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it would be larger than 4 GB.
    """
    if sum(len(data) + 2 * len(name.encode()) + 76 for name, data in entries) + 22 > _MAX:
        raise invalid_input("the bundle would be larger than 4 GB", hint="leave something out")
    clock, date = dos_moment(now)
    parts: list[bytes] = []
    directory: list[bytes] = []
    offset = 0
    for name, data in entries:
        spelled = name.encode("utf-8")
        facts = struct.pack(
            "<HHHHHIIIHH", _VERSION, _UTF8, 0, clock, date, zlib.crc32(data), len(data), len(data), len(spelled), 0
        )
        parts += b"PK\x03\x04", facts, spelled, data
        directory += (
            b"PK\x01\x02",
            struct.pack("<H", _MADE_BY),
            facts,
            struct.pack("<HHHII", 0, 0, 0, _ATTRIBUTES, offset),
            spelled,
        )
        offset += 4 + len(facts) + len(spelled) + len(data)
    listing = b"".join(directory)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(entries), len(entries), len(listing), offset, 0)
    return b"".join([*parts, listing, end])


def dos_moment(now: datetime) -> tuple[int, int]:
    """Return a moment in UTC as the time and date words of MS-DOS, within 1980 to 2107."""
    now = now.astimezone(UTC)
    if now.year < 1980:
        return 0, 1 << 5 | 1
    if now.year > 2107:
        return 23 << 11 | 59 << 5 | 29, 127 << 9 | 12 << 5 | 31
    return now.hour << 11 | now.minute << 5 | now.second // 2, (now.year - 1980) << 9 | now.month << 5 | now.day
