"""One event whole, as text: its fields, its input and its value, laid out for reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg.cli.listing import payload_problems
from stashdbg.cli.notes import narrate_notes
from stashdbg.cli.pretty import pretty_lines
from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.session.fields import event_fields

if TYPE_CHECKING:
    from stashdbg_core.session.expressions import Column

_INDENT = "  "
_NAMES = 13


def print_event(recording: Recording, event: RecordedEvent, columns: Sequence[Column] = ()) -> None:
    """Write an event's fields, columns of one's own, input and value; what is damaged is named on standard error."""
    console.line(Styled(f"event {event.seq}", "bold"), f" of {recording.id}")
    for field in event_fields(recording, event):
        text: console.Part = Styled(field.text, "error") if field.kind == "problem" else field.text
        console.line(_INDENT, Styled(f"{field.name:<{_NAMES - 1}} ", "dim"), text)
    for column in columns:
        console.line(_INDENT, Styled(f"{column.name:<{_NAMES - 1}} ", "dim"), column.text(recording, event, 400))
    if event.input_ref is not None:
        _print_payload(recording, "input", event.input_ref)
    if event.ref:
        _print_payload(recording, "error" if event.outcome == THROW else "value", event.ref)
    narrate_notes(payload_problems(recording, event))


def _print_payload(recording: Recording, name: str, ref: str) -> None:
    console.line()
    console.line(Styled(name, "bold"), " ", Styled(ref, "dim"))
    try:
        tree = recording.blobs.tree(ref)
    except StashError as error:
        console.line(_INDENT, Styled(error.message, "error"))
        return
    for parts in pretty_lines(tree, _INDENT):
        console.line(*parts)
