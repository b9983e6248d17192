"""Finding the one event that a person or program means: by ``seq``, or as ``channel:key:ordinal``."""

from __future__ import annotations

from typing import Any

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten

_DIGITS = 18
"""Longest number taken as a place; more cannot be one and may be slow to convert."""


def find_event(recording: Recording, at: int | str) -> int:
    """Return the position of an event.

    Args:
        recording: Where it is looked for.
        at: Its ``seq``, as a number or in digits, or ``channel:key:ordinal`` such as ``tool:price:1``.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no such event, or more than one.
    """
    if isinstance(at, bool) or not isinstance(at, (int, str)):
        raise invalid_input(
            f"`at` is the seq of an event or its name, not a {type(at).__name__}",
            hint="give a whole number such as 7, or 'channel:key:ordinal' such as 'tool:search:0'",
        )
    if isinstance(at, int):
        return _by_seq(recording, at)
    digits = at[at[:1] == "-" :]
    if _is_number(digits):
        return _by_seq(recording, int(at))
    if digits.isascii() and digits.isdigit():
        raise _no_event(recording, at)
    name, colon, ordinal = at.rpartition(":")
    if not colon or ":" not in name or not _is_number(ordinal):
        raise invalid_input(
            f"no event {shorten(at, 80)!r}", hint="name it by its seq, or as channel:key:ordinal such as tool:search:0"
        )
    return _by_name(recording, name, int(ordinal))


def _by_seq(recording: Recording, seq: int) -> int:
    events = recording.events
    position = events.position_of(seq)
    if position is None:
        raise _no_event(recording, seq)
    if position + 1 < len(events) and events[position + 1].seq == seq:
        raise invalid_input(f"several events have seq {seq}", hint="name it as channel:key:ordinal")
    return position


def _no_event(recording: Recording, seq: int | str) -> StashError:
    events = recording.events
    shown = shorten(str(seq), 20)
    if not len(events):
        return invalid_input(f"no event {shown}", hint="the recording has no events")
    first, last = events[0].seq, events[-1].seq
    gaps = "" if last - first + 1 == len(events) else f", {len(events):,} of them"
    return invalid_input(f"no event {shown}", hint=f"the recording has events {first} to {last}{gaps}")


def _by_name(recording: Recording, name: str, ordinal: int) -> int:
    events: Any = recording.events
    places = range(len(events))
    if hasattr(events, "channel_at"):  # columns: no event is read
        found = [at for at in places if events.ordinal_at(at) == ordinal and _is(name, events, at)]
        of_that_name = sum(_is(name, events, at) for at in places) if not found else 0
    else:
        named = [at for at, event in enumerate(events) if f"{event.channel}:{event.key}" == name]
        found = [at for at in named if events[at].ordinal == ordinal]
        of_that_name = len(named)
    shown = f"{shorten(name, 80)}:{ordinal}"
    if len(found) > 1:
        seqs = ", ".join(str(events[at].seq) for at in found[:5])
        raise invalid_input(f"{shown} names {len(found)} events", hint=f"give the seq of one: {seqs}")
    if not found:
        calls = f"{of_that_name:,} call{'' if of_that_name == 1 else 's'}, counted from 0"
        hint = f"{shorten(name, 80)} has {calls}" if of_that_name else "`stashdbg show` lists channels and keys"
        raise invalid_input(f"no event {shown}", hint=hint)
    return found[0]


def _is(name: str, events: Any, at: int) -> bool:
    channel: str = events.channel_at(at)
    return name.startswith(channel) and name == f"{channel}:{events.key_at(at)}"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS
