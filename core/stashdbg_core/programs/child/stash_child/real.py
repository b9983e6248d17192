"""Functions as they were before any of them was hooked, for our own use."""

from __future__ import annotations

import _thread
import os
import time

urandom = os.urandom
perf_counter = time.perf_counter
getpid = os.getpid
write = os.write
get_ident = _thread.get_ident


def say(text: str) -> None:
    """Write one line to standard error, whatever the program has made of ``sys.stderr``."""
    try:
        write(2, ("stashdbg: %s\n" % text).encode("utf-8", "backslashreplace"))
    except OSError:  # it is closed: there is nobody to tell
        return
