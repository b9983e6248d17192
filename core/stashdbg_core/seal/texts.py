"""What of an event itself a seal covers, as text: its identity, and its notes, which is every other key but the refs.

Identity is the stored form of ``[seq, channel, key, ordinal, outcome]``; notes are the stored form of an object, its
own keys in code-point order, so that a rewrite that reorders an event's keys changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import EventSequence, RecordedEvent
from stashdbg_core.parse import parse_json, parse_tolerant

_ABSENT: Any = None
_NOTES = {
    "at": "at",
    "callId": "call_id",
    "label": "label",
    "ms": "ms",
    "parent": "parent",
    "site": "site",
    "thread": "thread",
}


class EventText(NamedTuple):
    """An event as a seal sees it."""

    seq: int
    channel: str
    key: str
    ordinal: int
    outcome: str
    identity: bytes
    notes: bytes
    ref: str
    input_ref: str | None
    problem: str | None = None
    """Why its record does not mean one thing, if so."""


class _Wire(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """An event whose keys are all known and of the right type, in the format's order."""

    seq: int
    channel: str
    key: str
    ordinal: int
    outcome: str
    ref: str
    inputRef: str = _ABSENT
    at: int | float = _ABSENT
    label: str = _ABSENT
    thread: str = _ABSENT
    parent: int = _ABSENT
    ms: int | float = _ABSENT
    callId: str = _ABSENT
    site: str = _ABSENT


class _Notes(msgspec.Struct, omit_defaults=True, gc=False):
    at: int | float = _ABSENT
    callId: str = _ABSENT
    label: str = _ABSENT
    ms: int | float = _ABSENT
    parent: int = _ABSENT
    site: str = _ABSENT
    thread: str = _ABSENT


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Wire).decode
_notes: Callable[..., _Notes] = _Notes  # None stands for an absent key


def event_text(events: EventSequence, index: int) -> EventText:
    """Return what a seal covers of the event at an index."""
    raw_at: Callable[[int], bytes] | None = getattr(events, "raw_at", None)
    if raw_at is None:
        return _of_event(events[index], None)
    raw = raw_at(index)
    try:
        wire = _decode(raw)
        compact = _encode(wire)
        if compact != raw and compact != msgspec.json.format(raw, indent=-1):  # another spelling, or a key twice
            return _of_event(events[index], raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _of_event(events[index], raw)
    call = (wire.seq, wire.channel, wire.key, wire.ordinal, wire.outcome)
    notes = _notes(wire.at, wire.callId, wire.label, wire.ms, wire.parent, wire.site, wire.thread)
    return EventText(*call, _encode(call), _encode(notes), wire.ref, wire.inputRef)


def identity_text(seq: int, channel: str, key: str, ordinal: int, outcome: str) -> bytes:
    """Return the text of an event's identity."""
    return stored_form([seq, channel, key, ordinal, outcome])


def _of_event(event: RecordedEvent, raw: bytes | None) -> EventText:
    problem = event.damage
    if raw is not None and problem is None:
        try:
            parsed = parse_tolerant(raw)
            problem = None if parsed.exact else "; ".join(parsed.problems[:3])
        except StashError as error:
            problem = error.message
    notes = {key: parse_json(text) for key, text in event.extra.items()}
    for key, name in _NOTES.items():
        value = getattr(event, name)
        if value is not None and key not in notes and not _is_unwritable(value):
            notes[key] = value
    call = (event.seq, event.channel, event.key, event.ordinal, event.outcome)
    text = stored_form({key: notes[key] for key in sorted(notes)})
    return EventText(*call, identity_text(*call), text, event.ref, event.input_ref, problem)


def _is_unwritable(value: object) -> bool:
    """Tell whether a time is NaN or infinite, which no file holds."""
    return type(value) is float and value - value != 0
