"""Where the journal of a recording lies, and where the recording lies once its journal is gone."""

from __future__ import annotations

import os
from pathlib import Path

JOURNAL_SUFFIX = ".journal"


def journal_path(target: str | os.PathLike[str]) -> Path:
    """Return where the journal of a recording lies: beside it."""
    return Path(f"{os.fspath(target)}{JOURNAL_SUFFIX}")


def still_at(path: Path) -> Path:
    """Return where a recording lies: of a journal that is gone, the file that it became when its run ended."""
    if path.suffix == JOURNAL_SUFFIX and not path.exists():
        packed = path.with_suffix("")
        if packed.is_file():
            return packed
    return path
