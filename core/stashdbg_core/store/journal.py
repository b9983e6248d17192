"""The append-only file a recording grows in while the program runs.

JSON lines: a header, then for each finished call its new values and its event, in one write before the call returns to
the program. A process killed at any moment leaves whole lines and at most one torn last line. ``docs/format.md``
specifies the lines.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from stashdbg_core.canonical import Json, encode_plain, stored_form
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import FORMAT_VERSION, RawObject, RecordedEvent
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.atomic import PRIVATE_MODE, cannot_write
from stashdbg_core.store.compact import one_line
from stashdbg_core.store.event_record import encode_event
from stashdbg_core.store.file_lock import take_lock
from stashdbg_core.store.journal_lines import BLOB_START, BLOB_VALUE, EVENT_START, HEADER_START, META_START

_NEW = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


def remove_abandoned(path: Path) -> bool:
    """Remove a journal that nobody writes, if there is one; tell whether the name is free.

    Raises:
        OSError: Something is there that cannot be removed.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return True
    try:
        if not take_lock(fd):
            return False
        if _is_at(fd, path):  # else another process removed it meanwhile, and what is there may be in use
            os.unlink(path)
    finally:
        os.close(fd)
    return True


class JournalWriter:
    """Appends to a new journal; one writer a file, calls taking turns.

    Args:
        path: The journal's own path; must not exist.
        recording_id: The recording's id.
        meta: What is known about the run so far.
        sync: Wait for the disk at each append: survives a power cut too, at the disk's price.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` if the file exists or cannot be made; ``ERR_NOT_FOUND`` if its directory is
            missing.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        recording_id: str,
        meta: Mapping[str, Json] | None = None,
        *,
        sync: bool = False,
    ) -> None:
        self.path = Path(path)
        self._sync = sync
        self._torn = False
        self._fd = -1
        try:
            self._fd = _new_file(self.path)
        except FileExistsError as error:
            shown = shorten(str(path), 200)
            raise invalid_input(f"the journal {shown} exists", hint="open it, or record under another name") from error
        except OSError as error:
            raise cannot_write(self.path, error) from error
        try:
            self._write(_header(recording_id, meta or {}))
        except BaseException as error:
            self.close()
            os.unlink(self.path)
            if isinstance(error, OSError):
                raise cannot_write(self.path, error) from error
            raise

    def append(self, blobs: Sequence[tuple[str, bytes]], event: RecordedEvent) -> None:
        """Write a finished call: values not written before, as refs and stored forms, and its event, in one write.

        Raises:
            OSError: The disk is full or gone; nothing of this call counts as written, and later calls may succeed.
        """
        line = EVENT_START + one_line(encode_event(event)) + b"}\n"
        self._write(b"".join([*map(_value_line, blobs), line]) if blobs else line)

    def append_values(self, blobs: Iterable[tuple[str, bytes]]) -> int:
        """Write values ahead of the events that refer to them; return the journal's length then.

        Raises:
            OSError: As ``append``.
        """
        for blob in blobs:
            self._write(_value_line(blob))
        return os.fstat(self._fd).st_size

    def go_on_in(self, path: Path) -> None:
        """Write what comes next to a new file, which continues this one; this one stays as it is.

        Raises:
            OSError: It cannot be made.
        """
        fd = _new_file(path)
        os.close(self._fd)
        self.path, self._fd, self._torn = path, fd, False

    def note(self, meta: Mapping[str, Json]) -> None:
        """Write what became known about the run; a key given again replaces the earlier one.

        Raises:
            OSError: The disk is full or gone.
        """
        self._write(META_START + _object(meta) + b"}\n")

    def close(self) -> None:
        """Close the file; the journal stays until it is packed. Closing twice does nothing."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def _write(self, data: bytes) -> None:
        fd = self._fd
        if fd < 0:
            raise OSError(errno.EBADF, "the journal is closed", str(self.path))
        if self._torn:
            data = b"\n" + data
        done = 0
        try:
            done = os.write(fd, data)
            while done < len(data):
                done += os.write(fd, data[done:])
        except BaseException:
            # Nothing goes after half a line: cut it off, or else end it, so that it costs no more than itself.
            self._torn = self._torn or not _cut_off(fd, done)
            raise
        self._torn = False
        if self._sync:
            os.fsync(fd)


def _new_file(path: Path) -> int:
    """Make a file that is locked as long as it is open; who removes abandoned ones takes the lock first."""
    fd = os.open(path, _NEW, PRIVATE_MODE)
    if take_lock(fd) and _is_at(fd, path):
        return fd
    os.close(fd)
    raise FileExistsError(errno.EEXIST, "another process took the name", str(path))


def _is_at(fd: int, path: str | os.PathLike[str]) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.lstat(path))
    except FileNotFoundError:
        return False


def _value_line(blob: tuple[str, bytes]) -> bytes:
    return BLOB_START + encode_plain(blob[0]) + BLOB_VALUE + one_line(blob[1]) + b"}\n"


def _header(recording_id: str, meta: Mapping[str, Json]) -> bytes:
    id_text = encode_plain(recording_id)
    return HEADER_START + b'"version":%d,"id":%b,"meta":%b}\n' % (FORMAT_VERSION, id_text, _object(meta))


def _object(meta: Mapping[str, Json]) -> bytes:
    raw = meta.raw if isinstance(meta, RawObject) else {key: stored_form(value) for key, value in meta.items()}
    return b"{" + b",".join(encode_plain(key) + b":" + one_line(text) for key, text in raw.items()) + b"}"


def _cut_off(fd: int, length: int) -> bool:
    """Take back the last ``length`` bytes; tell whether that worked."""
    if not length:
        return True
    try:
        os.ftruncate(fd, os.fstat(fd).st_size - length)
    except OSError:
        return False
    return True
