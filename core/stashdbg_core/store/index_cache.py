"""Indexes of big files kept between runs, made in a process of their own.

A cached index is only a way to be quick: it is keyed to the file's path, size, time and the hash of its ends, it
carries a checksum, and what it says of a value is checked when the value is read. One that is missing, stale or
damaged is made anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from array import array
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Note, Recording
from stashdbg_core.store.index import BlobColumns, EventColumns, Index, Names
from stashdbg_core.store.index_finish import recording_of
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import read_source
from stashdbg_core.store.source import FileSource

BIG = 64_000_000
"""Bytes from which on a file is worth a cached index."""
_MAGIC = b"stashdbg index 2\n"
_ENDS = 1 << 16
_KEPT = 32
_COLUMNS = {**EventColumns.CODES, "ref": "i", "input_ref": "i", "parent": EventColumns.PARENT}


class _Header(msgspec.Struct):
    """What stands before the columns; ``columns`` gives table, name and count of each in order."""

    key: bytes
    byteorder: str
    identity: str
    meta: dict[str, bytes]
    extra: dict[str, bytes]
    twice: dict[str, int]
    notes: list[tuple[str, str, int | None, str | None, int | None]]
    names: dict[str, list[str | None]]
    columns: list[tuple[str, str, int]]


def index_key(source: FileSource) -> bytes:
    """Return 20 bytes that change when the file does."""
    ends = source.read_at(0, _ENDS) + source.read_at(max(0, source.size - _ENDS), _ENDS)
    facts = repr((os.path.realpath(source.path), source.identity)).encode("utf-8", "surrogatepass")
    return blake2b(facts + ends, digest_size=20).digest()


def cache_path(source: FileSource) -> Path:
    """Return where the index of a file is kept."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("stashdbg")) / "index" / index_key(source).hex()


def load_index(source: FileSource, file: Path) -> Index | None:
    """Return the index kept in ``file`` if it is whole and this source's."""
    try:
        data = file.read_bytes()
        if not data.startswith(_MAGIC) or int.from_bytes(data[-4:], "big") != zlib.crc32(memoryview(data)[:-4]):
            return None
        start = len(_MAGIC) + 8
        size = int.from_bytes(data[len(_MAGIC) : start], "big")
        header = msgspec.msgpack.decode(data[start : start + size], type=_Header)
        if header.key != index_key(source) or header.byteorder != sys.byteorder:
            return None
        return _unpack(header, memoryview(data)[start + size : -4])
    except (OSError, ValueError, KeyError, msgspec.MsgspecError):
        return None


def save_index(index: Index, source: FileSource, file: Path) -> None:
    """Keep an index in ``file``, replacing what is there at once.

    Raises:
        StashError: It cannot be written.
    """
    from stashdbg_core.store.atomic import write_atomic

    tables = {"events": index.events.columns, "blobs": index.blobs.columns}
    columns = [(table, name, column) for table, entries in tables.items() for name, column in entries.items()]
    header = msgspec.msgpack.encode(
        _Header(
            key=index_key(source), byteorder=sys.byteorder, identity=index.identity, meta=index.meta,
            extra=index.extra, twice=index.twice,
            notes=[(note.kind, note.message, note.seq, note.ref, note.offset) for note in index.notes],
            names={name: names.texts for name, names in index.events.names.items()},
            columns=[(table, name, len(column)) for table, name, column in columns],
        )
    )  # fmt: skip
    parts = [_MAGIC, len(header).to_bytes(8, "big"), header, *(column.tobytes() for _, _, column in columns)]
    checksum = 0
    for part in parts:
        checksum = zlib.crc32(part, checksum)
    parts.append(checksum.to_bytes(4, "big"))
    write_atomic(file, lambda stream: stream.writelines(parts))


def open_cached(path: str | os.PathLike[str], *, limits: Limits = Limits()) -> Recording | None:
    """Open a file by its cached index; None if there is none that fits."""
    source = FileSource(path)
    index = load_index(source, cache_path(source)) if source.size >= BIG else None
    return None if index is None else recording_of(index, source, limits, Path(path))


def open_in_process(
    path: str | os.PathLike[str],
    *,
    limits: Limits = Limits(),
    cancelled: Callable[[], bool] = lambda: False,
) -> Recording | None:
    """Open a file while another process makes its index, so that this one stays free; None when cancelled.

    Blocks the calling thread, not the interpreter. A small file, or one for which that fails, is opened here.

    Raises:
        StashError: As ``open_recording``.
    """
    recording = open_cached(path, limits=limits)
    source = FileSource(path)
    if recording is not None or source.size < BIG:
        return recording or read_source(source, limits, Path(path))
    file = cache_path(source)
    settings = [f"{name}={getattr(limits, name)}" for name in limits.__slots__]
    command = [sys.executable, "-P", "-m", "stashdbg_core.store.index_process", str(source.path), str(file), *settings]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    while True:
        try:
            process.wait(0.1)
            break
        except subprocess.TimeoutExpired:
            if cancelled():
                process.kill()
                process.wait()
                return None
    index = load_index(source, file)
    if index is not None:
        return recording_of(index, source, limits, Path(path))
    return read_source(source, limits, Path(path))


def make_room(folder: Path) -> None:
    """Drop the oldest indexes beyond a few dozen."""
    try:
        files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for file in files[_KEPT:]:
            file.unlink(missing_ok=True)
    except OSError:
        return


def prepare_folder(file: Path) -> None:
    """Make the folder that an index is kept in, for its owner alone.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be made.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StashError("the cache folder cannot be made", code=ErrorCode.NOT_FOUND) from error


def _unpack(header: _Header, body: memoryview) -> Index | None:
    tables: dict[str, dict[str, array[Any]]] = {"events": {}, "blobs": {}}
    codes = {"events": _COLUMNS, "blobs": BlobColumns.CODES}
    place = 0
    for table, name, count in header.columns:
        column = array(codes[table][name])
        end = place + count * column.itemsize
        column.frombytes(body[place:end])
        tables[table][name] = column
        place = end
    counts = {table: {len(column) for column in columns.values()} for table, columns in tables.items()}
    if place != len(body) or any(len(lengths) > 1 for lengths in counts.values()):
        return None
    events, blobs = EventColumns(), BlobColumns()
    if (tables["events"].keys() | {"seq"}) - {"parent"} != events.columns.keys() or tables[
        "blobs"
    ].keys() != blobs.columns.keys():
        return None
    events.columns, blobs.columns = tables["events"], tables["blobs"]
    for name, texts in header.names.items():
        names = Names(EventColumns.NAMES[name])
        names.texts = texts
        events.names[name] = names
    notes = tuple(Note(*note) for note in header.notes)
    return Index(header.identity, header.meta, header.extra, events, blobs, header.twice, notes)
