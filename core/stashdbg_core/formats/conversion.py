"""Runs of foreign files, read here or, where a file is large, by a process of its own.

A large run becomes a recording of ours in the user's cache, private, keyed to the file as it is now; one that is stale
is made anew and the oldest make room. What is shown is the source file's name, wherever the recording lies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.formats.format import Format
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.opening import only_run, read_run
from stashdbg_core.formats.process_lines import Progress
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.model import Note, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.source import FileSource, Source

LARGE = 32_000_000
"""Bytes from which on a file is converted by another process."""
LARGE_PACKED = 4_000_000
"""The same for compressed files."""
HEAD = 1_000_000
"""Bytes of lines that are shown while the rest is read."""


def read_known(
    known: Format,
    source: Source,
    inner: str | None,
    limits: Limits,
    *,
    progress: Progress | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Recording:
    """Return a run of a file whose format is known.

    Args:
        known: The format.
        source: The file.
        inner: Number of the run, from 1, as text; None if there is to be only one.
        limits: Reading limits.
        progress: Told how many bytes of how many were read, now and then.
        cancelled: Asked as often whether to stop.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: nothing of it can be read; ``ERR_INVALID_INPUT``: there is no such run,
            or several and none was named.
        Cancelled: It was cancelled.
    """
    size = source.size
    foreign = ForeignSource(
        source,
        limits=limits,
        progress=None if progress is None else lambda done: progress(done, size),
        cancelled=cancelled,
    )
    run = run_number(known, foreign, inner)
    if isinstance(source, FileSource) and is_large(foreign):
        from stashdbg_core.formats.convert_process import convert_in_process

        recording = convert_in_process(source, run, limits, progress=progress, cancelled=cancelled)
    else:
        recording = read_run(known, foreign, run)
    if inner is not None and recording.path is not None:
        recording = replace(recording, path=recording.path / inner)
    return recording


def run_number(known: Format, source: ForeignSource, inner: str | None) -> int:
    """Return which run is meant, from 0.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no such run, or several and none was named.
    """
    runs = known.runs(source)
    if inner is None:
        return only_run(runs, source.name)
    if not inner.isascii() or not inner.isdecimal() or len(inner) > 9 or not 0 < int(inner) <= len(runs):
        held = "1 run" if len(runs) == 1 else f"{len(runs):,} runs"
        raise invalid_input(
            f"{shorten(source.name, 200)} holds no run {shorten(inner, 20)}", hint=f"it holds {held}, counted from 1"
        )
    return int(inner) - 1


def is_large(source: ForeignSource) -> bool:
    """Tell whether a file is worth a process of its own."""
    return source.size >= (LARGE_PACKED if source.is_zstd else LARGE)


def open_head(known: Format, source: FileSource, inner: str | None, limits: Limits) -> Recording | None:
    """Return the run of a large file as its first lines tell it.

    None where the file is small, was converted before, or does not consist of lines.

    Raises:
        StashError: The file cannot be read.
    """
    foreign = ForeignSource(source, limits=limits)
    if not is_large(foreign) or inner not in (None, "1") or not Head(foreign).lines:
        return None
    from stashdbg_core.formats.converted import open_converted

    if open_converted(source, 0, limits) is not None:
        return None
    data = foreign.prefix(HEAD)
    cut = data.rfind(b"\n") + 1
    if not cut:
        return None
    try:
        recording = read_run(known, ForeignSource(data[:cut], name=foreign.name, limits=limits), 0)
    except StashError:
        return None
    if not len(recording.events):
        return None
    note = Note("head", f"only the first {len(recording.events):,} events are shown until the file is read")
    path = source.path if inner is None else source.path / inner
    return replace(recording, path=path, notes=(note,))
