"""Two recordings side by side without a screen: which rows are shown, where the cursor is, where the next change is.

The two sides can be swapped without comparing again: everything here is asked by side, 0 for left and 1 for right. A
move that cannot be made stays put and says why.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from stashdbg_core.calls import MEASURED_CHANNELS
from stashdbg_core.diff.explain import Cause, Explanation, explain
from stashdbg_core.diff.result import DiffResult, Row
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.diff_words import cause_words, measured_words

ViewKind: TypeAlias = Literal["same", "timing", "changed", "moved", "added", "removed", "measured"]
"""What a row is: ``added`` is only on the right, ``removed`` only on the left; ``timing`` differs in time alone."""

Shown: TypeAlias = Literal["all", "differences", "changed", "added", "removed", "moved", "timing"]
"""Which rows are shown; ``differences`` leaves out what differs in time alone."""

KINDS: tuple[ViewKind, ...] = get_args(ViewKind)
_CODES = {kind: code for code, kind in enumerate(KINDS)}
_DIFFERENCES = frozenset(KINDS) - {"same", "timing"}
_MIRRORED: dict[ViewKind, ViewKind] = {"added": "removed", "removed": "added"}


@dataclass(frozen=True, slots=True)
class CauseLine:
    """One line of why a row differs."""

    text: str
    """Holds recorded text, unsanitised."""
    target: int | None = None
    """The row it speaks of."""


class Comparison:
    """A difference being looked at.

    Args:
        result: What differs.
        names: What to call the two recordings, the first one first.
    """

    def __init__(self, result: DiffResult, names: tuple[str, str] = ("A", "B")) -> None:
        self.result = result
        self.names = names
        self.swapped = False
        self.shown: Shown = "all"
        self.folded = not result.only_measured
        """Whether measured values are hidden, and no differences to go to; not where nothing else differs."""
        self.side = 0
        """The side that a person looks at."""
        self.explanation: Explanation | None = None
        self._causes: dict[Row, Cause] = {}
        rows = result.rows
        timing = set(result.timing_only)
        self._codes = bytes(
            _CODES["timing"] if row.kind == "same" and row in timing else _CODES[row.kind] for row in rows
        )
        self._changes = self._places(_DIFFERENCES)
        self._first_of: dict[Row, int] = {rows[place]: place for place in self._changes}
        first = result.first_divergence
        self._first = None if first is None else self._first_of[first]
        self.cursor = self._first or 0
        """Index of the row at the cursor, in all rows."""
        self._stops: Sequence[int] = ()
        """The differences that are gone to."""
        self._visible: Sequence[int] = ()
        self._set_folded(self.folded)

    def explain(self) -> None:
        """Find out where each difference comes from; may take a moment."""
        self.explanation = explain(self.result)
        self._causes = {cause.row: cause for cause in self.explanation.causes}

    # What is there

    @property
    def same(self) -> bool:
        """Whether nothing differs but times."""
        return not self._changes

    @property
    def total(self) -> int:
        """Rows in all."""
        return len(self._codes)

    @property
    def change_count(self) -> int:
        """Rows that differ, measured values only while they are shown."""
        return len(self._stops)

    @property
    def measured_words(self) -> str | None:
        """How many measured values differ; None where none does."""
        return measured_words(self.result) if self.result.measured else None

    @property
    def counts(self) -> dict[ViewKind, int]:
        """Rows by kind, as the sides stand."""
        found = Counter(self._codes)
        return {self._seen(kind): found[_CODES[kind]] for kind in KINDS}

    def recording(self, side: int) -> Recording:
        """Return the recording of a side."""
        return self.result.b if self._is_second(side) else self.result.a

    def name(self, side: int) -> str:
        """Return what to call a side."""
        return self.names[self._is_second(side)]

    def path(self, side: int) -> Path | None:
        """Return the file of a side."""
        return self.recording(side).path

    def kind(self, place: int) -> ViewKind:
        """Return what a row is, as the sides stand."""
        return self._seen(KINDS[self._codes[place]])

    def event(self, place: int, side: int) -> RecordedEvent | None:
        """Return a row's event of a side; None for a gap."""
        row = self.result.rows[place]
        return self.result.event_b(row) if self._is_second(side) else self.result.event_a(row)

    def row(self, place: int) -> Row:
        """Return a row."""
        return self.result.rows[place]

    def _is_second(self, side: int) -> bool:
        return bool(side) != self.swapped

    def _seen(self, kind: ViewKind) -> ViewKind:
        return _MIRRORED.get(kind, kind) if self.swapped else kind

    def _places(self, kinds: frozenset[ViewKind] | set[ViewKind]) -> array[int]:
        wanted = {_CODES[kind] for kind in kinds}
        return array("I", (place for place, code in enumerate(self._codes) if code in wanted))

    # What is shown

    @property
    def view(self) -> tuple[Shown, bool, bool]:
        """What decides which rows are shown, and on which side."""
        return self.shown, self.folded, self.swapped

    def __len__(self) -> int:
        return len(self._visible)

    def place_of(self, line: int) -> int:
        """Return the row that a shown line stands for."""
        return self._visible[line]

    def line_of(self, place: int) -> int:
        """Return the line of a row, of a hidden one the line before it."""
        return max(bisect_right(self._visible, place) - 1, 0)

    def show(self, shown: Shown) -> str | None:
        """Choose which rows are shown; where there is none of the kind all stays as it is, and the answer says so."""
        visible = self._visible_rows(shown)
        if not len(visible):
            return f"no event {_NONE_OF[shown]}"
        self.shown, self._visible = shown, visible
        if visible[self.line_of(self.cursor)] != self.cursor:
            self.cursor = visible[min(bisect_left(visible, self.cursor), len(visible) - 1)]
        return None

    def _visible_rows(self, shown: Shown) -> Sequence[int]:
        if shown == "all":
            hides = self.folded and self.result.measured
            return self._places(set(KINDS) - {"measured"}) if hides else range(self.total)
        if shown == "differences":
            return self._stops
        return self._places({self._seen(shown)})

    def toggle_measured(self) -> str | None:
        """Fold what is measured, or show it among the rest; return why not, if not, or what there is to say."""
        if not (self.result.measured or self.result.changed):
            return "no measured value differs"
        if self.result.only_measured:
            return "nothing else differs"
        self._set_folded(not self.folded)
        if self.result.measured:
            return None
        return f"dates and ids of calls that differ are {'folded' if self.folded else 'shown'}"

    def _set_folded(self, folded: bool) -> None:
        self.folded = folded
        self._stops = self._places(_DIFFERENCES - {"measured"}) if folded else self._changes
        self.show(self.shown)

    def swap(self) -> None:
        """Change left and right; the cursor stays on its row."""
        self.swapped = not self.swapped
        if self.shown in ("added", "removed"):
            self.shown = "removed" if self.shown == "added" else "added"

    # Moves

    def step(self, by: int) -> str | None:
        """Move by shown rows; return why not, if not."""
        if not len(self):
            return "nothing to go to"
        line = self.line_of(self.cursor)
        target = min(max(line + by, 0), len(self) - 1)
        if target == line:
            return f"this is the {'last' if by > 0 else 'first'} row{'' if self.shown == 'all' else ' shown'}"
        self.cursor = self._visible[target]
        return None

    def go(self, place: int) -> None:
        """Put the cursor on a row; one that is hidden brings all rows back."""
        self.cursor = place = min(max(place, 0), max(self.total - 1, 0))
        if len(self) and self._visible[self.line_of(place)] != place:
            self._set_folded(self.folded and self.kind(place) != "measured")
            self.show("all")
            self.cursor = place

    def edge(self, *, last: bool) -> str | None:
        """Go to the first or last shown row; return why not, if not."""
        return self.step(len(self) if last else -len(self))

    def next_change(self, by: int) -> str | None:
        """Go to the next difference, back if negative; return why not, if not."""
        changes = self._stops
        place = bisect_right(changes, self.cursor) if by > 0 else bisect_left(changes, self.cursor) - 1
        if not 0 <= place < len(changes):
            if not len(changes):
                return "nothing differs"
            return f"no {'later' if by > 0 else 'earlier'} difference; {len(changes):,} in all"
        self.go(changes[place])
        return None

    def first_divergence(self) -> str | None:
        """Go to the earliest difference; return why not, if not."""
        if self._first is None:
            return "nothing differs"
        self.go(self._first)
        return None

    def change_number(self) -> int | None:
        """Return which difference the cursor is on, counted from 1; None on none."""
        place = bisect_left(self._stops, self.cursor)
        return place + 1 if place < len(self._stops) and self._stops[place] == self.cursor else None

    def densities(self, columns: int) -> list[ViewKind]:
        """Return for each of ``columns`` equal stretches of the shown rows what weighs most in it."""
        count, found = len(self), []
        for column in range(columns):
            low, high = column * count // columns, max((column + 1) * count // columns, column * count // columns + 1)
            if isinstance(self._visible, range):
                codes = self._codes[low:high]
            else:
                codes = bytes(self._codes[place] for place in self._visible[low : min(high, low + _LOOKED_AT)])
            present = set(codes)
            kind: ViewKind = next((kind for kind in _BY_WEIGHT if _CODES[kind] in present), "same")
            found.append(self._seen(kind))
        return found

    # Why

    def cause(self, place: int) -> Cause | None:
        """Return why a row differs; None before that is found out, and where nothing differs."""
        row = self.result.rows[place]
        if row.kind != "measured":
            return self._causes.get(row)
        event = self.result.event_a(row)
        return Cause(row, "measured" if event is not None and event.channel in MEASURED_CHANNELS else "envelope")

    def cause_lines(self, place: int) -> list[CauseLine]:
        """Return in words why a row differs, as far as the texts show it."""
        cause = self.cause(place)
        if cause is None:
            return []
        if not cause.sources:
            return [CauseLine(cause_words(cause))]
        lines = []
        for source in cause.sources:
            said = f"flows from {self.place_words(source.row)}: {len(source.text):,} characters verbatim, "
            lines.append(CauseLine(said + shorten(repr(source.text), 80), self._first_of.get(source.row)))
        return [*lines, CauseLine("evidence, not proof: a call may also depend on what was not recorded")]

    def source_of(self, place: int) -> int | None:
        """Return the row of the earlier difference that the text of this one flows from, if one does."""
        cause = self.cause(place)
        return self._first_of.get(cause.sources[0].row) if cause is not None and cause.sources else None

    def place_words(self, row: Row) -> str:
        """Return which event of each side a row is, and its call."""
        sides = (self.result.event_a(row), self.result.event_b(row))
        left, right = reversed(sides) if self.swapped else sides
        event = left or right
        assert event is not None
        if left is not None and right is not None:
            where = f"event {left.seq}" if left.seq == right.seq else f"event {left.seq} → {right.seq}"
        else:
            where = f"event {event.seq}"
        return f"{where} {shorten(event.channel, 16)} {shorten(event.key, 36)}"


_NONE_OF: dict[Shown, str] = {
    "all": "at all",
    "differences": "differs",
    "changed": "changed",
    "added": "is only on the right",
    "removed": "is only on the left",
    "moved": "moved",
    "timing": "differs in time alone",
}
_BY_WEIGHT: tuple[ViewKind, ...] = ("changed", "removed", "added", "moved", "measured", "timing")
_LOOKED_AT = 2000
