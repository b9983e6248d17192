"""The recording that a fork was made of, found by what the fork says of it."""

from __future__ import annotations

from typing import Any

from stashdbg_core.errors import StashError
from stashdbg_core.fork.digest import recording_digest
from stashdbg_core.lineage import read_branch
from stashdbg_core.model import Recording
from stashdbg_core.store.open import open_recording

_SUFFIXES = (".json", ".journal")
_FILES = 200
"""Files of a folder that are looked at."""


def parent_of(recording: Recording) -> Recording | None:
    """Return the parent of a fork, or of a run that went on from one; None if it is not in the fork's folder."""
    said: Any = recording.meta.get("fork")
    about: dict[str, Any] = said if isinstance(said, dict) else {}
    parent, digest = about.get("parent"), about.get("parentDigest")
    if recording.path is None or type(parent) is not str:
        return None
    try:
        files = [file for file in sorted(recording.path.parent.iterdir()) if file.suffix in _SUFFIXES]
    except OSError:
        return None
    for file in files[:_FILES]:
        try:
            if file == recording.path or not file.is_file() or read_branch(file).id != parent:
                continue
            found = open_recording(file)
            if recording_digest(found) == digest:
                return found
        except (StashError, OSError):
            continue
    return None
