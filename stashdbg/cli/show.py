"""``stashdbg show``: the events of a recording as text or JSON, or one event whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import RecordedEvent, Recording

if TYPE_CHECKING:
    from stashdbg_core.session.expressions import Column


def command(
    file: FileArgument,
    at: Annotated[int | None, typer.Option("--at", metavar="SEQ", help="Print this one event whole.")] = None,
    query: Annotated[
        str | None,
        typer.Option("--filter", metavar="QUERY", help="Only events that fit, such as 'is:error key:search*'."),
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="NAME=EXPR", help="A column of your own, in JMESPath; repeatable."),
    ] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """List the events of a recording, or print one event whole."""
    from stashdbg.cli.filtering import events_that_fit, own_columns

    own = own_columns(columns)
    recording = load_recording(file, limit)
    event = None if at is None else event_at(recording, at)
    if event is not None and query is not None:
        raise invalid_input("--at and --filter together", hint="--at prints one event, whatever it is")
    events: Iterable[RecordedEvent] = [event] if event is not None else events_that_fit(recording, query)
    if as_json:
        print_json(recording, events, own)
    elif event is None:
        from stashdbg.cli.listing import print_listing

        print_listing(recording, None if query is None else events, own)
    else:
        from stashdbg.cli.event_text import print_event

        print_event(recording, event, own)


def print_json(
    recording: Recording, events: Iterable[RecordedEvent] | None = None, columns: Sequence[Column] = ()
) -> None:
    """Write a recording as one JSON object, all its events or these."""
    from stashdbg.cli.event_json import recording_chunks

    for chunk in recording_chunks(recording, recording.events if events is None else events, columns):
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
