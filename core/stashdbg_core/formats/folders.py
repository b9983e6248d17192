"""Folders named in place of a file: a tool may keep one run as a folder, and one file in it then stands for the run.

Nothing is read here. A folder that is no run is refused with the name of what in it can be opened.
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from stashdbg_core.errors import StashError, not_found
from stashdbg_core.formats.readers.openhands.folder import EVENT_NAME, EVENTS, STATE
from stashdbg_core.sanitize import shorten

OPENABLE = (
    "*.jsonl", "*.json", "*.ndjson", "*.zst", "*.eval", "*.traj", "*.har", "*.zip", "*.journal", "*.rewind", "*.log",
    "*.yaml", "*.yml", "*.db", "*.sqlite", "*.sqlite3",
)  # fmt: skip
"""How files are named that may hold runs."""
_MOST = 10_000


def file_for(path: Path) -> Path:
    """Return the file that stands for a folder, or for a part of a run that is one; any other path as it is.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it is a folder, and no run.
    """
    if EVENT_NAME.fullmatch(path.name) and path.parent.name == EVENTS:
        return _own(path.parent.parent / STATE) or path
    if not path.is_dir():
        return path
    folder = path.parent if path.name == EVENTS else path
    found = _own(folder / STATE) or _first_event(folder / EVENTS) or _first_event(path)
    if found is None:
        raise _refused(path)
    return found


def run_name(path: Path) -> str:
    """Return what the run that a file stands for is called: the file, or the folder where it is all of one."""
    return path.parent.name if path.name == STATE and path.parent.name else path.name


def _own(file: Path) -> Path | None:
    """Return a file if it lies where its name says, and is no link to elsewhere."""
    return file if file.is_file() and not file.is_symlink() else None


def _first_event(folder: Path) -> Path | None:
    try:
        names = [entry.name for entry in islice(os.scandir(folder), _MOST) if EVENT_NAME.fullmatch(entry.name)]
    except OSError:
        return None
    return _own(folder / min(names)) if names else None


def runs_in(folder: Path) -> list[str]:
    """Return the names of the folders in a folder that are runs."""
    try:
        names = sorted(entry.name for entry in islice(os.scandir(folder), _MOST) if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    return [name for name in names if _own(folder / name / STATE) or _first_event(folder / name / EVENTS)]


def _refused(folder: Path) -> StashError:
    shown = shorten(str(folder), 400)
    newest, count = "", 0
    at = -1.0
    try:
        for entry in islice(os.scandir(folder), _MOST):
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(facts.st_mode) and any(fnmatchcase(entry.name, pattern) for pattern in OPENABLE):
                count += 1
                if facts.st_mtime > at:
                    newest, at = entry.name, facts.st_mtime
    except OSError:
        pass
    if not count:
        runs = runs_in(folder)
        told = f"open one of the {len(runs):,} runs in it" if len(runs) > 1 else "open the run in it"
        hint = f"{told}: {shorten(str(folder / runs[0]), 400)}" if runs else "name the recording file itself"
        return not_found(f"{shown} is a folder, and not a run", hint=hint)
    files = "the file in it" if count == 1 else f"one of the {count:,} files in it, of which the newest is"
    return not_found(f"{shown} is a folder, and not a run", hint=f"open {files} {shorten(newest, 200)}")
