"""Where two JSON trees differ, said in a line or two each: what a divergence shows.

Never more than a stated number of changes, each value cut to one sanitised line. ``diff.structure`` finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from stashdbg_core.canonical import Json
from stashdbg_core.diff.describe import two_lines
from stashdbg_core.diff.preview import preview
from stashdbg_core.diff.structure import NOTHING, Difference, differences, pointer_of

__all__ = ["LINE", "MOST_CHANGES", "Change", "field_changes", "preview"]

LINE = 120
"""Characters a shown value has at most."""
MOST_CHANGES = 10
_POINTER = 1000
"""A longer pointer is cut; no payload makes a message long."""


@dataclass(frozen=True, slots=True)
class Change:
    """One field that is not the same: an RFC 6901 pointer and both values as text, None where there is none."""

    pointer: str
    recorded: str | None
    live: str | None

    def to_json(self) -> dict[str, Json]:
        """Return the change as JSON; a side without the field has no key."""
        sides = {"recorded": self.recorded, "live": self.live}
        return {"pointer": self.pointer, **{name: text for name, text in sides.items() if text is not None}}


def field_changes(recorded: Json, live: Json, *, limit: int = MOST_CHANGES) -> tuple[Change, ...]:
    """Return the first ``limit`` differences, in the order of the recorded tree; empty exactly when both are equal."""
    return tuple(_change(found) for found in islice(differences(recorded, live), limit))


def _change(found: Difference) -> Change:
    pointer = pointer_of(found.path_after if found.before is NOTHING else found.path, _POINTER)
    return Change(pointer, *two_lines(found.before, found.after, LINE))
