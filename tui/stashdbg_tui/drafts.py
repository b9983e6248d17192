"""Drafts that are not saved yet: kept in their files, found again by event, and named when the app ends.

Nothing that a person wrote is removed before it is in a fork, or before they throw it away.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rich.text import Text
from textual.app import App

from stashdbg_core.sanitize import sanitize_line

if TYPE_CHECKING:
    from stashdbg_core.session.editing import Draft
    from stashdbg_core.session.fork_edit import ForkEdit

Place = tuple[str, str, int]
"""File and id of a recording, and the ``seq`` of an event."""


class Drafts:
    """The drafts of one app."""

    def __init__(self) -> None:
        self._kept: dict[Place, Draft] = {}

    def find(self, edit: ForkEdit) -> Draft | None:
        """Return the draft that was left for an event, if its file is still there."""
        draft = self._kept.get(_place(edit))
        if draft is not None and not draft.path.exists():
            del self._kept[_place(edit)]
            return None
        return draft

    def keep(self, edit: ForkEdit, draft: Draft) -> None:
        """Remember a draft."""
        self._kept[_place(edit)] = draft

    def drop(self, edit: ForkEdit, draft: Draft) -> None:
        """Remove a draft: its text was taken, or is not wanted any more."""
        self._kept.pop(_place(edit), None)
        draft.discard()

    def farewell(self) -> Text | None:
        """Return where the drafts lie that were not saved; None if there is none."""
        left = [(place, draft) for place, draft in self._kept.items() if draft.path.exists()]
        if not left:
            return None
        lines = [
            sanitize_line(
                shlex.join(["stashdbg", "fork", file or "FILE", "--at", str(seq), "--set-file", str(draft.path)])
            )
            for (file, _, seq), draft in left
        ]
        return Text("\n".join(["Edits that were not saved as a fork are kept; take one up again with:", *lines]))


_OF: WeakKeyDictionary[App[object], Drafts] = WeakKeyDictionary()


def drafts_of(app: App[object]) -> Drafts:
    """Return the drafts of an app."""
    return _OF.setdefault(app, Drafts())


def _place(edit: ForkEdit) -> Place:
    recording = edit.recording
    return str(recording.path or ""), recording.id, edit.event.seq
