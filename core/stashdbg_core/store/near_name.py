"""Which file may have been meant by a name that is none."""

from __future__ import annotations

import os
from difflib import get_close_matches
from itertools import islice

from stashdbg_core.sanitize import shorten

_LOOKED_AT = 2000
"""Entries of a folder that are compared; no answer is worth a long wait."""
_ALIKE = 0.75


def near_name(name: str) -> str | None:
    """Return the file of the same folder whose name is most like this one, as it would be typed; safe text.

    A name without its suffix is alike: ``run`` for ``run.json``.
    """
    folder, wanted = os.path.split(name)
    try:
        with os.scandir(folder or os.curdir) as entries:
            files = sorted(entry.name for entry in islice(entries, _LOOKED_AT) if entry.is_file())
    except (OSError, ValueError):
        return None
    stems = [file for file in files if wanted and file.startswith(f"{wanted}.")]
    near = stems or get_close_matches(wanted, files, n=1, cutoff=_ALIKE)
    return shorten(os.path.join(folder, near[0]), 200) if near else None
