"""What a foreign format is: how it is recognised, which runs a file holds, and how one is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.source import ForeignSource

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One run of a file, as a picker shows it; made without reading the run."""

    title: str
    started: float | None = None
    """Milliseconds since the epoch."""
    events: int | None = None
    """How many events it has, where that is known without reading."""
    detail: str = ""


def one_run(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the runs of a file that is one run."""
    return (RunSummary(source.name),)


def one_session(
    source: ForeignSource, about: Callable[[dict[str, Any]], tuple[float | None, str, str | None]]
) -> Sequence[RunSummary]:
    """Return the one run of a session in lines, named by its first prompt.

    Args:
        source: The file.
        about: Says of a record when it was written, in which folder the session works, and what its prompt is. None, an
            empty text and None say that it does not tell.
    """
    title, started, folder = source.name, None, ""
    for record in Head(source).lines:
        at, works_in, prompt = about(record)
        started = at if started is None else started
        folder = folder or works_in
        if prompt is not None:
            title = label_of(prompt) or title
            break
    return (RunSummary(title, started, detail=label_of(folder)),)


@dataclass(frozen=True, slots=True)
class Format:
    """A format of another tool.

    ``exact``, ``inferred`` and ``missing`` are what ``--explain`` says of every file of it: short phrases, such as
    "tool inputs and results", without a full stop.
    """

    name: str
    """Stable and short: ``claude-code``."""
    title: str
    """With what it is, for people: ``Claude Code session``."""
    detect: Callable[[Head], bool]
    """Tells from the head of a file whether it is one; never raises for what a file may hold."""
    runs: Callable[[ForeignSource], Sequence[RunSummary]]
    read: Callable[[ForeignSource, int, RunSink], None]
    """Reads the run of that number, from 0."""
    exact: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
