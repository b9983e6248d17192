"""What is on show: a filter, folded lanes, and steps along the rows that they leave."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.marked import Marked
from stashdbg_core.session.notebook import Notebook
from stashdbg_core.session.rows import Rows, fold_steps
from stashdbg_core.session.session import Move
from stashdbg_core.session.tasks import Steps, Task

# A screen's first frame needs no filter.
if TYPE_CHECKING:
    from stashdbg_core.session.view import View


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events a person wants to see."""

    query: str = ""
    """Those that fit; all where it is empty."""
    inverted: bool = False
    """Whether those that do not fit are wanted."""
    hides_repeats: bool = False
    """Whether a call repeated with the same outcome is wanted once."""

    @property
    def hides(self) -> bool:
        """Whether anything can be hidden."""
        return bool(self.query or self.hides_repeats)

    @property
    def whole_query(self) -> str:
        """One query that says as much, apart from the repeats."""
        return f"not ({self.query})" if self.inverted else self.query

    def words(self) -> str:
        """Return it in words safe to print, empty where all is on show."""
        query = f"{'not ' if self.inverted else ''}{shorten(self.query, 40)}" if self.query else ""
        return " · ".join(filter(None, (query, "repeats hidden" if self.hides_repeats else "")))


class Filtered(Marked):
    """A session of which a part is on show.

    Args:
        recording: The run.
        notebook: What is kept; in memory only when None.
    """

    def __init__(self, recording: Recording, notebook: Notebook | None = None) -> None:
        super().__init__(recording, notebook)
        self.filter = Filter()
        """What was asked for last."""
        self.folded: frozenset[str | None] = frozenset()
        """Lanes of which a stretch is one row; None is the lane without a name."""
        self.rows = Rows(None, self.count)
        """What is on show; every event until the task that ``filter_by`` or ``fold`` gave has ended."""

    def reload(self, recording: Recording) -> None:
        """Put a fuller or changed recording under the cursor; all of it is on show until ``show_anew`` has ended."""
        super().reload(recording)
        self.rows = Rows(None, self.count)

    @property
    def narrows(self) -> bool:
        """Whether less than every event was asked for."""
        return self.filter.hides or bool(self.folded)

    def filter_by(
        self, query: str | None = None, *, inverted: bool | None = None, hides_repeats: bool | None = None
    ) -> Task[Rows]:
        """Change the filter, the parts that are not None; the cursor jumps to the nearest event on show.

        Raises:
            StashError: The query is none, or a pattern of it takes too long in the task; the old filter stays.
        """
        from stashdbg_core.session.query import parse_query

        old = self.filter
        wanted = old.query if query is None else query.strip()
        parse_query(wanted)
        self.filter = Filter(
            wanted,
            (old.inverted if inverted is None else inverted) and bool(wanted),
            old.hides_repeats if hides_repeats is None else hides_repeats,
        )
        return self.show_anew()

    def fold(self, lanes: Set[str | None]) -> Task[Rows]:
        """Fold these lanes and no others."""
        self.folded = frozenset(lanes)
        return Task(self._rows_of(self.rows.view))

    def show_anew(self) -> Task[Rows]:
        """Put on show what the filter leaves of the recording as it is."""
        return Task(self._filtered(self.filter))

    def _filtered(self, wanted: Filter) -> Steps[Rows]:
        view: View | None = None
        if wanted.hides:
            from stashdbg_core.session.view import view_steps

            view = yield from view_steps(
                self.recording,
                wanted.query,
                inverted=wanted.inverted,
                hides_repeats=wanted.hides_repeats,
                marks=self.marks(),
            )
        return (yield from self._rows_of(view))

    def _rows_of(self, view: View | None) -> Steps[Rows]:
        rows = self.rows = yield from fold_steps(view, self.recording.events, self.folded)
        if len(rows) and not rows.shows(self.position):
            near = rows.step(self.position, 1)
            self.jump(near if near is not None else rows.position(len(rows) - 1))
        return rows

    def is_hidden(self, position: int) -> bool:
        """Tell whether the filter hides an event; one in a folded lane is only not drawn."""
        return self.rows.view is not None and not self.rows.view.shows(position)

    # Moves along the rows

    @property
    def at_end(self) -> bool:
        """Whether the cursor is on the last event on show."""
        return self.rows.step(self.position, 1) is None

    def step(self, by: int = 1) -> Move:
        """Move ``by`` rows, back if negative; stops at the ends and refuses at them."""
        if self.rows.is_whole:
            return super().step(by)
        target = self.rows.step(self.position, by)
        if target is None:
            edge = f"this is the {'last' if by > 0 else 'first'} event on show"
            return self._refuse(edge if len(self.rows) else "the filter hides every event")
        self.position = target
        return Move(target)

    def first(self) -> Move:
        """Jump to the first event on show."""
        return super().first() if self.rows.is_whole or not len(self.rows) else self.jump(self.rows.position(0))

    def last(self) -> Move:
        """Jump to the last event on show."""
        rows = self.rows
        return super().last() if rows.is_whole or not len(rows) else self.jump(rows.position(len(rows) - 1))
