"""The user's editor on a file at a line, the screen given up meanwhile and taken back afterwards."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from textual.app import App, SuspendNotSupported

from stashdbg_core.errors import StashError
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.editing import editor_command

_AFTER = ("code", "codium", "cursor", "windsurf")
"""Editors that take ``--goto FILE:LINE``."""
_COLON = ("subl", "zed", "hx", "micro")
"""Editors that take ``FILE:LINE``; others take ``+LINE FILE``."""


def command_at(words: list[str], path: Path, line: int) -> list[str]:
    """Return the command that opens a file at a line, as the editor wants it said."""
    name = Path(words[0]).name
    if name in _AFTER:
        return [*words, "--goto", f"{path}:{line}"]
    if name in _COLON:
        return [*words, f"{path}:{line}"]
    return [*words, f"+{line}", str(path)]


def edit_at(app: App[object], path: Path, line: int) -> str:
    """Open a file at a line and wait for the editor; return a sentence about it."""
    try:
        words = editor_command(os.environ)
    except StashError as failure:
        return f"{failure.message}; the place is {shorten(str(path), 120)}:{line}"
    try:
        with app.suspend():
            code = subprocess.run(command_at(words, path, line), check=False).returncode
    except SuspendNotSupported:
        return "the screen cannot be given up here, so no editor was started"
    except OSError as failure:
        return f"{shorten(words[0], 60)} cannot be started: {failure.strerror or 'unknown'}"
    return "back from the editor" if code == 0 else f"{shorten(words[0], 60)} ended with {code}"
