"""What a person chooses from: files to open, or the runs of one file; in words, and narrowed down by typing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stashdbg_core.formats.format import RunSummary
from stashdbg_core.formats.session_finder import FoundSession
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.words import counted, minute_words, size_words

_TITLE = 200


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to open."""

    path: Path
    """What ``opening.files.open_one`` takes."""
    when: str
    facts: str
    """Who wrote it, or how much it is."""
    title: str
    place: str = ""
    """Where it lies, in words."""


def choices_of_sessions(sessions: Sequence[FoundSession], home: Path) -> list[Choice]:
    """Return files as choices; ``home`` is written as ``~``."""
    return [_choice(session, _under(session.path, home, "~/")) for session in sessions]


def choices_in_folder(sessions: Sequence[FoundSession], folder: Path) -> list[Choice]:
    """Return the files of a folder as choices, each by its name in it."""
    return [_choice(session, _under(session.path, folder, "")) for session in sessions]


def _choice(session: FoundSession, place: str) -> Choice:
    facts = (session.tool or "opened before", size_words(session.size), held_words(session))
    title = session.title or session.path.stem
    return Choice(session.path, minute_words(session.changed), " · ".join(filter(None, facts)), title, place)


def held_words(session: FoundSession) -> str:
    """Return how many runs or events a file holds, in words; an empty text where they were not counted."""
    if session.runs is not None:
        return counted(session.runs, "run")
    return "" if session.events is None else counted(session.events, "event")


def choices_of_runs(path: Path, runs: Sequence[RunSummary]) -> list[Choice]:
    """Return the runs of a file as choices, in its order."""
    return [
        Choice(
            path / str(number),
            "" if run.started is None else minute_words(run.started / 1000),
            "" if run.events is None else counted(run.events, "event"),
            f"{number}  {shorten(run.title, _TITLE)}",
            shorten(run.detail, _TITLE),
        )
        for number, run in enumerate(runs, 1)
    ]


def narrowed(choices: Sequence[Choice], text: str) -> list[Choice]:
    """Return the choices in which every word of a text occurs, letter case aside."""
    words = text.casefold().split()
    return [
        choice
        for choice in choices
        if all(word in f"{choice.title} {choice.facts} {choice.when} {choice.place}".casefold() for word in words)
    ]


def _under(path: Path, folder: Path, before: str) -> str:
    try:
        return f"{before}{path.relative_to(folder)}"
    except ValueError:
        return str(path)
