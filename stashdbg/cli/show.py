"""``stashdbg show``: the events of a recording as text or JSON, or one event whole."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import RecordedEvent, Recording


def command(
    file: FileArgument,
    at: Annotated[int | None, typer.Option("--at", metavar="SEQ", help="Print this one event whole.")] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """List the events of a recording, or print one event whole."""
    recording = load_recording(file, limit)
    event = None if at is None else event_at(recording, at)
    if as_json:
        print_json(recording, event)
    elif event is None:
        from stashdbg.cli.listing import print_listing

        print_listing(recording)
    else:
        from stashdbg.cli.event_text import print_event

        print_event(recording, event)


def print_json(recording: Recording, event: RecordedEvent | None = None) -> None:
    """Write a recording as one JSON object, all its events or this one."""
    from stashdbg.cli.event_json import recording_chunks

    for chunk in recording_chunks(recording, recording.events if event is None else [event]):
        console.ascii_text(chunk)


def event_at(recording: Recording, seq: int) -> RecordedEvent:
    """Return the event with this ``seq``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``; there is none, and the hint says which there are.
    """
    position = recording.events.position_of(seq)
    if position is None:
        raise _no_event(recording, seq)
    return recording.events[position]


def _no_event(recording: Recording, seq: int) -> StashError:
    events = recording.events
    if not len(events):
        return invalid_input(f"no event {seq}", hint="the recording has no events")
    first, last = events[0].seq, events[-1].seq
    gaps = "" if last - first + 1 == len(events) else f", {len(events):,} of them"
    return invalid_input(f"no event {seq}", hint=f"the recording has events {first} to {last}{gaps}")
