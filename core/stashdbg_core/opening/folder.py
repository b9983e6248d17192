"""What a folder holds that can be opened: recordings, other tools' files, runs kept as folders; the newest first.

The walk is bounded and follows no symbolic link. What a file is, its beginning tells; it is counted and given a title
while it is small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from stashdbg_core.errors import StashError
from stashdbg_core.formats.folders import OPENABLE, file_for, runs_in
from stashdbg_core.formats.readers.openhands.folder import EVENTS
from stashdbg_core.formats.session_finder import SEAL, FoundSession, files_below, titled
from stashdbg_core.formats.session_titles import title_of
from stashdbg_core.opening.files import open_one, recognise, runs_of
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.run_title import run_title
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.native import HEAD, is_native
from stashdbg_core.store.source import FileSource

DEPTH = 2
"""How many folders down files may lie."""
LOOKED_INTO = 300
"""Files of which it is told what they are; older ones are left out."""
_COUNTED = 4_000_000
"""Bytes of a file up to which its events or runs are counted."""
_SKIPPED = frozenset({EVENTS, "subagents", ".git", ".venv", "venv", "node_modules", "__pycache__"})


def is_folder_of_runs(path: Path) -> bool:
    """Tell whether a path is a folder that is not itself a run."""
    if not path.is_dir():
        return False
    try:
        file_for(path)
    except StashError:
        return True
    return False


def runs_in_folder(folder: Path, limits: Limits = Limits()) -> list[FoundSession]:
    """Return what a folder holds that can be opened, the newest first."""
    newest = sorted(_candidates(folder), key=lambda session: session.changed, reverse=True)
    known = (_recognised(session, limits) for session in islice(newest, LOOKED_INTO))
    return titled([session for session in known if session is not None])


def _candidates(folder: Path) -> Iterator[FoundSession]:
    seen = set()
    for path, facts in files_below(folder, OPENABLE, DEPTH, _SKIPPED):
        seen.add(path)
        if not path.name.endswith(SEAL):
            yield FoundSession(path, "", facts.st_mtime, facts.st_size)
    for name in runs_in(folder):
        path = file_for(folder / name)
        if path not in seen:
            facts = path.stat()
            yield FoundSession(path, "", facts.st_mtime, facts.st_size)


def _recognised(session: FoundSession, limits: Limits) -> FoundSession | None:
    """Return a file with what it is and how much it holds; None if it cannot be opened."""
    try:
        source = FileSource(session.path)
        held = recognise(source, limits)
        if held.kind == "recording" and not is_native(source.read_at(0, HEAD)):
            return None
        known = held.format
        tool = known.title if known is not None else "bug report" if held.kind == "bundle" else "stashdbg"
        session = replace(session, tool=tool)
        return _counted(session, limits) if session.size <= _COUNTED else session
    except StashError:
        return replace(session, tool="damaged") if session.tool else None


def _counted(session: FoundSession, limits: Limits) -> FoundSession:
    if session.tool == "stashdbg":
        recording = open_one(session.path, limits=limits)
        return replace(session, events=len(recording.events), title=run_title(recording))
    runs = runs_of(session.path, limits=limits)
    if len(runs) > 1:
        return replace(session, runs=len(runs))
    title = runs[0].title if runs and runs[0].title != session.path.name else title_of(session.path)
    return replace(session, events=runs[0].events if runs else None, title=shorten(title, 200))
