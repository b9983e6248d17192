"""A journal becomes the final file, its texts copied as they stand, no value built."""

from __future__ import annotations

import os
from pathlib import Path

from stashdbg_core.store.journal_read import read_journal
from stashdbg_core.store.source import FileSource
from stashdbg_core.store.writer import write_recording


def pack(
    journal: str | os.PathLike[str], target: str | os.PathLike[str], *, overwrite: bool = False, remove: bool = True
) -> Path:
    """Turn a journal into the final JSON file, values copied as they stand, and return the path it got.

    Args:
        journal: The journal's path.
        target: Where the recording goes; see ``write_atomic``.
        overwrite: Replace what is at ``target``.
        remove: Remove the journal once the recording is on disk.

    Raises:
        StashError: ``ERR_NOT_FOUND`` or ``ERR_INVALID_INPUT``: one of the files cannot be read or written.
    """
    placed = write_recording(read_journal(FileSource(journal)), target, overwrite=overwrite)
    if remove:
        os.unlink(journal)
    return placed
