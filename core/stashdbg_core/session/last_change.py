"""Which event last changed a field: back through the calls of the same channel and key.

A field is a place in the value or the input. A call that threw where the others returned, or the other way round, says
nothing about a field of the value and is passed over. What a call's value is before the first one is unknown, so the
first call that had the field counts as the one that set it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json, canonical_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.gist import brief
from stashdbg_core.session.pointers import ABSENT, Absent, parse_pointer, resolve, scalar_text
from stashdbg_core.session.tasks import Steps

PayloadPart: TypeAlias = Literal["value", "input"]

_MEASURED = 2048


@dataclass(frozen=True, slots=True)
class LastChange:
    """The event that gave a field what it holds at the cursor."""

    position: int
    seq: int
    part: PayloadPart
    pointer: str
    before: Json | Absent
    """What the call before had there; ``ABSENT`` if nothing, or if there is none."""
    after: Json | Absent
    previous: int | None
    """Index of that call; None if the field was there from the first call on."""
    unchanged: int
    """How many later calls, up to the cursor, had the same."""

    def words(self, *, moved: bool) -> str:
        """Return in words safe to print how the field came to hold it, seen from that event or from a later one."""
        where = shorten(self.pointer, 40) or "the whole of it"
        before, after = (
            "nothing" if isinstance(side, Absent) else shorten(scalar_text(side) or brief(side, 30) or '""', 30)
            for side in (self.before, self.after)
        )
        if self.previous is None:
            said = f"{where} is {after} from the first call on"
        elif self.before is ABSENT:
            said = f"{where} was set, to {after}"
        else:
            said = f"{where} changed from {before} to {after}"
        return f"{said}, in event {self.seq}" if moved else f"{said}, by this very call"


def last_change_steps(recording: Recording, position: int, part: PayloadPart, pointer: str) -> Steps[LastChange | None]:
    """Find in slices which event last changed a field seen from an index; None where that event has no such part.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: the pointer is none; or the file cannot be read any more.
    """
    parse_pointer(pointer)
    events = recording.events
    start = events[position]
    found = _field(recording, start, part, pointer)
    if found is None:
        return None
    after, mark = found
    changed, unchanged = position, 0
    seen = {_ref(start, part): mark}
    for index in _earlier(recording, position):
        if index is None:
            yield
            continue
        event = events[index]
        if part == "value" and event.outcome != start.outcome:
            continue
        ref = _ref(event, part)
        if ref not in seen or ref is None:
            earlier = _field(recording, event, part, pointer)
            yield
            if earlier is None:
                continue
            seen[ref] = earlier[1]
        if seen[ref] != mark:
            before = _field(recording, event, part, pointer)
            return LastChange(
                changed, events[changed].seq, part, pointer, before[0] if before else ABSENT, after, index, unchanged
            )
        changed, unchanged = index, unchanged + 1
    return LastChange(changed, events[changed].seq, part, pointer, ABSENT, after, None, unchanged)


def _earlier(recording: Recording, position: int) -> Iterator[int | None]:
    """Yield the indices of earlier calls of the same channel and key, the nearest first; None now and then."""
    columns = columns_of(recording.events)
    channel, key = columns.channel_at(position), columns.key_at(position)
    for index in range(position - 1, -1, -1):
        if index % _MEASURED == 0:
            yield None
        if columns.key_at(index) == key and columns.channel_at(index) == channel:
            yield index


def _ref(event: RecordedEvent, part: PayloadPart) -> str | None:
    return event.ref if part == "value" else event.input_ref


def _field(
    recording: Recording, event: RecordedEvent, part: PayloadPart, pointer: str
) -> tuple[Json | Absent, bytes] | None:
    """Return what a field holds, and bytes that equal values share; None where the value cannot be read."""
    ref = _ref(event, part)
    if ref is None:
        return None
    try:
        tree = resolve(recording.blobs.tree(ref), pointer)
    except StashError as error:
        if not recording.blobs.payload(ref).raw or error.code == "ERR_INVALID_RECORDING":
            return None
        raise
    return tree, b"" if isinstance(tree, Absent) else canonical_form(tree)
