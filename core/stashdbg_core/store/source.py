"""Bytes read at an offset: from a file, by ``pread``, or from memory.

A file is never mapped: one that another process truncates would kill the reader. Reading short is an error that says
so.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Protocol

from stashdbg_core.errors import ErrorCode, StashError, not_found
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.near_name import near_name

_WINDOW = 64 * 1024 * 1024
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_OF_ADDRESS = "only files are opened, by their path; download it first"


class Source(Protocol):
    """Where a recording's bytes lie."""

    @property
    def size(self) -> int: ...
    @property
    def name(self) -> str: ...
    def read_at(self, offset: int, length: int) -> bytes:
        """Return exactly ``length`` bytes, fewer only where the source ended when it was opened.

        Raises:
            StashError: ``ERR_NOT_FOUND``: the file was changed or cannot be read any more.
        """
        ...

    def changed(self) -> bool:
        """Tell whether the bytes may be others than when the source was opened."""
        ...


class BytesSource:
    """Bytes in memory."""

    def __init__(self, data: bytes, name: str = "recording") -> None:
        self._data = data
        self.size = len(data)
        self.name = name

    def read_at(self, offset: int, length: int) -> bytes:
        return self._data[offset : offset + length]

    def changed(self) -> bool:
        return False


class FileSource:
    """A regular file behind one descriptor, closed with the object.

    Raises:
        StashError: ``ERR_NOT_FOUND``: missing, a directory, not permitted, not a regular file.
    """

    _fd = -1

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.name = shorten(str(self.path), 400)
        try:
            self._fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            found = os.fstat(self._fd)
        except (OSError, ValueError) as error:
            raise _unreadable(self.name, error) from error
        if not stat.S_ISREG(found.st_mode):
            what = "a directory" if stat.S_ISDIR(found.st_mode) else "a device or pipe"
            raise not_found(f"{self.name} is {what}, not a file", hint="name the recording file itself")
        self.size = found.st_size
        self.identity = _identity(found)

    def read_at(self, offset: int, length: int) -> bytes:
        return self.read_within(self.size, offset, length)

    def read_within(self, size: int, offset: int, length: int) -> bytes:
        """Return what ``read_at`` does if the file has another size than when it was opened."""
        if 0 < length <= _WINDOW and offset + length <= size:
            try:
                whole = os.pread(self._fd, length, offset)
            except OSError as error:
                raise _unreadable(self.name, error) from error
            if len(whole) == length:
                return whole
        length = max(0, min(length, size - offset))
        parts: list[bytes] = []
        missing = length
        while missing:
            try:
                part = os.pread(self._fd, min(missing, _WINDOW), offset + length - missing)
            except OSError as error:
                raise _unreadable(self.name, error) from error
            if not part:
                raise StashError(
                    f"{self.name} changed while it was open: byte {offset + length - missing} is gone",
                    code=ErrorCode.NOT_FOUND,
                    hint="open it again",
                )
            parts.append(part)
            missing -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def changed(self) -> bool:
        """Tell whether the path now leads to another file, or the file has other contents by size or time."""
        try:
            return _identity(os.stat(self.path)) != self.identity
        except OSError:
            return True

    def close(self) -> None:
        """Close the descriptor; reading afterwards fails."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()


class JoinedSource:
    """The beginning of a file that may be growing, and after it, as if they were one, another file.

    Args:
        file: The file; read beyond the size it had when it was opened.
        length: How much of it counts.
        rest: What comes after that, if anything.
    """

    def __init__(self, file: FileSource, length: int, rest: FileSource | None = None) -> None:
        self._file = file
        self._length = length
        self._rest = rest
        self.name = file.name
        self.size = length + (rest.size if rest is not None else 0)

    def read_at(self, offset: int, length: int) -> bytes:
        if self._rest is not None and offset >= self._length:
            return self._rest.read_at(offset - self._length, length)
        here = self._file.read_within(self._length, offset, length)
        if self._rest is None or len(here) == length:
            return here
        return here + self._rest.read_at(0, length - len(here))

    def changed(self) -> bool:
        return False


def _identity(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _unreadable(name: str, error: OSError | ValueError) -> StashError:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.ENOENT or number == errno.ENOTDIR:
        near = near_name(name)
        hint = f"did you mean {near}?" if near else _OF_ADDRESS if _ADDRESS.match(name) else "check the path"
        return not_found(f"no such file: {name}", hint=hint)
    if number in (errno.EACCES, errno.EPERM):
        return not_found(f"not permitted to read {name}", hint="check who may read it")
    reason = os.strerror(number) if number is not None else "not a usable path"
    return not_found(f"cannot read {name}: {reason}", hint="check the path")
