"""Zstandard, unpacked bit by bit: needs Python 3.14 or the package ``zstandard``."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from stashdbg_core.errors import ErrorCode, StashError, invalid_recording
from stashdbg_core.parse import over_limit
from stashdbg_core.sanitize import shorten

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_PIECE = 1 << 16


def unpacked(packed: Iterator[bytes], limit: int, name: str) -> Iterator[bytes]:
    """Yield what Zstandard frames hold, one after the other.

    Args:
        packed: The frames, cut anywhere.
        limit: Bytes that they may hold at most.
        name: What to call them in an error.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: damaged, or more than the limit; ``ERR_NOT_FOUND``: no library for it.
    """
    make, failures = _library()
    unpacker, size, fresh = make(), 0, True
    for block in packed:
        for at in range(0, len(block), _PIECE):
            rest = block[at : at + _PIECE]
            while rest:
                if unpacker.eof:
                    unpacker = make()
                try:
                    part = unpacker.decompress(rest)
                except failures as error:
                    raise invalid_recording(f"{shorten(name, 200)}: damaged Zstandard data") from error
                rest, fresh = unpacker.unused_data, unpacker.eof
                size += len(part)
                if size > limit:
                    raise over_limit("size", limit, f"{shorten(name, 200)} unpacks to more bytes")
                if part:
                    yield part
    if not fresh:
        return  # cut off: what was there counts


def _library() -> tuple[Any, tuple[type[Exception], ...]]:
    """Return what makes an unpacker, and what it raises."""
    try:
        ours = import_module("compression.zstd")
        return ours.ZstdDecompressor, (ours.ZstdError, EOFError)
    except ImportError:
        pass
    try:
        theirs = import_module("zstandard")
    except ImportError:
        raise StashError(
            "the file is compressed with Zstandard, which this Python cannot unpack",
            code=ErrorCode.NOT_FOUND,
            hint="pip install 'stashdbg[formats]'",
        ) from None
    return lambda: theirs.ZstdDecompressor().decompressobj(), (theirs.ZstdError,)
