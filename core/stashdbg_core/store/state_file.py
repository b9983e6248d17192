"""Small files of the user's that several processes read, change and replace: one process at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from stashdbg_core.store.file_lock import take_lock

PATIENCE = 2.0
"""Seconds after which whoever holds the lock counts as stopped: a change lost is better than a screen that hangs."""
_PAUSE = 0.005


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Make the private folder of a file and keep others from changing a file in it between reading and writing it.

    Raises:
        OSError: The folder cannot be made.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _lock(folder)
        yield
    finally:
        os.close(folder)


def _lock(folder: int) -> None:
    until = monotonic() + PATIENCE
    while not take_lock(folder) and monotonic() <= until:
        sleep(_PAUSE)
