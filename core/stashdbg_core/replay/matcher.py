"""Which recorded call a live call is: by order or by input, and never another call's.

By order, the n-th live call of a channel and key is the n-th recorded one, and its input is compared if the check is
on. By input, it is the first recorded call with an equal input that was not served yet. Every live call uses up one
ordinal of its own channel and key, whatever comes of it, so that one wrong call shifts no other. Not thread-safe by
itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.errors import ErrorCode, StashError, invalid_recording
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.replay.divergence import Divergence, Nearest
from stashdbg_core.replay.field_changes import Change, preview
from stashdbg_core.replay.inputs import Inputs, LiveInput, unnumbered
from stashdbg_core.replay.nearest import nearest_calls, nearest_key
from stashdbg_core.replay.tape_index import DIVERGED, UNUSED, Group, TapeIndex
from stashdbg_core.sanitize import listed, shorten

MatchMode: TypeAlias = Literal["order", "input"]


@dataclass(slots=True)
class Match:
    """What the recording has for a live call."""

    event: RecordedEvent | None
    """The recorded call; None if there is none."""
    unchecked: bool = False
    """Whether an input went uncompared."""
    divergence: Divergence | None = None
    position: int = -1


class Matcher:
    """Matches the live calls of one replay, in the order they start."""

    def __init__(self, recording: Recording, inputs: Inputs, *, match: MatchMode, strict: bool) -> None:
        self.index = TapeIndex(recording, unnumbered)
        self._events = recording.events
        self._inputs = inputs
        self._by_input = match == "input"
        self._strict = strict
        self._lacks = _what_it_lacks(recording)
        self._asked_unknown: dict[tuple[str, str], int] = {}

    def match(self, channel: str, key: str, live: LiveInput | None, *, has_input: bool) -> Match:
        """Match one live call and mark the recorded one.

        Args:
            channel: Of the live call.
            key: Of the live call.
            live: Its input; None if it has none or inputs are not compared.
            has_input: Whether it has one.

        Raises:
            StashError: ``ERR_INVALID_RECORDING`` if two recorded calls claim the same place.
        """
        group = self.index.groups.get((channel, key))
        if group is None:
            return Match(None, divergence=self._unknown(channel, key))
        ordinal = self.index.next_ordinal(group)
        if self._by_input:
            return self._match_input(group, ordinal, live)
        return self._match_order(group, ordinal, live, has_input=has_input)

    def _match_order(self, group: Group, ordinal: int, live: LiveInput | None, *, has_input: bool) -> Match:
        position = group.at(ordinal)
        if position is None:
            return Match(None, divergence=self._beyond(group, ordinal, live))
        event = self._events[position]
        if ordinal in group.repeated:
            raise _ambiguous(event)
        if not self._strict:
            return self._served(position, event, unchecked=has_input or event.input_ref is not None)
        if live is not None and live.ref == event.input_ref:
            return self._served(position, event)
        if live is None and event.input_ref is None:
            return self._served(position, event)
        if live is not None and event.input_ref is not None and self._inputs.is_same_text(event.input_ref, live):
            return self._served(position, event)
        digest = self._inputs.recorded_digest(event)
        if digest is None:
            return self._served(position, event, unchecked=True)
        if live is not None and live.digest == digest:
            return self._served(position, event)
        self.index.state[position] = DIVERGED
        return Match(event, divergence=self._mismatch(group, event, position, live), position=position)

    def _match_input(self, group: Group, ordinal: int, live: LiveInput | None) -> Match:
        if group.by_input is None:
            group.by_input = self._queues(group)
        unchecked = False
        position = self._first_free(group.by_input, None if live is None else live.digest)
        if position is None and live is not None:
            position = self._first_free(group.by_input, None)
            unchecked = True
        if position is None:
            return Match(None, divergence=self._no_equal(group, ordinal, live))
        event = self._events[position]
        return self._served(position, event, unchecked=unchecked or (live is None and event.input_ref is not None))

    def _served(self, position: int, event: RecordedEvent, *, unchecked: bool = False) -> Match:
        self.index.serve(position, event.seq)
        return Match(event, unchecked=unchecked, position=position)

    def _queues(self, group: Group) -> dict[str | None, list[int]]:
        queues: dict[str | None, list[int]] = {}
        for position in reversed(group.positions):
            queues.setdefault(self._inputs.recorded_digest(self._events[position]), []).append(position)
        return queues

    def _first_free(self, queues: dict[str | None, list[int]], digest: str | None) -> int | None:
        queue = queues.get(digest, [])
        while queue:
            position = queue.pop()
            if self.index.state[position] == UNUSED:
                return position
        return None

    def _unknown(self, channel: str, key: str) -> Divergence:
        ordinal = self._asked_unknown.get((channel, key), 0)
        self._asked_unknown[channel, key] = ordinal + 1
        keys = self.index.keys(channel)
        if not keys:
            known = self.index.channels()
            reason = f"unknown channel; the recording has {listed(known)}" if known else "the recording has no calls"
            return Divergence("extra-call", channel, key, ordinal, reason)
        near = nearest_key(key, keys)
        rest = f"the nearest is {shorten(near, 80)}" if near else f"the recording has {listed(keys)}"
        return Divergence("extra-call", channel, key, ordinal, f"unknown key in channel {shorten(channel, 80)}; {rest}")

    def _beyond(self, group: Group, ordinal: int, live: LiveInput | None) -> Divergence:
        recorded = len(group.positions)
        if group.ordinals and ordinal < max(group.ordinals):
            reason = f"call {ordinal + 1} is not in the recording, which kept {recorded} of this channel and key"
            return Divergence("extra-call", group.channel, group.key, ordinal, reason)
        return self._exhausted(
            group, ordinal, f"{recorded} recorded, call {ordinal + 1} asked", self._nearest(group, live)
        )

    def _no_equal(self, group: Group, ordinal: int, live: LiveInput | None) -> Divergence:
        """Say why no recorded call with this input is left."""
        queues = group.by_input or {}
        digest = None if live is None else live.digest
        nearest = self._nearest(group, live)
        recorded = len(group.positions)
        free = sum(self.index.state[position] == UNUSED for position in group.positions)
        if not free:
            return self._exhausted(group, ordinal, f"{recorded} recorded, call {ordinal + 1} asked", nearest)
        if digest in queues:
            return self._exhausted(group, ordinal, "every recorded call with this input was served", nearest)
        reason = f"no recorded call has this input; {free} of {recorded} not yet served"
        changes = nearest[0].changes if nearest else ()
        if live is None:
            reason = f"the live call has no input, the recorded ones have; {free} of {recorded} not yet served"
        return Divergence("input-mismatch", group.channel, group.key, ordinal, reason, changes=changes, nearest=nearest)

    def _exhausted(self, group: Group, ordinal: int, why: str, nearest: tuple[Nearest, ...]) -> Divergence:
        reason = f"recording exhausted: {why}{self._lacks}"
        return Divergence(
            "extra-call",
            group.channel,
            group.key,
            ordinal,
            reason,
            nearest=nearest,
            code=ErrorCode.RECORDING_EXHAUSTED,
        )

    def _mismatch(self, group: Group, event: RecordedEvent, position: int, live: LiveInput | None) -> Divergence:
        if live is None:
            recorded = preview(self._inputs.shown(event))
            changes: tuple[Change, ...] = (Change("", recorded, None),)
        else:
            changes = self._inputs.changes(event, live) or ()
        nearest = self._nearest(group, live, besides=position)
        reason = f"the input is not that of seq {event.seq}"
        return Divergence(
            "input-mismatch", group.channel, group.key, event.ordinal, reason, event.seq, changes, nearest
        )

    def _nearest(self, group: Group, live: LiveInput | None, besides: int | None = None) -> tuple[Nearest, ...]:
        compared = self._strict or self._by_input
        return nearest_calls(live, group, self.index, self._events, self._inputs, compared=compared, besides=besides)


def _what_it_lacks(recording: Recording) -> str:
    """Return what a recording says of its own gaps, to be put after a message."""
    dropped = recording.meta.get("droppedEvents")
    if isinstance(dropped, int) and dropped > 0:
        return f"; {dropped} calls were dropped when it was recorded"
    return "" if recording.complete else "; the recording is marked incomplete"


def _ambiguous(event: RecordedEvent) -> StashError:
    return invalid_recording(
        f"two recorded calls claim to be {shorten(event.channel, 80)} {shorten(event.key, 80)} #{event.ordinal}",
        hint="replay with match='input', which does not go by number",
        seq=event.seq,
        channel=event.channel,
        key=event.key,
        ordinal=event.ordinal,
    )
