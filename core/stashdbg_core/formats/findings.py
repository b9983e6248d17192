"""What a reader noticed beside the run itself: notes, and counts of what was unknown, skipped and damaged; bounded."""

from __future__ import annotations

from stashdbg_core.canonical import Json
from stashdbg_core.formats.source import Line
from stashdbg_core.model import Note
from stashdbg_core.sanitize import shorten

MAX_NOTES = 200
MAX_NAMES = 200
"""Different things counted; more count as others."""
_OTHERS = "others"


class Findings:
    """The facts about one reading."""

    def __init__(self) -> None:
        self.facts: dict[str, Json] = {}
        self.title: str | None = None
        self.notes: list[Note] = []
        self.notes_left_out = 0
        self.unknown: dict[str, int] = {}
        self.skipped: dict[str, int] = {}
        self.damaged_lines = 0
        self.pending = 0

    def note(self, kind: str, message: str, seq: int | None = None, offset: int | None = None) -> None:
        """Keep a note."""
        if len(self.notes) < MAX_NOTES:
            self.notes.append(Note(kind, shorten(message, 500), seq=seq, offset=offset))
        else:
            self.notes_left_out += 1

    def damaged_line(self, line: Line, why: str) -> None:
        """Count a line that could not be read, and note it."""
        self.damaged_lines += 1
        self.note("damaged-line", f"line {line.number} {why}; it is left out", offset=line.offset)

    def count(self, table: dict[str, int], what: str) -> None:
        """Count one thing in ``unknown`` or ``skipped``."""
        what = shorten(what, 120)
        if what not in table and len(table) >= MAX_NAMES:
            what = _OTHERS
        table[what] = table.get(what, 0) + 1

    def to_json(self, format_name: str, file: str, run: int) -> dict[str, Json]:
        """Return ``meta.source``; the reader's own facts never replace ours."""
        own: dict[str, Json] = {"format": format_name, "file": file, "run": run + 1}
        counts: dict[str, Json] = {
            "unknown": dict(self.unknown),
            "skipped": dict(self.skipped),
            "damagedLines": self.damaged_lines,
            "pending": self.pending,
        }
        if self.notes:
            counts["notes"] = [_note(note) for note in self.notes]
        if self.notes_left_out:
            counts["notesLeftOut"] = self.notes_left_out
        facts = {key: value for key, value in self.facts.items() if key != "complete"}
        return {**own, **{key: value for key, value in facts.items() if key not in {*own, *counts}}, **counts}


def notes_of(source: Json) -> list[Note]:
    """Return the notes that ``meta.source`` holds."""
    listed = source.get("notes") if isinstance(source, dict) else None
    notes: list[Note] = []
    for entry in listed[:MAX_NOTES] if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("kind"), str) and isinstance(entry.get("message"), str):
            seq, offset = entry.get("seq"), entry.get("offset")
            notes.append(
                Note(
                    shorten(entry["kind"], 60),
                    shorten(entry["message"], 500),
                    seq=seq if type(seq) is int else None,
                    offset=offset if type(offset) is int else None,
                )
            )
    return notes


def _note(note: Note) -> dict[str, Json]:
    facts: dict[str, Json] = {"kind": note.kind, "message": note.message}
    if note.seq is not None:
        facts["seq"] = note.seq
    if note.offset is not None:
        facts["offset"] = note.offset
    return facts
