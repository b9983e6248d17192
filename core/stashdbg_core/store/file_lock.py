"""The lock of an open file or folder, which ends with the process that holds it."""

from __future__ import annotations

import fcntl


def take_lock(fd: int) -> bool:
    """Lock what a descriptor stands for; False if another process has it. Nobody can tell where there are no locks."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
