"""What there is to open on this machine; each called in a worker thread."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stashdbg_core.formats.recent import RecentFiles
from stashdbg_core.formats.session_finder import find_sessions
from stashdbg_core.opening.folder import runs_in_folder
from stashdbg_core.session.choices import Choice, choices_in_folder, choices_of_sessions
from stashdbg_core.store.limits import Limits


def find_choices(recent: Path | None) -> Sequence[Choice]:
    """Return files opened lately, the sessions of agents and the recordings of the current folder, newest first."""
    home = Path.home()
    return choices_of_sessions(find_sessions(home, os.environ, Path(), RecentFiles(recent)), home)


def find_in_folder(folder: Path, limits: Limits) -> Sequence[Choice]:
    """Return what a folder holds that can be opened, newest first."""
    return choices_in_folder(runs_in_folder(folder, limits), folder)
