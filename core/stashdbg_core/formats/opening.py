"""Foreign files opened: recognised by content, listed run by run, read into a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stashdbg_core.errors import invalid_input, invalid_recording
from stashdbg_core.formats.explain import Explanation, explain
from stashdbg_core.formats.findings import notes_of
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.record_by_record import FAULTS
from stashdbg_core.formats.registry import formats
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import Cancelled, ForeignSource
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.limits import Limits

__all__ = [
    "Cancelled",
    "Explanation",
    "detect",
    "explain",
    "only_run",
    "read_foreign",
    "read_into",
    "read_run",
    "run_summaries",
]


def detect(source: ForeignSource) -> Format | None:
    """Return the format that a file is in, or None if it is none that is known."""
    head = Head(source)
    return next((known for known in formats() if known.detect(head)), None)


def run_summaries(where: Path | bytes | ForeignSource) -> Sequence[RunSummary]:
    """Return the runs of a file, none of them read.

    Raises:
        StashError: It cannot be read, or is in no format that is known.
    """
    source = _source(where, Limits())
    return _known(source).runs(source)


def read_foreign(
    where: Path | bytes | ForeignSource,
    *,
    run: int | None = None,
    limits: Limits = Limits(),
) -> Recording:
    """Return one run of a foreign file as a recording.

    Args:
        where: The file, or its bytes.
        run: Which run, from 0; None if there is to be only one.
        limits: Reading limits.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: in no format that is known, or nothing of it can be read;
            ``ERR_INVALID_INPUT``: there is no such run, or several and none was named.
    """
    source = _source(where, limits)
    known = _known(source)
    if run is None:
        run = only_run(known.runs(source), source.name)
    return read_run(known, source, run)


def read_run(known: Format, source: ForeignSource, run: int) -> Recording:
    """Read one run in a format into memory; see ``read_foreign``.

    Args:
        known: The format.
        source: The file.
        run: Which run, from 0.
    """
    sink = RunSink(known.name, source, run)
    read_into(known, source, run, sink)
    sink.end()
    meta = sink.meta_tree()
    recording = sink.ledger.recording(sink.recording_id, meta, ())
    events = ReadEvents(recording.events)
    events.identity = source.identity
    return replace(recording, events=events, path=source.path, notes=(*recording.notes, *notes_of(meta["source"])))


class ReadEvents(EventList):
    """Events of a file of another tool, with what tells whether the file has changed since."""

    identity: tuple[int, int, int, int] | None = None


def read_into(known: Format, source: ForeignSource, run: int, sink: RunSink) -> None:
    """Let a format tell a sink of a run; where the reader stumbles, what it told before that counts.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it stumbled before the first event.
    """
    try:
        known.read(source, run, sink)
    except FAULTS as error:
        why = f"{type(error).__name__}: {error}"
        if not len(sink):
            raise invalid_recording(
                f"{shorten(source.name, 200)} looks like a {known.title}, but has a shape that is not known "
                f"({shorten(why, 120)})",
                hint="report it with the first lines of the file, if they hold nothing private",
            ) from error
        sink.note("stopped", f"reading stopped at a shape that this version does not know ({why})")


def only_run(runs: Sequence[RunSummary], name: str) -> int:
    """Return 0 if there is one run.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there are several, or none.
    """
    shown = shorten(name, 200)
    if not runs:
        raise invalid_input(f"{shown} holds no run")
    if len(runs) > 1:
        listed = "; ".join(f"{number} {shorten(run.title, 40)}" for number, run in enumerate(runs[:10], 1))
        more = f"; and {len(runs) - 10} more" if len(runs) > 10 else ""
        raise invalid_input(f"{shown} holds {len(runs)} runs: {listed}{more}", hint="say which with --run N")
    return 0


def _known(source: ForeignSource) -> Format:
    known = detect(source)
    if known is None:
        raise invalid_recording(
            f"{shorten(source.name, 200)} is in no format that stashdbg knows",
            hint="docs/formats.md lists those it knows",
        )
    return known


def _source(where: Path | bytes | ForeignSource, limits: Limits) -> ForeignSource:
    return where if isinstance(where, ForeignSource) else ForeignSource(where, limits=limits)
