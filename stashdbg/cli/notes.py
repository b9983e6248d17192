"""What a reader should know about a file, said on standard error after the data, and never without an end."""

from __future__ import annotations

from collections.abc import Sequence

from stashdbg.cli import console
from stashdbg_core.model import Note
from stashdbg_core.sanitize import shorten

_SHOWN = 20
_LENGTH = 300


def narrate_notes(messages: Sequence[str]) -> None:
    """Write each message on a line of its own, and how many more there are."""
    for message in messages[:_SHOWN]:
        console.narrate(console.Styled("note: ", "warning"), shorten(message, _LENGTH))
    if len(messages) > _SHOWN:
        console.narrate(console.Styled("note: ", "warning"), f"… and {len(messages) - _SHOWN:,} more like these")


def note_message(note: Note) -> str:
    """Return a note as one sentence that names its event."""
    named = note.seq is None or f"event {note.seq}" in note.message
    return note.message if named else f"event {note.seq}: {note.message}"
