"""Files that appear whole or not at all, under names that are never a path.

Whatever happens while writing, the old file is byte-identical, no temporary file is left, and nobody but the owner can
read what was written.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from stashdbg_core.errors import StashError, invalid_input, not_found
from stashdbg_core.sanitize import shorten

PRIVATE_MODE = 0o600
_NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})
_OF_NAMES = frozenset({errno.ENAMETOOLONG, errno.ELOOP})
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_HASHED = re.compile(r"-[0-9a-f]{16}\Z")
_NAME_LENGTH = 80


def write_atomic(
    path: str | os.PathLike[str],
    write: Callable[[BinaryIO], object],
    *,
    overwrite: bool = True,
    mode: int = PRIVATE_MODE,
) -> Path:
    """Write a file through a temporary one beside it, and return the path it got.

    Args:
        path: Where to write. With ``overwrite``, a symlink stays one and its target is replaced.
        write: Writes the content; whatever it raises leaves everything as it was and passes through.
        overwrite: Replace what is there. Without it the file becomes ``run-2.json``, ``run-3.json``, …, whichever is
            free; two writers never meet in one file.
        mode: Permission bits; an existing file's stricter ones are kept.

    Raises:
        StashError: ``ERR_NOT_FOUND`` if the directory is missing, ``ERR_INVALID_INPUT`` if it cannot be written.
    """
    wanted = _usable(path)
    target = target_of(wanted, overwrite=overwrite)
    try:
        mode = _permissions(target, mode) if overwrite else mode
        return _write_beside(wanted, target, write, overwrite=overwrite, mode=mode)
    except OSError as error:
        raise cannot_write(wanted, error) from error


def target_of(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Return the file that writing to ``path`` would make or replace; nothing but a file is ever in its way.

    Raises:
        StashError: As ``write_atomic``, as far as that can be told beforehand: a directory or a device is there, the
            directory is missing, symlinks go round in a circle.
    """
    wanted = _usable(path)
    try:
        found = os.stat(wanted)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise cannot_write(wanted, error) from error
    else:
        if stat.S_ISDIR(found.st_mode):
            raise invalid_input(f"{_shown(wanted)} is a directory", hint="name a file in it")
        if not stat.S_ISREG(found.st_mode) or _names_a_descriptor(wanted):
            raise invalid_input(f"{_shown(wanted)} is not a regular file", hint="name a file to write")
    target = Path(os.path.realpath(wanted)) if overwrite else wanted
    if not target.parent.is_dir():
        raise cannot_write(wanted, FileNotFoundError())
    return target


def free_path(path: str | os.PathLike[str], *, beside: tuple[str, ...] = ()) -> Path:
    """Return ``path`` if nothing has that name, else the first free of ``run-2.json``, ``run-3.json``, ….

    Args:
        path: The name wanted.
        beside: Suffixes such as ``.journal``; a name is taken too if a file of that name and suffix exists.
    """
    wanted = _usable(path)
    number = 1
    while True:
        candidate = _numbered(wanted, number)
        if not any(os.path.lexists(f"{candidate}{suffix}") for suffix in ("", *beside)):
            return candidate
        number += 1


def safe_file_name(recording_id: str) -> str:
    """Return one safe file name component, without suffix, for an id; different ids have different names.

    Letters, digits, ``.``, ``_`` and ``-`` stay; a name that had to change ends in a hash of the id.
    """
    slug = _UNSAFE.sub("_", recording_id)
    plain = slug.strip(".-")[:_NAME_LENGTH].rstrip(".-")
    if plain == recording_id and plain and not _RESERVED.fullmatch(plain) and not _HASHED.search(plain):
        return plain
    digest = hashlib.sha256(recording_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{plain if plain and not _RESERVED.fullmatch(plain) else 'run'}-{digest}"


def cannot_write(path: Path, error: OSError) -> StashError:
    """Return what to say of a file that the system did not let us write."""
    reason = error.strerror or "the file system refused"
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return not_found(f"cannot write {_shown(path)}: its directory does not exist", hint="make the directory first")
    hint = "name another file" if error.errno in _OF_NAMES else "check space and permissions"
    return invalid_input(f"cannot write {_shown(path)}: {reason}", hint=hint, errno=error.errno)


def sync_directory(directory: Path) -> None:
    """Make a rename in ``directory`` survive a power cut, where the file system can."""
    try:
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return  # not every file system lets a directory be opened; the file itself is synced
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, *_NO_LINKS):
            raise
    finally:
        os.close(handle)


def _write_beside(
    wanted: Path, target: Path, write: Callable[[BinaryIO], object], *, overwrite: bool, mode: int
) -> Path:
    temporary = target.parent / f".stashdbg-{secrets.token_hex(16)}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        raw = io.FileIO(temporary, "wb", opener=lambda name, _: os.open(name, flags, PRIVATE_MODE))
        with raw, io.BufferedWriter(raw, 1 << 20) as file:
            write(file)
            file.flush()
            os.fchmod(raw.fileno(), mode)
            os.fsync(raw.fileno())
        if overwrite:
            os.replace(temporary, target)
            placed = wanted
        else:
            placed = _place(temporary, target)
    except BaseException:
        _remove(temporary)
        raise
    sync_directory(target.parent)
    return placed


def _place(temporary: Path, target: Path) -> Path:
    """Give the temporary file the first free name, in one step that fails if somebody took it meanwhile."""
    while True:
        free = free_path(target)
        try:
            os.link(temporary, free, follow_symlinks=False)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            try:  # no hard links here: reserve the name, then rename over our own empty file
                os.close(os.open(free, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_MODE))
            except FileExistsError:
                continue
            os.replace(temporary, free)
            return free
        _remove(temporary)
        return free


def _permissions(target: Path, mode: int) -> int:
    try:
        return mode & stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        return mode


def _names_a_descriptor(path: Path) -> bool:
    """Tell whether this is ``/dev/stdout`` or the like, which stays so when a file is open there."""
    folder = os.path.realpath(path.parent)
    return folder == "/dev" or folder.startswith("/proc/")


def _usable(path: str | os.PathLike[str]) -> Path:
    try:
        if b"\0" in os.fsencode(path):
            raise ValueError
    except ValueError as error:
        raise invalid_input(f"{_shown(Path(path))} is not a usable file name", hint="name another file") from error
    return Path(path)


def _remove(path: Path) -> None:
    with suppress(OSError):  # nothing more can be done, and what failed first is what matters
        os.unlink(path)


def _numbered(path: Path, number: int) -> Path:
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


def _shown(path: Path) -> str:
    return shorten(str(path), 200)
