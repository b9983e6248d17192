"""What was opened lately: a list in the user's state folder, private, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import time

import msgspec

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.store.state_file import changing

KEPT = 100
_LARGEST = 1_000_000


class RecentFile(msgspec.Struct, frozen=True):
    """A file that was opened."""

    path: str
    """Absolute; a run of a file as ``file/N``."""
    opened: float
    """Seconds since the epoch."""
    title: str = ""


@dataclass(frozen=True, slots=True)
class RecentFiles:
    """The list.

    Args:
        path: The file that it lies in; None keeps nothing.
    """

    path: Path | None

    def read(self) -> list[RecentFile]:
        """Return the files, the latest first; none if the list is missing or damaged."""
        try:
            if self.path is None or self.path.stat().st_size > _LARGEST:
                return []
            return msgspec.json.decode(self.path.read_bytes(), type=list[RecentFile])[:KEPT]
        except (OSError, ValueError, msgspec.MsgspecError):
            return []

    def add(self, file: Path, title: str) -> bool:
        """Put a file first; tell whether that could be kept."""
        if self.path is None:
            return False
        from stashdbg_core.store.atomic import write_atomic

        entry = RecentFile(str(file.absolute()), time(), title)
        try:
            with changing(self.path):
                others = [known for known in self.read() if known.path != entry.path]
                data = stored_form(msgspec.to_builtins([entry, *others][:KEPT])) + b"\n"
                write_atomic(self.path, lambda stream: stream.write(data), overwrite=True, mode=0o600)
        except (OSError, StashError, UnicodeEncodeError):
            return False
        return True


def recent_path() -> Path:
    """Return where the list lies."""
    from platformdirs import user_state_path

    return user_state_path("stashdbg", appauthor=False) / "recent.json"
