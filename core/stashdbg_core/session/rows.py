"""Rows of the run as it is on show: the events that a filter leaves, with folded lanes reduced to one row a stretch."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Set
from typing import TYPE_CHECKING

from stashdbg_core.model import EventSequence
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.tasks import Steps

# A screen's first frame needs no filter.
if TYPE_CHECKING:
    from stashdbg_core.session.view import View

_MEASURED = 8192


class Rows:
    """A mapping between rows and positions, both ways.

    Args:
        view: What a filter leaves; None for every event.
        count: Events of the run.
    """

    def __init__(self, view: View | None, count: int) -> None:
        self.view = view
        self.total = count
        self.folded: frozenset[str | None] = frozenset()
        """Lanes of which a stretch is one row; None is the lane without a name."""
        self._positions: array[int] | None = view.positions if view is not None else None
        self._stretch: dict[int, int] = {}

    def __len__(self) -> int:
        return self.total if self._positions is None else len(self._positions)

    @property
    def is_whole(self) -> bool:
        """Whether every event has a row."""
        return self._positions is None

    def position(self, row: int) -> int:
        """Return the position of a row's event."""
        return row if self._positions is None else self._positions[row]

    def row(self, position: int) -> int:
        """Return the row of a position, of a hidden one the row that stands for it or comes before."""
        if self._positions is None:
            return position
        return max(bisect_right(self._positions, position) - 1, 0)

    def shows(self, position: int) -> bool:
        """Tell whether a position has a row."""
        if self._positions is None:
            return 0 <= position < self.total
        row = bisect_left(self._positions, position)
        return row < len(self._positions) and self._positions[row] == position

    def step(self, position: int, by: int) -> int | None:
        """Return the position ``by`` rows on, at most at an end; None where there is none in that direction."""
        if not len(self):
            return None
        before = position if self._positions is None else bisect_left(self._positions, position)
        row = before + by - (by > 0 and not self.shows(position))
        target = self.position(min(max(row, 0), len(self) - 1))
        return target if (target > position) == (by > 0) and target != position else None

    def stretch(self, position: int) -> int:
        """Return how many events of a folded lane a row stands for; 1 elsewhere."""
        return self._stretch.get(position, 1)


def fold_steps(view: View | None, events: EventSequence, folded: Set[str | None]) -> Steps[Rows]:
    """Build rows in slices."""
    rows = Rows(view, len(events))
    if not folded:
        return rows
    rows.folded = frozenset(folded)
    thread_at = columns_of(events).thread_at
    kept: array[int] = array("I")
    stretch: dict[int, int] = {}
    before: str | object | None = object()
    for row in range(len(rows)):
        position = rows.position(row)
        lane = thread_at(position)
        if lane in folded and lane == before:
            stretch[kept[-1]] = stretch.get(kept[-1], 1) + 1
        else:
            kept.append(position)
        before = lane
        if row % _MEASURED == _MEASURED - 1:
            yield
    rows._positions, rows._stretch = kept, stretch
    return rows


def lane_steps(events: EventSequence) -> Steps[dict[str | None, int]]:
    """Count the events of each lane in slices, in the order in which lanes begin."""
    thread_at = columns_of(events).thread_at
    lanes: dict[str | None, int] = {}
    for position in range(len(events)):
        lane = thread_at(position)
        lanes[lane] = lanes.get(lane, 0) + 1
        if position % _MEASURED == _MEASURED - 1:
            yield
    return lanes
