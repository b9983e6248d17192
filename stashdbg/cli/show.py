"""``stashdbg show``: the events of a recording as text or JSON, or one event whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import ExplainOption, FileArgument, JsonOption, LimitOption, RunOption
from stashdbg_core.errors import invalid_input
from stashdbg_core.model import RecordedEvent, Recording

if TYPE_CHECKING:
    from stashdbg_core.session.expressions import Column


def command(
    file: FileArgument,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="EVENT", help="The event to print whole: its seq, or channel:key:ordinal."),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option("--filter", metavar="QUERY", help="Only events that fit, such as 'is:error key:search*'."),
    ] = None,
    head: Annotated[
        int | None, typer.Option("--head", "-n", metavar="N", min=0, help="Only the first N of them.")
    ] = None,
    tail: Annotated[int | None, typer.Option("--tail", metavar="N", min=0, help="Only the last N of them.")] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="NAME=EXPR", help="A column of your own, in JMESPath; repeatable."),
    ] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
    explain: ExplainOption = False,
) -> None:
    """List the events of a recording, or print one event whole."""
    from stashdbg.cli.filtering import ends_of, events_that_fit, own_columns

    own = own_columns(columns)
    counted = next((word for word in limit or () if word.isdecimal()), None)
    if counted is not None:
        raise invalid_input("--limit is about what a file may hold", hint=f"--head {counted} lists the first {counted}")
    recording = load_recording(file, limit, run)
    if explain:
        from stashdbg.cli.explaining import print_explanation

        print_explanation(recording, as_json=as_json)
        return
    event = None if at is None else _event_at(recording, at)
    chosen = any(given is not None for given in (query, head, tail))
    if event is not None and chosen:
        raise invalid_input("--at prints one event", hint="leave out --filter, --head and --tail")
    events: Iterable[RecordedEvent] = [event] if event is not None else events_that_fit(recording, query)
    if event is None:
        events = ends_of(events, head, tail)
    if as_json:
        print_json(recording, events, own)
    elif event is None:
        from stashdbg.cli.listing import print_listing

        print_listing(recording, events if chosen else None, own)
    else:
        from stashdbg.cli.event_text import print_event

        print_event(recording, event, own)


def _event_at(recording: Recording, at: str) -> RecordedEvent:
    from stashdbg_core.fork.places import find_event  # brings the redaction rules, which take a while

    return recording.events[find_event(recording, at)]


def print_json(
    recording: Recording, events: Iterable[RecordedEvent] | None = None, columns: Sequence[Column] = ()
) -> None:
    """Write a recording as one JSON object, all its events or these."""
    from stashdbg.cli.event_json import recording_chunks

    for chunk in recording_chunks(recording, recording.events if events is None else events, columns):
        console.ascii_text(chunk)
