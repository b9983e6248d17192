"""An event's own record as rows of name and text, everything that is known about the call but its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.model import Payload, RecordedEvent, Recording
from stashdbg_core.session.summary import outcome_word
from stashdbg_core.session.words import duration_words, moment_words, offset_words, size_words

FieldKind: TypeAlias = Literal["text", "number", "ref", "problem"]

_SHOWN = 2000
"""Characters of an unknown field that are shown."""


@dataclass(frozen=True, slots=True)
class Field:
    """One row: recorded text, unsanitised."""

    name: str
    text: str
    kind: FieldKind = "text"


def event_fields(recording: Recording, event: RecordedEvent) -> list[Field]:
    """Return the rows of an event: identity, outcome, times, place in the program, references, unknown keys."""
    rows = [
        Field("seq", str(event.seq), "number"),
        Field("channel", event.channel),
        Field("key", event.key),
        Field("ordinal", str(event.ordinal), "number"),
        Field("outcome", outcome_word(event)),
    ]
    if event.damage is not None:
        rows.append(Field("damage", event.damage, "problem"))
    rows += _times(recording, event)
    for name, text in (
        ("label", event.label),
        ("lane", event.thread),
        ("call id", event.call_id),
        ("site", event.site),
    ):
        if text is not None:
            rows.append(Field(name, text))
    if event.parent is not None:
        rows.append(Field("parent", f"event {event.parent}", "number"))
    rows += _reference(recording, "value", event.ref)
    if event.input_ref is not None:
        rows += _reference(recording, "input", event.input_ref)
    rows += [Field(name, raw[:_SHOWN].decode("utf-8", "replace")) for name, raw in event.extra.items()]
    return rows


def payload_words(payload: Payload) -> str:
    """Return size and state of a stored value: ``1.2 kB``, ``missing``, ``30 MB, damaged``."""
    if payload.state == "missing":
        return "missing"
    size = size_words(len(payload.raw))
    return size if payload.state == "ok" else f"{size}, {payload.state}"


def _times(recording: Recording, event: RecordedEvent) -> list[Field]:
    rows = []
    if event.at is not None:
        rows.append(Field("started", moment_words(event.at)))
        began = recording.events[0].at
        if began is not None:
            rows.append(Field("into the run", offset_words(event.at - began)))
    if event.ms is not None:
        rows.append(Field("took", duration_words(event.ms)))
    return rows


def _reference(recording: Recording, name: str, ref: str) -> list[Field]:
    payload = recording.blobs.payload(ref)
    rows = [Field(name, payload_words(payload), "number" if payload.state == "ok" else "problem")]
    if payload.problem:
        rows.append(Field(f"{name} problem", payload.problem, "problem"))
    rows.append(Field(f"{name} ref", ref, "ref"))
    return rows
