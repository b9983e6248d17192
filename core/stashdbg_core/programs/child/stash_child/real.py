"""Functions as they were before any of them was hooked, for our own use."""

from __future__ import annotations

import _thread
import os
import time

urandom = os.urandom
perf_counter = time.perf_counter
getpid = os.getpid
read = os.read
write = os.write
waitpid = os.waitpid
execve = os.execve
get_ident = _thread.get_ident
start_new_thread = _thread.start_new_thread
_HIGH_DESCRIPTOR = 500


def say(text: str) -> None:
    """Write one line to standard error, whatever the program has made of ``sys.stderr``."""
    try:
        write(2, ("stashdbg: %s\n" % text).encode("utf-8", "backslashreplace"))
    except OSError:  # it is closed: there is nobody to tell
        return


def raised(descriptor: int) -> int:
    """Move a descriptor of ours up, so that the program's own files get the numbers they would have had."""
    try:
        import fcntl

        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _HIGH_DESCRIPTOR)
    except (ImportError, OSError):
        return descriptor
    os.close(descriptor)
    return high
