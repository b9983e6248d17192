"""From a file named on the command line to a recording."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stashdbg.cli.progress import ProgressBar
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


def load_recording(file: str, settings: Sequence[str] | None = None, run: int | None = None) -> Recording:
    """Open a recording; standard input (``-``) and pipes are read whole.

    Args:
        file: Its name.
        settings: Limits, as ``NAME=VALUE``.
        run: Which of several in it, from 1.

    Raises:
        StashError: It cannot be read, is not a recording, or holds several.
    """
    from stashdbg_core.opening.files import only

    return only(load_recordings(file, settings, run), file)


def load_recordings(file: str, settings: Sequence[str] | None = None, run: int | None = None) -> tuple[Recording, ...]:
    """Open every recording of a file: one, or those of a bug report; see ``load_recording``."""
    from stashdbg_core.opening.files import open_all, read_all
    from stashdbg_core.store.source import BytesSource

    limits = limits_of(settings)
    inner = None if run is None else str(run)
    if file == STANDARD_INPUT:
        data = sys.stdin.buffer.read(limits.size + 1) if sys.stdin is not None else b""
        return read_all(BytesSource(data, "standard input"), limits, inner=inner)
    if _is_pipe(file):
        with open(file, "rb") as pipe:
            return read_all(BytesSource(pipe.read(limits.size + 1), file), limits, inner=inner)
    with _progress_of(file) as progress:
        return open_all(named(file, run), limits=limits, progress=progress)


def named(file: str, run: int | None) -> Path:
    """Return the name of one run of a file, or of the file.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no name.
    """
    if not file:
        from stashdbg_core.errors import invalid_input

        raise invalid_input("the name of the file is empty", hint="name a recording")
    return Path(file) if run is None else Path(file) / str(run)


def refuse_foreign(file: str, what: str) -> None:
    """Refuse another tool's file where only a recording of ours will do.

    Args:
        file: Its name.
        what: What is done to recordings: ``a seal covers``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is another tool's; otherwise as ``load_recording``.
    """
    from stashdbg_core.errors import invalid_input
    from stashdbg_core.opening.files import held_in

    known = held_in(Path(file)).format
    if known is not None:
        raise invalid_input(
            f"{what} a recording of ours, and this is a {known.title}", hint="write one with stashdbg convert first"
        )


def own_name(file: str, run: int | None) -> Path:
    """Return the name that a file of one run's own would have, beside the file that holds it."""
    path = Path(file)
    return path if run is None else path.with_name(f"{path.stem}-{run}{path.suffix}")


@contextmanager
def _progress_of(file: str) -> Iterator[ProgressBar]:
    from stashdbg.cli.progress import ProgressBar

    bar = ProgressBar(f"reading {os.path.basename(file)}")
    try:
        yield bar
    finally:
        bar.close()


def _is_pipe(file: str) -> bool:
    """Tell whether a name is a pipe, such as a shell's ``<(…)``."""
    try:
        return stat.S_ISFIFO(os.stat(file).st_mode)
    except (OSError, ValueError):
        return False
