"""Bookmarks, notes, breakpoints, watches and own columns on a recording, kept beside and never in it.

They lie in a file of the user's state folder, named by a digest of the recording's id and of what tells it from others
of that id, so that a journal and the recording it becomes share one notebook. Entries name events by ``seq``. Every
change reads the file anew and replaces it whole, with mode 0600; a file that cannot be read is never written over.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from stashdbg_core.canonical import Json, canonical_form, stored_form
from stashdbg_core.errors import invalid_input, not_found
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.state_file import changing

if TYPE_CHECKING:
    from stashdbg_core.session.predicate import Marks

VERSION = 1
NOTE_CHARACTERS = 20_000
_MOST_ENTRIES = 100_000
_LARGEST = 64_000_000
_IDENTIFYING = 8
"""Events that tell recordings of one id apart where they do not say when they were made."""


@dataclass(frozen=True, slots=True)
class NotebookNote:
    """A note on an event."""

    seq: int
    text: str


class _File(msgspec.Struct, omit_defaults=True):
    """The sidecar file."""

    version: int = VERSION
    id: str = ""
    bookmarks: list[int] = []
    notes: list[tuple[int, str]] = []
    breakpoints: list[str] = []
    watches: list[str] = []
    columns: list[str] = []


@dataclass(slots=True)
class Notebook:
    """What a user wrote on a recording.

    Args:
        path: The sidecar file; None keeps everything in memory.
        recording_id: Written into the file, for people who look into it.
    """

    path: Path | None
    recording_id: str = ""
    bookmarks: tuple[int, ...] = ()
    """``seq`` of bookmarked events, in order."""
    notes: tuple[NotebookNote, ...] = ()
    """In order of ``seq``; several on one event in the order in which they were written."""
    breakpoints: tuple[str, ...] = ()
    """Queries."""
    watches: tuple[str, ...] = ()
    """JMESPath expressions."""
    columns: tuple[str, ...] = ()
    """Columns of one's own, ``name=expression``, in the order in which they are shown."""
    problem: str | None = None
    """Why the file could not be read, if so."""

    @classmethod
    def of(cls, recording: Recording, folder: Path | None = None) -> Notebook:
        """Read the notebook of a recording; a missing file is an empty one, an unreadable one has a ``problem``."""
        notebook = cls(notebook_path(recording, folder), recording.id)
        notebook.read()
        return notebook

    def read(self) -> None:
        """Take over what the file says now."""
        self.problem = None
        if self.path is None:
            return
        try:
            with open(self.path, "rb") as file:
                data = file.read(_LARGEST + 1)
            held = msgspec.json.decode(data, type=_File)
        except (FileNotFoundError, NotADirectoryError):
            held = _File()
        except (OSError, msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not a notebook"
            self.problem = f"the notebook {shorten(str(self.path), 300)} cannot be read: {reason}"
            return
        self.bookmarks = tuple(sorted(set(held.bookmarks)))
        self.notes = _in_order([NotebookNote(seq, text) for seq, text in held.notes])
        self.breakpoints, self.watches = tuple(held.breakpoints), tuple(held.watches)
        self.columns = tuple(held.columns)

    def toggle_bookmark(self, seq: int) -> bool:
        """Set a bookmark, or take it away; tell whether it is there now.

        Raises:
            StashError: The file cannot be written.
        """
        with self._turn():
            is_set = seq not in self.bookmarks
            others = tuple(other for other in self.bookmarks if other != seq)
            self._write(bookmarks=tuple(sorted((*others, seq))) if is_set else others)
        return is_set

    def add_note(self, seq: int, text: str) -> None:
        """Write a note on an event.

        Raises:
            StashError: It is empty or too long, or the file cannot be written.
        """
        text = text.strip()
        if not text:
            raise invalid_input("a note is empty", hint="write something")
        if len(text) > NOTE_CHARACTERS:
            raise invalid_input(f"a note has at most {NOTE_CHARACTERS:,} characters; this has {len(text):,}")
        with self._turn():
            self._write(notes=_in_order([*self.notes, NotebookNote(seq, text)]))

    def drop_notes(self, seq: int) -> int:
        """Take away the notes on an event; return how many.

        Raises:
            StashError: The file cannot be written.
        """
        with self._turn():
            kept = tuple(note for note in self.notes if note.seq != seq)
            dropped = len(self.notes) - len(kept)
            if dropped:
                self._write(notes=kept)
        return dropped

    def set_breakpoints(self, queries: tuple[str, ...]) -> None:
        """Replace the breakpoints.

        Raises:
            StashError: The file cannot be written.
        """
        with self._turn():
            self._write(breakpoints=queries)

    def set_watches(self, expressions: tuple[str, ...]) -> None:
        """Replace the watches.

        Raises:
            StashError: The file cannot be written.
        """
        with self._turn():
            self._write(watches=expressions)

    def set_columns(self, settings: tuple[str, ...]) -> None:
        """Replace the columns.

        Raises:
            StashError: The file cannot be written.
        """
        with self._turn():
            self._write(columns=settings)

    def marks(self, recording: Recording) -> Marks:
        """Return what queries ask: where bookmarks and notes are now, as indices of events."""

        def positions(seqs: Callable[[], tuple[int, ...]]) -> Callable[[], Set[int]]:
            known: tuple[tuple[int, ...], Set[int]] | None = None

            def current() -> Set[int]:
                nonlocal known
                now = seqs()
                if known is None or known[0] != now:
                    found = (recording.events.position_of(seq) for seq in now)
                    known = now, frozenset(position for position in found if position is not None)
                return known[1]

            return current

        return {
            "bookmarked": positions(lambda: self.bookmarks),
            "noted": positions(lambda: tuple(note.seq for note in self.notes)),
        }

    def to_json(self) -> dict[str, Json]:
        """Return it under the names that ``stashdbg notes --json`` prints."""
        return {
            "id": self.recording_id,
            "bookmarks": list(self.bookmarks),
            "notes": [{"seq": note.seq, "text": note.text} for note in self.notes],
            "breakpoints": list(self.breakpoints),
            "watches": list(self.watches),
            "columns": list(self.columns),
        }

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Read the file, and keep other sessions from changing it until the change is written.

        Raises:
            StashError: The folder cannot be made.
        """
        if self.path is None:
            yield
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(changing(self.path))
            except OSError as error:
                where = shorten(os.fsdecode(self.path.parent), 300)
                raise not_found(
                    f"the folder {where} for notebooks cannot be made: {error.strerror}",
                    hint="XDG_STATE_HOME says where such files go",
                ) from error
            self.read()
            yield

    def _write(
        self,
        *,
        bookmarks: tuple[int, ...] | None = None,
        notes: tuple[NotebookNote, ...] | None = None,
        breakpoints: tuple[str, ...] | None = None,
        watches: tuple[str, ...] | None = None,
        columns: tuple[str, ...] | None = None,
    ) -> None:
        """Put a change into the file, then into the object; without a file into the object alone."""
        if self.problem is not None:
            raise not_found(self.problem, hint="move that file away to start a new notebook")
        changed = replace(
            self,
            bookmarks=self.bookmarks if bookmarks is None else bookmarks,
            notes=self.notes if notes is None else notes,
            breakpoints=self.breakpoints if breakpoints is None else breakpoints,
            watches=self.watches if watches is None else watches,
            columns=self.columns if columns is None else columns,
        )
        if len(changed.bookmarks) + len(changed.notes) > _MOST_ENTRIES:
            raise invalid_input(f"a notebook holds at most {_MOST_ENTRIES:,} bookmarks and notes")
        if self.path is not None:
            _save(self.path, changed)
        self.bookmarks, self.notes = changed.bookmarks, changed.notes
        self.breakpoints, self.watches, self.columns = changed.breakpoints, changed.watches, changed.columns


def notebook_path(recording: Recording, folder: Path | None = None) -> Path:
    """Return where a recording's notebook lies; ``folder`` stands in for the user's state folder."""
    if folder is None:
        from platformdirs import user_state_path

        folder = user_state_path("stashdbg", appauthor=False) / "notebooks"
    name = hashlib.sha256(canonical_form([recording.id, _identity(recording)])).hexdigest()[:40]
    return folder / f"{name}.json"


def _identity(recording: Recording) -> Json:
    """Return what tells recordings of one id apart and stays as a journal grows: when it began, else how."""
    made = recording.meta.get("createdAt")
    if isinstance(made, (int, float, str)):
        return str(made)
    events = recording.events
    return [
        [event.seq, event.channel, event.key, event.ordinal]
        for event in (events[index] for index in range(min(_IDENTIFYING, len(events))))
    ]


def _in_order(notes: list[NotebookNote]) -> tuple[NotebookNote, ...]:
    return tuple(sorted(notes, key=lambda note: note.seq))


def _save(path: Path, notebook: Notebook) -> None:
    from stashdbg_core.store.atomic import write_atomic

    held = {"version": VERSION, **notebook.to_json()}
    held["notes"] = [[note.seq, note.text] for note in notebook.notes]
    data = stored_form(held) + b"\n"
    write_atomic(path, lambda file: file.write(data), overwrite=True, mode=0o600)
