"""The cache of runs that were converted before, each keyed to its file as that is now."""

from __future__ import annotations

import os
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from time import time_ns

from stashdbg_core.errors import StashError
from stashdbg_core.formats.findings import notes_of
from stashdbg_core.formats.source import DATABASE_LOGS
from stashdbg_core.model import Recording
from stashdbg_core.store.events import FileEvents
from stashdbg_core.store.index_cache import open_cached
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.source import FileSource

VERSION = 1
"""Counts up when readers change what they make of a file."""
_ENDS = 1 << 16
_BESIDE = 2000


def cache_folder() -> Path:
    """Return where converted recordings are kept."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("stashdbg")) / "converted"


def open_converted(source: FileSource, run: int, limits: Limits) -> Recording | None:
    """Return a run that was converted before, if the file is still the same."""
    file = cache_folder() / f"{conversion_key(source, run)}.json"
    if not file.is_file():
        return None
    try:
        recording = open_cached(file, limits=limits) or open_recording(file, limits=limits)
        os.utime(file, ns=(time_ns(), file.stat().st_mtime_ns))  # its index is keyed to when it was changed
    except (StashError, OSError):
        return None
    return _as_converted(recording, source)


def conversion_key(source: FileSource, run: int) -> str:
    """Return text that changes when the file does, or a file beside it that may belong to it."""
    ends = source.read_at(0, _ENDS) + source.read_at(max(0, source.size - _ENDS), _ENDS)
    real = os.path.realpath(source.path)
    logs = [_stamp(real + ending) for ending in DATABASE_LOGS]  # the newest changes of a database
    facts = (VERSION, run, real, source.identity, _stamps(source.path.with_suffix("")), logs)
    return blake2b(repr(facts).encode("utf-8", "surrogatepass") + ends, digest_size=20).hexdigest()


def _as_converted(recording: Recording, source: FileSource) -> Recording:
    """Return a recording read from the cache as one of the source file."""
    if isinstance(recording.events, FileEvents):
        recording.events.identity = source.identity  # what tells whether there is more to read
    return replace(recording, path=source.path, notes=(*recording.notes, *notes_of(recording.meta.get("source"))))


def _stamps(folder: Path) -> list[tuple[str, int, int]]:
    """Return names, sizes and times of the files in the folder named as the file is, and below it."""
    found: list[tuple[str, int, int]] = []
    for top, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            found += _stamp(os.path.join(top, name))
            if len(found) >= _BESIDE:
                return found
    return found


def _stamp(path: str) -> list[tuple[str, int, int]]:
    """Return name, size and time of a file, if it is there."""
    try:
        facts = os.stat(path, follow_symlinks=False)
    except OSError:
        return []
    return [(path, facts.st_size, facts.st_mtime_ns)]
