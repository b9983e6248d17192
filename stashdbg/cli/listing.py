"""A recording as aligned columns of text: what the debugger's timeline shows, for a pipe, a log or a dumb terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from stashdbg.cli import console
from stashdbg.cli.cells import cell_len, clip, fit
from stashdbg.cli.console import Part, Styled
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import sanitize_line, shorten
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_core.session.words import counted, duration_words

if TYPE_CHECKING:
    from stashdbg_core.session.expressions import Column

_MEASURED = 1000
"""Events that decide the width of the columns; later ones fit into it."""
_WIDEST = {"channel": 16, "key": 36}
_OUTCOME, _DURATION = 8, 9
_SUMMARY_AT_LEAST = 20
_OWN = 24
"""Cells of a column of one's own."""


def print_listing(
    recording: Recording, events: Iterable[RecordedEvent] | None = None, own: Sequence[Column] = ()
) -> None:
    """Write a header line, a line an event, and on standard error what is wrong with the file.

    Args:
        recording: What to list.
        events: Those of its events that are listed; all when None.
        own: Columns of one's own, before the summary.
    """
    console.line(*_header(recording))
    widths = _widths(recording)
    titles = [*_columns(widths, {name: name for name in widths}), *(fit(column.name, _OWN) for column in own)]
    console.line(Styled("  ".join([*titles, "summary"]), "dim"))
    room = max(console.width() - sum(widths.values()) - 2 * len(widths) - (_OWN + 2) * len(own), _SUMMARY_AT_LEAST)
    problems: list[str] = []
    listed = 0

    def rows() -> Iterator[list[Part]]:
        nonlocal listed
        for event in recording.events if events is None else events:
            yield _row(recording, event, widths, room, own)
            problems.extend(payload_problems(recording, event))
            listed += 1

    console.lines(rows())
    if events is not None:
        console.narrate(f"{listed:,} of {len(recording.events):,} events listed")
    narrate_notes([note_message(note) for note in recording.notes] + problems)


def payload_problems(recording: Recording, event: RecordedEvent) -> list[str]:
    """Return what is wrong with an event's value and input beyond the reader's notes, a sentence each."""
    problems = []
    for name, ref in (("value", event.ref), ("input", event.input_ref)):
        payload = recording.blobs.payload(ref) if ref else None
        if payload is None or payload.state == "ok" or (payload.state == "missing" and name == "input"):
            continue
        if not any(note.seq == event.seq and note.ref == ref for note in recording.notes):
            reason = f": {payload.problem}" if payload.problem else ""
            problems.append(f"event {event.seq}: {name} {payload.state} ({shorten(payload.ref, 80)}){reason}")
    return problems


def _header(recording: Recording) -> list[Part]:
    count = len(recording.events)
    words = f"{counted(count, 'event')} · {'complete' if recording.complete else 'incomplete'}"
    return [Styled(clip(recording.id, 60) or "(no id)", "bold"), f" · {words}"]


def _widths(recording: Recording) -> dict[str, int]:
    """Return the width of each column; durations have one only if there are any."""
    events = recording.events
    last = events[-1].seq if len(events) else 0
    widths = {"seq": max(3, len(str(last))), "channel": 7, "key": 3, "outcome": _OUTCOME}
    for event in islice(events, _MEASURED):
        for name in _WIDEST:
            wide = cell_len(sanitize_line(getattr(event, name)[: _WIDEST[name] + 1]))
            widths[name] = min(max(widths[name], wide), _WIDEST[name])
        if event.ms is not None:
            widths["took"] = _DURATION
    return widths


def _columns(widths: dict[str, int], texts: dict[str, str]) -> list[str]:
    """Return one text a column, cut and filled up; numbers stand to the right."""
    return [
        texts[name].rjust(wide) if name in ("seq", "took") else fit(texts[name], wide) for name, wide in widths.items()
    ]


def _row(
    recording: Recording, event: RecordedEvent, widths: dict[str, int], room: int, own: Sequence[Column]
) -> list[Part]:
    word = outcome_word(event)
    texts = {
        "seq": str(event.seq),
        "channel": event.channel,
        "key": event.key,
        "outcome": word,
        "took": "" if event.ms is None else duration_words(event.ms),
    }
    seq, channel, key, outcome, *took = _columns(widths, texts)
    ended = outcome if word == "returned" else Styled(outcome, "error" if word in ("threw", "damaged") else "warning")
    took += [fit(column.text(recording, event, _OWN), _OWN) for column in own]
    said = "  ".join(["", *took, clip(summary(recording, event, room), room)])
    return [f"{seq}  ", Styled(channel, "channel"), f"  {key}  ", ended, said.rstrip()]
