"""Following a file that grows or is replaced: a journal that is being written, a recording that is written anew.

Of a journal that grew only the new bytes are read; whatever else changed is read whole. A journal that is gone because
its run ended is followed to the recording it became. A file that makes no sense just after it was written to is taken
for half of one, and looked at again.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.store.journal_place import still_at
from stashdbg_core.store.limits import Limits

_Stamp = tuple[int, int, int, int]
_WRITTEN_WITHIN_S = 3.0
"""Seconds within which a program that writes a file anew has written all of it."""


class Follower:
    """Tells when a recording's file is another than the one that was read, and reads it.

    Args:
        recording: What was read; one without a file never changes.
        limits: Reading limits.
    """

    def __init__(self, recording: Recording, limits: Limits = Limits()) -> None:
        self._recording = recording
        self._path = recording.path
        self._limits = limits
        self._stamp: _Stamp | None = getattr(recording.events, "identity", None) or self._look()

    def changed(self) -> bool:
        """Tell whether there is something new; one ``stat``, two where the file is gone."""
        now = self._look()
        if now is None:
            self._path = None if self._path is None else still_at(self._path)
            now = self._look()
        return now is not None and now != self._stamp

    def read(self) -> Recording | None:
        """Read what is new; None if it is not all there yet.

        Raises:
            StashError: It cannot be read, or is no recording; the old one stays good for what was looked at.
        """
        assert self._path is not None
        now = self._look()
        try:
            return _grown(self._recording, self._path, self._stamp, now) or read_anew(self._path, self._limits)
        except StashError as failure:
            is_half = failure.code == ErrorCode.INVALID_RECORDING and "limit" not in failure.details
            if is_half and now is not None and abs(time.time() - now[3] / 1e9) < _WRITTEN_WITHIN_S:
                return None
            raise

    def _look(self) -> _Stamp | None:
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)
        except NotADirectoryError:  # one run of several in a file
            return _stamp_of_file(self._path)
        except (OSError, ValueError):
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _stamp_of_file(path: Path) -> _Stamp | None:
    from stashdbg_core.opening.files import file_of

    try:
        found = os.stat(file_of(path))
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def read_anew(path: Path, limits: Limits) -> Recording:
    """Read a file whole; every file that can be opened can be followed by this.

    Raises:
        StashError: It cannot be read, or is no recording.
    """
    from stashdbg_core.opening.files import open_one  # a screen's first frame reads no file

    return open_one(path, limits=limits)


def _grown(recording: Recording, path: Path, before: _Stamp | None, now: _Stamp | None) -> Recording | None:
    """Return a journal with what it gained; None where the file is another, or has to be read whole."""
    if before is None or now is None or before[:2] != now[:2] or now[2] <= before[2]:
        return None
    from stashdbg_core.store.journal_growth import read_growth
    from stashdbg_core.store.source import FileSource

    try:
        return read_growth(recording, FileSource(path))
    except StashError as failure:
        if "limit" in failure.details:
            raise
        return None
