"""What changed since the previous call of the same place: fields of the input and of the value, as data."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from stashdbg_core.canonical import Json
from stashdbg_core.diff.structure import NOTHING, Nothing, differences
from stashdbg_core.errors import StashError
from stashdbg_core.model import Recording
from stashdbg_core.session.last_change import PayloadPart
from stashdbg_core.session.moves import find_steps, same_call, same_site
from stashdbg_core.session.query_nodes import And
from stashdbg_core.session.tasks import Steps

MOST_CHANGES = 500
_LARGEST = 8_000_000
"""Bytes of a value beyond which it is not compared."""

ChangeKind: TypeAlias = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that is not what it was at the previous call."""

    kind: ChangeKind
    pointer: str
    """In this call's tree, for a removed field in the previous one's."""
    before: Json | Nothing
    after: Json | Nothing


@dataclass(frozen=True, slots=True)
class PartChange:
    """What changed in the input or the value."""

    changes: tuple[FieldChange, ...]
    more: bool = False
    """Whether there are more changes than are listed."""
    problem: str | None = None
    """Why the two cannot be compared, if so."""


@dataclass(frozen=True, slots=True)
class CallChange:
    """A call beside the previous one of its place."""

    position: int
    previous: int | None
    """Index of the previous call; None if this is the first."""
    outcome: tuple[str, str] | None
    """Previous and present outcome where they differ."""
    input: PartChange
    value: PartChange

    @property
    def written(self) -> tuple[str, ...]:
        """Pointers of the fields of the value that are new or other than before."""
        return tuple(change.pointer for change in self.value.changes if change.kind != "removed")


def change_steps(recording: Recording, position: int) -> Steps[CallChange]:
    """Compare in slices a call with the previous one of its channel, key and site.

    Raises:
        StashError: The file cannot be read any more.
    """
    event = recording.events[position]
    node = And([same_call(recording, event), same_site(recording, event)])
    previous = yield from find_steps(node, len(recording.events), position, forward=False)
    if previous is None:
        return CallChange(position, None, None, PartChange(()), PartChange(()))
    before = recording.events[previous]
    outcome = None if before.outcome == event.outcome else (before.outcome, event.outcome)
    yield
    given = _compare(recording, before.input_ref, event.input_ref, "input")
    yield
    return CallChange(position, previous, outcome, given, _compare(recording, before.ref, event.ref, "value"))


def _compare(recording: Recording, before: str | None, after: str | None, part: PayloadPart) -> PartChange:
    if before == after:
        return PartChange(())
    trees = []
    for ref, which in ((before, "previous"), (after, "present")):
        if ref is None:
            trees.append(NOTHING)
            continue
        if len(recording.blobs.payload(ref).raw) > _LARGEST:
            return PartChange((), problem=f"the {which} {part} is too large to compare here")
        try:
            trees.append(recording.blobs.tree(ref))
        except StashError as error:
            return PartChange((), problem=f"the {which} {part} cannot be read: {error.message}")
    found = list(islice(differences(*trees), MOST_CHANGES + 1))
    changes = tuple(
        FieldChange(_kind(one.before, one.after), one.pointer, one.before, one.after) for one in found[:MOST_CHANGES]
    )
    return PartChange(changes, len(found) > MOST_CHANGES)


def _kind(before: Json | Nothing, after: Json | Nothing) -> ChangeKind:
    return "added" if before is NOTHING else "removed" if after is NOTHING else "changed"
