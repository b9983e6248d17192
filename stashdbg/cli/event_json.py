"""Events as ``show --json`` has them, written one by one: a big file costs one event at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from stashdbg.cli.json_out import json_text
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording

if TYPE_CHECKING:
    from stashdbg_core.session.expressions import Column

_OPTIONAL = (
    ("at", "at"),
    ("label", "label"),
    ("thread", "thread"),
    ("parent", "parent"),
    ("ms", "ms"),
    ("callId", "call_id"),
    ("site", "site"),
)


def recording_chunks(
    recording: Recording, events: Iterable[RecordedEvent], columns: Sequence[Column] = ()
) -> Iterator[str]:
    """Yield one JSON object in pieces of printable ASCII: the recording with these events and columns of one's own."""
    yield f'{{"id":{json_text(recording.id)},"complete":{json_text(recording.complete)},"events":['
    comma = "\n"
    for event in events:
        tree = event_tree(recording, event)
        if columns:
            tree["columns"] = {column.name: column.of(recording, event) for column in columns}
        yield comma + json_text(tree)
        comma = ",\n"
    notes = [note_tree(note) for note in recording.notes]
    yield f'\n],"notes":{json_text(notes)}}}\n'


def event_tree(recording: Recording, event: RecordedEvent) -> Json:
    """Return an event with its value and input; what cannot be read is absent and ``problem`` says why."""
    tree: dict[str, Any] = {
        "seq": event.seq,
        "channel": event.channel,
        "key": event.key,
        "ordinal": event.ordinal,
        "outcome": event.outcome,
    }
    for name, attribute in _OPTIONAL:
        found = getattr(event, attribute)
        if found is not None:
            tree[name] = _whole(found)
    problems = [event.damage] if event.damage else []
    for name, ref in (("value", event.ref), ("input", event.input_ref)):
        if ref is None or (event.damage and not ref):
            continue
        try:
            tree[name] = recording.blobs.tree(ref)
        except StashError as error:
            problems.append(f"{name}: {error.message}")
    if problems:
        tree["problem"] = "; ".join(problems)
    return tree


def note_tree(note: Any) -> Json:
    """Return a reader's note as data, its absent facts left out."""
    facts = {"kind": note.kind, "message": note.message, "seq": note.seq, "ref": note.ref, "offset": note.offset}
    return {name: fact for name, fact in facts.items() if fact is not None}


def _whole(found: Any) -> Json:
    """Return a number as an integer where it is one; times read ``1760000000000`` and not ``1760000000000.0``."""
    return int(found) if type(found) is float and found.is_integer() and abs(found) < 2**53 else found
