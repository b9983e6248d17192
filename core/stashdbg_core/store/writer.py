"""A recording as one JSON file, atomically, in the layout that is fastest to open: one event a line, one value a line.

What came from a file and was not changed is copied as it stands there: numbers keep their spelling, unknown keys
their place.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from stashdbg_core.canonical import encode_plain
from stashdbg_core.errors import StashError
from stashdbg_core.model import BlobTable, RawObject, Recording
from stashdbg_core.store.atomic import write_atomic
from stashdbg_core.store.blobs import FileBlobs
from stashdbg_core.store.compact import strict_line
from stashdbg_core.store.event_record import event_texts
from stashdbg_core.store.flat import flat_parts
from stashdbg_core.store.open import read_recording


def write_recording(
    recording: Recording, path: str | os.PathLike[str], *, overwrite: bool = False, flat: bool = False
) -> Path:
    """Write a recording to a file of mode 0600, and return the path it got.

    Args:
        recording: What to write; it may lie in the very file that is overwritten.
        path: Where to; without ``overwrite`` an existing file stays and the next free name is taken (``run-2.json``).
        overwrite: Replace what is there.
        flat: Write every value whole, for readers that do not know shared pieces.

    Raises:
        StashError: ``ERR_NOT_FOUND`` or ``ERR_INVALID_INPUT``: the file cannot be written; nothing was changed.
    """

    def write(file: BinaryIO) -> None:
        for piece in recording_text(recording, flat=flat):
            file.write(piece)

    return write_atomic(path, write, overwrite=overwrite)


def encode_recording(recording: Recording, flat: bool = False) -> str:
    """Return a recording's JSON text."""
    return b"".join(recording_text(recording, flat=flat)).decode("utf-8")


def decode_recording(text: str | bytes) -> Recording:
    """Read a recording from its JSON text.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is none, or breaks a limit.
    """
    # A half pair that Python holds as a character is an escape in JSON.
    return read_recording(text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text)


def recording_text(recording: Recording, *, flat: bool = False) -> Iterator[bytes]:
    """Yield a recording's JSON text in pieces of moderate size."""
    events, blobs = flat_parts(recording) if flat else (event_texts(recording.events), blob_texts(recording.blobs))
    pieces = chain(
        [b'{"version":%d,"id":%b,"events":[' % (recording.version, encode_plain(recording.id))],
        _lines(events),
        [b'],"blobs":{'],
        _lines(encode_plain(ref) + b":" + raw for ref, raw in blobs),
        [b'},"meta":', raw_object_text(recording.meta)],
        (b"," + encode_plain(key) + b":" + strict_line(raw) for key, raw in recording.extra.raw.items()),
        [b"}\n"],
    )
    return _gathered(pieces)


def blob_texts(blobs: BlobTable) -> Iterator[tuple[str, bytes]]:
    """Yield every ref and its text as it stands; a text that no JSON reader could read is left out."""
    for ref, raw in _stored(blobs):
        try:
            yield ref, strict_line(raw)
        except StashError:
            continue


def _stored(blobs: BlobTable) -> Iterator[tuple[str, bytes]]:
    if isinstance(blobs, FileBlobs):
        yield from ((ref, raw) for _, ref, raw in blobs.entries())
    else:
        yield from ((ref, blobs.payload(ref).raw) for ref in blobs.refs())


def raw_object_text(raw: RawObject) -> bytes:
    """Return an object's JSON text, values as they were spelled."""
    return b"{" + b",".join(encode_plain(key) + b":" + strict_line(text) for key, text in raw.raw.items()) + b"}"


def _lines(texts: Iterator[bytes]) -> Iterator[bytes]:
    """Yield texts one a line between two line ends; nothing at all if there is none."""
    before = b"\n"
    for text in texts:
        yield before
        yield text
        before = b",\n"
    if before != b"\n":
        yield b"\n"


def _gathered(pieces: Iterator[bytes]) -> Iterator[bytes]:
    buffer = io.BytesIO()
    for piece in pieces:
        if buffer.write(piece) + buffer.tell() > 1 << 20:
            yield buffer.getvalue()
            buffer = io.BytesIO()
    yield buffer.getvalue()
