"""What the screen keeps between sessions: lines typed at its prompts, and folders whose sources may be read.

One file of the user's state folder, mode 0600, read when it is first asked for. A folder counts for recordings that
lie beside the one it was confirmed for. A file that cannot be read or written costs nobody more than the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

import msgspec

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording

VERSION = 1
MOST_LINES = 200
_MOST_PLACES = 100
_MOST_FOLDERS = 8
_LARGEST = 2_000_000
_KEPT_KINDS = frozenset({":", "/", "f"})
"""Prompts whose lines are kept; notes are in the notebook already."""


class _File(msgspec.Struct, omit_defaults=True):
    """The file."""

    version: int = VERSION
    lines: dict[str, list[str]] = {}
    sources: dict[str, list[str]] = {}


class History:
    """Lines by kind of prompt, and confirmed folders by where the recording lies.

    Args:
        path: The file; None keeps everything in memory.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._known: _File | None = None
        self._unkept: dict[str, list[str]] = {}

    def lines(self, kind: str) -> list[str]:
        """Return what was typed at a prompt, the latest last."""
        return (self._held().lines if kind in _KEPT_KINDS else self._unkept).get(kind, [])

    def add_line(self, kind: str, line: str) -> None:
        """Keep a line; blank ones and the one before again are not worth it."""
        if not line.strip() or line in self.lines(kind)[-1:]:
            return
        if kind not in _KEPT_KINDS:
            self._unkept.setdefault(kind, []).append(line)
            return

        def add(held: _File) -> None:
            held.lines[kind] = [*held.lines.get(kind, []), line][-MOST_LINES:]

        self._change(add)

    def folders(self, recording: Recording) -> tuple[Path, ...]:
        """Return the folders that were confirmed for recordings of this place, the latest first."""
        return tuple(map(Path, self._held().sources.get(_place(recording), ())))

    def add_folder(self, recording: Recording, folder: Path) -> bool:
        """Keep a folder; tell whether it is kept beyond this session."""
        place = _place(recording)

        def add(held: _File) -> None:
            others = [other for other in held.sources.pop(place, []) if other != str(folder)]
            held.sources[place] = [str(folder), *others][:_MOST_FOLDERS]
            for old in list(held.sources)[:-_MOST_PLACES]:
                del held.sources[old]

        return self._change(add)

    def _held(self) -> _File:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> _File:
        """Return what the file says now, another session's lines included; what is known where it says nothing."""
        known = self._known or _File()
        if self.path is None:
            return known
        try:
            with open(self.path, "rb") as file:
                return msgspec.json.decode(file.read(_LARGEST), type=_File)
        except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError):
            return known

    def _change(self, change: Callable[[_File], None]) -> bool:
        """Change what the file says now, and what is known of it; tell whether that is kept."""
        if self.path is None:
            change(self._held())
            return False
        from stashdbg_core.store.state_file import changing

        with ExitStack() as stack:
            with suppress(OSError):  # a folder that cannot be made cannot be written to either
                stack.enter_context(changing(self.path))
            self._known = held = self._read()
            change(held)
            return _write(held, self.path)


def _write(held: _File, path: Path) -> bool:
    from stashdbg_core.store.atomic import write_atomic

    data = stored_form(msgspec.to_builtins(held)) + b"\n"
    try:
        write_atomic(path, lambda file: file.write(data), overwrite=True, mode=0o600)
    except StashError:
        return False
    return True


def history_path() -> Path:
    """Return where the file lies."""
    from platformdirs import user_state_path

    return user_state_path("stashdbg", appauthor=False) / "screen.json"


def _place(recording: Recording) -> str:
    """Return the folder a recording lies in; empty for one that is in memory."""
    return str(recording.path.absolute().parent) if recording.path is not None else ""
