"""Opening a recording: one indexing pass, then reads of what is looked at.

Every file either opens, with notes on what is odd about it, or is refused by one clear ``StashError``.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.model import Recording
from stashdbg_core.parse import BOM
from stashdbg_core.store.head import open_head
from stashdbg_core.store.index import Found, Index
from stashdbg_core.store.index_finish import make_index, recording_of
from stashdbg_core.store.layout_compact import index_compact
from stashdbg_core.store.layout_lines import index_lines
from stashdbg_core.store.layout_strict import index_strict
from stashdbg_core.store.layout_tolerant import index_tolerant
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.refusal import refuse_content, refuse_top, refuse_version
from stashdbg_core.store.scan import check_size
from stashdbg_core.store.source import BytesSource, FileSource, Source

__all__ = ["index_source", "is_journal", "open_head", "open_recording", "read_recording", "read_source"]

_HEAD = 1 << 16
_JOURNAL = b'{"stash":"journal"'


def open_recording(path: str | os.PathLike[str], *, limits: Limits = Limits()) -> Recording:
    """Open a version-1 recording in any layout, or a journal.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it cannot be read; ``ERR_INVALID_RECORDING``: it is none, or breaks a limit.
    """
    return read_source(FileSource(path), limits, Path(path))


def read_recording(data: bytes, *, limits: Limits = Limits()) -> Recording:
    """Read a recording from memory.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is none, or breaks a limit.
    """
    return read_source(BytesSource(data), limits, None)


def read_source(source: Source, limits: Limits, path: Path | None) -> Recording:
    """Read a recording from a source; see ``open_recording``."""
    if is_journal(source):
        return _read_journal(source, limits, path)
    return recording_of(index_source(source, limits), source, limits, path)


def is_journal(source: Source) -> bool:
    """Tell whether a source is a journal, which is read by its own reader."""
    return source.read_at(0, len(_JOURNAL)) == _JOURNAL


def index_source(source: Source, limits: Limits) -> Index:
    """Return the index of a version-1 recording in any layout.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is none, or breaks a limit.
    """
    check_size(source.size, source.name, limits)
    refuse_content(source.read_at(0, _HEAD), source.name, source.size)
    try:
        return make_index(find(source, limits), source, limits)
    except StashError as error:
        if "limit" not in error.details:
            raise
        message = f"{source.name}: {error.message}"
        raise invalid_recording(message, hint=error.hint, **error.details) from None


def find(source: Source, limits: Limits) -> Found:
    """Return what is in a file, by the first layout that fits."""
    found = index_lines(source, limits) or index_compact(source, limits)
    if found is not None:
        return found
    data = source.read_at(0, source.size)
    found = None if data.startswith(BOM) else index_strict(data, limits)
    if found is None:
        refuse_top(data, source.name)
        found = index_tolerant(data, limits)
    refuse_version(found, source.name)
    return found


def _read_journal(source: Source, limits: Limits, path: Path | None) -> Recording:
    from stashdbg_core.store.journal_read import read_journal

    recording = read_journal(source, limits)
    return recording if path is None else replace(recording, path=path)
