"""What there is to open on this machine, and what was opened; each called in a worker thread."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from stashdbg_core.formats.recent import RecentFiles, recent_path
from stashdbg_core.formats.session_finder import find_sessions
from stashdbg_core.model import Recording
from stashdbg_core.session.choices import Choice, choices_of_sessions

__all__ = ["find_choices", "recent_path", "remember"]


def find_choices(recent: Path | None) -> Sequence[Choice]:
    """Return files opened lately, the sessions of agents and the recordings of the current folder, newest first."""
    home = Path.home()
    return choices_of_sessions(find_sessions(home, os.environ, Path(), RecentFiles(recent)), home)


def remember(recent: Path, recording: Recording) -> None:
    """Keep that a recording was opened."""
    if recording.path is not None:
        RecentFiles(recent).add(recording.path, title_of(recording))


def title_of(recording: Recording) -> str:
    """Return what a recording is called: its title, what a person said first, or its id."""
    title = recording.meta.get("title")
    if isinstance(title, str) and title:
        return title
    for position in range(min(len(recording.events), 20)):
        event = recording.events[position]
        if event.channel == "user" and event.label:
            return event.label
    return recording.id
