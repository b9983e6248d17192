"""Which recorded calls a live call without a counterpart might have meant, and why each was rejected.

Looks at a bounded number of candidates, so that a miss in a long recording costs little.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from stashdbg_core.model import EventSequence, RecordedEvent
from stashdbg_core.replay.divergence import Nearest
from stashdbg_core.replay.field_changes import Change
from stashdbg_core.replay.inputs import Inputs, LiveInput
from stashdbg_core.replay.tape_index import COVERED, DIVERGED, SERVED, UNUSED, Group, TapeIndex
from stashdbg_core.sanitize import shorten

MOST_NEAREST = 3
_EXAMINED = 32
"""Candidates whose inputs are read and compared."""


def nearest_key(key: str, keys: Sequence[str]) -> str | None:
    """Return the recorded key most like ``key``, upper and lower case taken as alike, or None if none is."""
    folded = {name[:200].casefold(): name for name in reversed(keys[:2000])}
    found = difflib.get_close_matches(key[:200].casefold(), folded, n=1, cutoff=0.5)
    return folded[found[0]] if found else None


def nearest_calls(
    live: LiveInput | None,
    group: Group,
    index: TapeIndex,
    events: EventSequence,
    inputs: Inputs,
    *,
    compared: bool = True,
    besides: int | None = None,
) -> tuple[Nearest, ...]:
    """Return up to three recorded calls of a group for a live input, the best first.

    Args:
        live: The live input, or None if the call has none.
        group: Where to look.
        index: Tells which calls were served already.
        events: The recording's events.
        inputs: Reads recorded inputs.
        compared: Whether this replay compares inputs at all.
        besides: A position that is not a candidate.
    """
    ranked: list[tuple[int, int, Nearest]] = []
    for position in _candidates(group, index, besides):
        event = events[position]
        changes = None if live is None else inputs.changes(event, live)
        used = _USED.get(index.state[position])
        reason, rank = _verdict(live, event, changes, used) if compared else (used or "not yet served", 60)
        ranked.append(
            (rank, event.seq, Nearest(event.seq, event.key, event.ordinal, reason, (changes or ())[:MOST_NEAREST]))
        )
    ranked.sort(key=lambda entry: entry[:2])
    return tuple(candidate for _, _, candidate in ranked[:MOST_NEAREST])


def _candidates(group: Group, index: TapeIndex, besides: int | None) -> list[int]:
    """Choose whom to look at: the calls around where the program stands, those still free first."""
    around = range(max(group.asked - _EXAMINED, 0), min(group.asked + _EXAMINED, len(group.positions)))
    positions = [group.positions[place] for place in around if group.positions[place] != besides]
    positions.sort(key=lambda position: index.state[position] != UNUSED)
    return positions[:_EXAMINED]


_USED = {
    SERVED: "already served",
    DIVERGED: "already asked for",
    COVERED: "made inside a served call",
}


def _verdict(
    live: LiveInput | None, event: RecordedEvent, changes: tuple[Change, ...] | None, used: str | None
) -> tuple[str, int]:
    """Say why a candidate was rejected, and how far off it is; smaller is nearer."""
    if live is None:
        return ("it has an input, the live call has none", 50) if event.input_ref else (used or "not yet served", 60)
    if changes is None:
        return ("its input cannot be compared" if event.input_ref else "it has no input", 60)
    if not changes:
        return f"same input, {used or 'not yet served'}", 1 if used else 0
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    where = shorten(changes[0].pointer, 80) or "the whole input"
    return f"input differs at {where}{more}" + (f", and {used}" if used else ""), 2 + len(changes) + (20 if used else 0)
