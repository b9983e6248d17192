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
        StashError: It cannot be read, is not a recording, or is an archive of several.
    """
    from stashdbg_core.report.opening import only

    return only(load_recordings(file, settings), file)


def load_recordings(file: str, settings: Sequence[str] | None = None) -> tuple[Recording, ...]:
    """Open every recording of a file: one, or those of a bug report; see ``load_recording``."""
    from stashdbg_core.report.opening import open_all, read_all
    from stashdbg_core.store.source import BytesSource

    limits = limits_of(settings)
    if file == STANDARD_INPUT:
        data = sys.stdin.buffer.read(limits.size + 1) if sys.stdin is not None else b""
        return read_all(BytesSource(data), limits)
    if _is_pipe(file):
        with open(file, "rb") as pipe:
            return read_all(BytesSource(pipe.read(limits.size + 1)), limits)
    return open_all(Path(file), limits=limits)


def _is_pipe(file: str) -> bool:
    """Tell whether a name is a pipe, such as a shell's ``<(…)``."""
    try:
        return stat.S_ISFIFO(os.stat(file).st_mode)
    except (OSError, ValueError):
        return False
