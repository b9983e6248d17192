"""Following a file that grows or is replaced: a journal that is being written, a recording that is written anew."""

from __future__ import annotations

import os

from stashdbg_core.model import Recording
from stashdbg_core.store.limits import Limits

_Stamp = tuple[int, int, int, int]


class Follower:
    """Tells when a recording's file is another than the one that was read, and reads it.

    Args:
        recording: What was read; one without a file never changes.
        limits: Reading limits.
    """

    def __init__(self, recording: Recording, limits: Limits | None = None) -> None:
        self._path = recording.path
        self._limits = limits or Limits()
        self._stamp = self._look()

    def changed(self) -> bool:
        """Tell whether there is something new; one ``stat``."""
        now = self._look()
        return now is not None and now != self._stamp

    def read(self) -> Recording:
        """Read the file anew.

        Raises:
            StashError: It cannot be read now, or is no recording; the old one stays good for what was looked at.
        """
        from stashdbg_core.store.open import open_recording  # a screen's first frame reads no file

        assert self._path is not None
        stamp = self._look()
        recording = open_recording(self._path, limits=self._limits)
        self._stamp = stamp
        return recording

    def _look(self) -> _Stamp | None:
        if self._path is None:
            return None
        try:
            found = os.stat(self._path)
        except (OSError, ValueError):
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
