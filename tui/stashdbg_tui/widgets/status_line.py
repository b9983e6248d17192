"""Where the cursor stands, in words; or why the last move was refused.

A message is never cut: the line grows for one that is longer than the screen is wide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from textwrap import TextWrapper
from typing import ClassVar

from textual import events

from stashdbg_core.model import RecordedEvent
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.seal_state import NO_SEAL, SealState
from stashdbg_core.session.session import Session
from stashdbg_core.session.summary import outcome_word
from stashdbg_core.session.words import duration_words, offset_words
from stashdbg_tui import safe
from stashdbg_tui.widgets.one_line import OneLine, Piece

_SEAL_STYLES = {"sealed": "status--good", "redacted": "status--good", "broken": "status--error"}
_ROOMY = 100
"""Cells from which on the seal is told of in full."""
_LONGEST = 300
_GAP = 3
_FOLDING = partial(TextWrapper, max_lines=4, placeholder="…", break_on_hyphens=False)
_DISPENSABLE = ("lane", "offset", "place", "name", "outcome")
"""Groups of words, the most dispensable first."""
_BESIDE_NOTICE = (*_DISPENSABLE, "marks", "event")
"""The same beside a notice, which leaves no stump of them."""


class StatusLine(OneLine):
    """One line of words about the event at the cursor and the recording around it."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "status--strong", "status--error", "status--notice", "status--muted", "status--good",
    }  # fmt: skip

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session: Session | None = None
        self.progress: str | None = None
        """What is still going on, such as reading the rest of a file; safe text."""
        self.filter = ""
        """What hides events, in words."""
        self.marks: Callable[[int], str] = lambda position: ""
        """Returns a position's marks in words."""
        self.seal: SealState = NO_SEAL
        self._notice = ""
        self._folded: list[str] = []
        """The lines of a notice that is longer than one."""

    def show(self, notice: str | None = None) -> None:
        """Draw the words anew, after a notice when there is one; the next call takes it away."""
        self._notice = shorten(notice or "", _LONGEST)
        self._fold()
        self.refresh()

    def on_resize(self, event: events.Resize) -> None:
        """Fold a long notice anew."""
        self._fold()

    def _fold(self) -> None:
        """Take as many lines as the notice needs."""
        room = self.size.width - 2
        fits = room < 1 or safe.cells(self._notice) <= room
        self._folded = [] if fits else _FOLDING(width=room).wrap(self._notice)
        height = max(len(self._folded), 1)
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height

    def pieces(self, y: int, width: int) -> Iterable[Piece]:
        """Return the words; what says least is left out first where they do not fit."""
        yield " ", ""
        if self._folded:
            yield self._folded[y] if y < len(self._folded) else "", "status--notice"
            return
        said = [(self._notice, "status--notice")] if self._notice else []
        yield from said
        session = self.session
        if session is None:
            yield self.progress or "", "status--muted"
            return
        groups = _event_groups(session)
        if said:
            groups["event"].insert(0, ("  ", ""))
        marks = self.marks(session.position)
        if marks:
            groups["marks"] = [(f" · {marks}", "status--notice")]
        about = list(self._recording_words(session, width))
        room = width - 1 - _size(said) - _size(about)
        for dispensable in _BESIDE_NOTICE if said else _DISPENSABLE:
            if sum(_size(group) for group in groups.values()) > room:
                groups.pop(dispensable, None)
        while said and about and _size(about) > width - 1 - _size(said):
            about.pop()
        words = [*(piece for group in groups.values() for piece in group), *about]
        yield from words
        name = shorten(safe.file_name(session.recording.path), 40) if session.recording.path is not None else ""
        room = width - 2 - _size(said) - _size(words)
        if name and safe.cells(name) + _GAP <= room:
            yield " " * (room - safe.cells(name)), ""
            yield name, "status--muted"

    def _recording_words(self, session: Session, width: int) -> Iterable[Piece]:
        recording = session.recording
        if self.filter:
            yield f" · filter {self.filter}", "status--notice"
        if self.progress is not None:
            yield f" · {self.progress}", "status--muted"
        elif not recording.complete:
            yield " · incomplete", "status--error"
        if self.seal.word != "none":
            style = _SEAL_STYLES.get(self.seal.word, "status--muted")
            words = self.seal.words if width >= _ROOMY else self.seal.short
            yield f" · {shorten(words, 80)}", style
        if recording.notes:
            yield f" · {len(recording.notes)} note{'s' if len(recording.notes) > 1 else ''}", "status--notice"


def _event_groups(session: Session) -> dict[str, list[Piece]]:
    event = session.event
    if event is None:
        return {"event": [("no events", "status--strong")]}
    groups: dict[str, list[Piece]] = {
        "event": [(f"event {event.seq}", "status--strong")],
        "place": [(f" · {session.position + 1:,} of {session.count:,}", "")],
        "name": [(f" · {shorten(event.channel, 20)} {shorten(event.key, 28)} #{event.ordinal}", "")],
        "outcome": list(_outcome(event)),
    }
    began = session.event_at(0).at
    if event.at is not None and began is not None:
        groups["offset"] = [(f" · {offset_words(event.at - began)}", "")]
    if event.thread is not None:
        groups["lane"] = [(f" · lane {shorten(event.thread, 24)}", "")]
    return groups


def _size(pieces: Iterable[Piece]) -> int:
    return sum(safe.cells(text) for text, _ in pieces)


def _outcome(event: RecordedEvent) -> Iterable[Piece]:
    word = outcome_word(event)
    style = "" if word == "returned" else "status--error"
    yield " · ", ""
    yield (word if word in ("returned", "threw", "pending", "damaged") else f"outcome {shorten(word, 24)}"), style
    if event.ms is not None and word in ("returned", "threw"):
        yield f" {'in' if word == 'returned' else 'after'} {duration_words(event.ms)}", ""
