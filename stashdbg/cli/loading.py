"""From a file named on the command line to a recording."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stashdbg_core.model import Recording
    from stashdbg_core.store.limits import Limits

STANDARD_INPUT = "-"


def limits_of(settings: Sequence[str] | None) -> Limits:
    """Return the reading limits with every ``NAME=VALUE`` applied.

    Raises:
        StashError: ``ERR_INVALID_INPUT`` for an unknown limit or a value that is none.
    """
    from stashdbg_core.store.limits import Limits

    return Limits.parse(settings or ())


def load_recording(file: str, settings: Sequence[str] | None = None) -> Recording:
    """Open a recording; standard input (``-``) and pipes are read whole.

    Raises:
        StashError: It cannot be read, or is not a recording.
    """
    from stashdbg_core.store.open import open_recording, read_recording

    limits = limits_of(settings)
    if file == STANDARD_INPUT:
        data = sys.stdin.buffer.read(limits.size + 1) if sys.stdin is not None else b""
        return read_recording(data, limits=limits)
    if _is_pipe(file):
        with open(file, "rb") as pipe:
            return read_recording(pipe.read(limits.size + 1), limits=limits)
    return open_recording(Path(file), limits=limits)


def _is_pipe(file: str) -> bool:
    """Tell whether a name is a pipe, such as a shell's ``<(…)``."""
    try:
        return stat.S_ISFIFO(os.stat(file).st_mode)
    except (OSError, ValueError):
        return False
