"""What two recordings differ in, as data: rows of partners, and the changes of a row, read when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal, TypeAlias

from stashdbg_core.calls import MEASURED_CHANNELS
from stashdbg_core.canonical import REF_PREFIX, Json
from stashdbg_core.diff.align import AlignMode
from stashdbg_core.diff.contents import comparable, whole_value
from stashdbg_core.diff.envelope import envelope_paths, spelled_message
from stashdbg_core.diff.pairing import EQUAL, MEASURED, NONE, Alignment
from stashdbg_core.diff.structure import NOTHING, Difference, Nothing, differences, path_parts, pointer_of
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.model import RecordedEvent, Recording

RowKind: TypeAlias = Literal["same", "changed", "moved", "added", "removed", "measured"]
"""``measured``: another value of a clock or of chance, read at the same place; or an answer that says the same and
differs only in its envelope, such as its date and ids."""
ChangePart: TypeAlias = Literal["outcome", "input", "value"]

Places: TypeAlias = frozenset[tuple[str | int, ...]]
"""Where fields stand, each as keys and indexes from the root."""

_PAIRED: dict[int, RowKind] = {EQUAL: "same", MEASURED: "measured"}
MOST_CHANGES = 1000
"""Changes of one event that are listed unless more are asked for."""


@dataclass(frozen=True, slots=True)
class Row:
    """An event and its partner, by position in their recordings; one of them is None if it has none."""

    kind: RowKind
    a: int | None
    b: int | None
    moved: bool = False
    """Whether the partner stands elsewhere among its neighbours; a changed event may have moved too."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of an event that is not the same."""

    part: ChangePart
    pointer: str
    """RFC 6901, in the first recording; in the second for what only that has."""
    before: Json | Nothing
    after: Json | Nothing
    path: tuple[str | int, ...] = ()
    """Keys and indexes of ``pointer``."""
    pointer_after: str | None = None
    """Where it stands in the second recording, if that is elsewhere."""
    note: str | None = None
    """What is wrong with a value, in words: it is missing, or damaged and shown as it stands."""
    envelope: bool = False
    """Whether the field says only when the call was made, or which one it was."""

    def to_json(self) -> dict[str, Json]:
        """Return the change as JSON; a side without a value has no key."""
        tree: dict[str, Json] = {"part": self.part, "pointer": self.pointer, "path": list(self.path)}
        if self.pointer_after is not None:
            tree["pointerB"] = self.pointer_after
        sides = {"before": self.before, "after": self.after}
        tree.update({name: side for name, side in sides.items() if side is not NOTHING})
        if self.note is not None:
            tree["note"] = self.note
        if self.envelope:
            tree["envelope"] = True
        return tree


class DiffResult:
    """Two recordings side by side.

    Args:
        a: The first recording; what is *removed* is only there.
        b: The second; what is *added* is only there.
        alignment: Which event is which.
        mode: The rule the alignment was made by.
    """

    def __init__(self, a: Recording, b: Recording, alignment: Alignment, mode: AlignMode) -> None:
        self.a = a
        self.b = b
        self.mode: AlignMode = mode
        self._alignment = alignment

    @cached_property
    def rows(self) -> Sequence[Row]:
        """Every event of both, merged: in the order of the first, what only the second has after its predecessor.

        A row that ``moved`` stands where its event stands in the first recording.
        """
        return tuple(self._rows())

    @cached_property
    def added(self) -> tuple[Row, ...]:
        """Events that only the second recording has."""
        return self._of_kind("added")

    @cached_property
    def removed(self) -> tuple[Row, ...]:
        """Events that only the first recording has."""
        return self._of_kind("removed")

    @cached_property
    def changed(self) -> tuple[Row, ...]:
        """Partners that hold something else."""
        return self._of_kind("changed")

    @cached_property
    def moved(self) -> tuple[Row, ...]:
        """Partners that hold the same and stand elsewhere among their neighbours."""
        return self._of_kind("moved")

    @cached_property
    def measured(self) -> tuple[Row, ...]:
        """Partners that differ only in what is measured: a clock, chance, the date and ids of an answer."""
        return self._of_kind("measured")

    @property
    def only_measured(self) -> bool:
        """Whether something differs, and nothing but measured values."""
        return not self.same and next(self.beside_measured, None) is None

    @property
    def same_count(self) -> int:
        """How many events are the same, and stand at the same place among the others."""
        return sum(row.kind == "same" for row in self.rows)

    @cached_property
    def timing_only(self) -> tuple[Row, ...]:
        """Partners that hold the same and differ in start or duration; that never counts as a difference."""
        times_a, times_b = _times(self.a), _times(self.b)
        return tuple(
            row
            for row in self.rows
            if row.kind in ("same", "moved")
            and row.a is not None
            and row.b is not None
            and times_a[row.a] != times_b[row.b]
        )

    @property
    def differing(self) -> Iterator[Row]:
        """The rows that are not the same, in order."""
        return (row for row in self.rows if row.kind != "same")

    @property
    def beside_measured(self) -> Iterator[Row]:
        """The rows that are not the same, but for measured values."""
        return (row for row in self.rows if row.kind not in ("same", "measured"))

    @property
    def first_divergence(self) -> Row | None:
        """The earliest row whose content is not the same.

        Where there is none: the earliest that moved, else the earliest measured value.
        """
        content = (row for row in self.beside_measured if row.kind != "moved")
        return next(content, None) or next(self.beside_measured, None) or next(self.differing, None)

    @property
    def same(self) -> bool:
        """Whether both recordings hold the same calls with the same content in the same order."""
        return self.first_divergence is None

    def event_a(self, row: Row) -> RecordedEvent | None:
        """Return a row's event of the first recording."""
        return None if row.a is None else self.a.events[row.a]

    def event_b(self, row: Row) -> RecordedEvent | None:
        """Return a row's event of the second recording."""
        return None if row.b is None else self.b.events[row.b]

    def changes(self, row: Row, limit: int | None = MOST_CHANGES) -> list[FieldChange]:
        """Return what differs between a row's two events, the first ``limit`` changes; none if it has only one."""
        return list(islice(self.iter_changes(row), limit))

    def iter_changes(self, row: Row) -> Iterator[FieldChange]:
        """Yield what differs between a row's two events: the outcome, the input, the value, and envelopes last."""
        one, other = self.event_a(row), self.event_b(row)
        if one is None or other is None:
            return
        if one.outcome != other.outcome:
            yield FieldChange("outcome", "", one.outcome, other.outcome)
        held: list[FieldChange] = []
        parts: tuple[tuple[ChangePart, str | None, str | None], ...] = (
            ("input", one.input_ref, other.input_ref), ("value", one.ref, other.ref),
        )  # fmt: skip
        for part, ref, ref_other in parts:
            if part == "input" and row.kind == "measured" and one.channel in MEASURED_CHANNELS:
                continue  # all that it may differ in is a line of the program
            for change in self._payload_changes(part, one.channel, ref, ref_other):
                if change.envelope:
                    held.append(change)
                else:
                    yield change
        yield from held

    def _rows(self) -> Iterator[Row]:
        alignment = self._alignment
        low = low_other = 0
        for place in (*alignment.anchors(), len(alignment.partner)):
            last = place == len(alignment.partner)
            other = len(alignment.partner_of_other) if last else alignment.partner[place]
            for at in range(low, place):
                yield self._row(at, alignment.partner[at])
            for at in range(low_other, other):
                if alignment.partner_of_other[at] == NONE:
                    yield Row("added", None, at)
            if not last:
                yield Row(_PAIRED.get(alignment.verdicts[place], "changed"), place, other)
            low, low_other = place + 1, other + 1

    def _row(self, place: int, other: int) -> Row:
        """Return the row of an event that is no anchor: it has no partner, or that stands elsewhere."""
        if other == NONE:
            return Row("removed", place, None)
        kind = _PAIRED.get(self._alignment.verdicts[place], "changed")
        return Row("moved" if kind == "same" else kind, place, other, moved=True)

    def _of_kind(self, kind: RowKind) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.kind == kind)

    def _payload_changes(
        self, part: ChangePart, channel: str, ref: str | None, ref_other: str | None
    ) -> Iterator[FieldChange]:
        before, problem = whole_value(self.a.blobs, ref)
        after, problem_other = whole_value(self.b.blobs, ref_other)
        said = "; ".join(f"{side}: {text}" for side, text in (("A", problem), ("B", problem_other)) if text) or None
        before, after = comparable(before), comparable(after)
        spelled = _spelled(channel, before, after)
        found = differences(*spelled)
        first = next(found, None)
        if first is not None:
            before, after = spelled
        else:  # the same message, in other chunks
            found = differences(before, after)
            first = next(found, None)
        if first is not None:
            envelope = envelope_paths(channel, before), envelope_paths(channel, after)
            yield _field_change(part, first, envelope, said)
            yield from (_field_change(part, difference, envelope) for difference in found)
        elif said is not None and ref != ref_other and (ref or "").startswith(REF_PREFIX):
            yield FieldChange(part, "", before, after, note=said)  # both are missing, and were not the same


def _spelled(channel: str, before: Any, after: Any) -> tuple[Any, Any]:
    """Return both values, streamed answers as the messages that they spelled, so that one not streamed compares."""
    one, other = spelled_message(channel, before), spelled_message(channel, after)
    if (one is None or other is None) and not (is_response(before) and is_response(after)):
        return before, after
    return before if one is None else one, after if other is None else other


def _field_change(
    part: ChangePart, found: Difference, envelope: tuple[Places, Places], note: str | None = None
) -> FieldChange:
    pointer, elsewhere = found.pointer, None
    before, after = found.before is not NOTHING, found.after is not NOTHING
    if before and after:
        pointer_after = pointer_of(found.path_after)
        elsewhere = pointer_after if pointer_after != pointer else None
    measured = (not before or tuple(found.parts) in envelope[0]) and (
        not after or tuple(path_parts(found.path_after)) in envelope[1]
    )
    return FieldChange(part, pointer, found.before, found.after, tuple(found.parts), elsewhere, note, measured)


def _times(recording: Recording) -> list[tuple[float | None, float | None]]:
    events: Any = recording.events
    places = range(len(events))
    if hasattr(events, "at_at"):  # columns: no event is read
        return list(zip(map(events.at_at, places), map(events.ms_at, places), strict=True))
    return [(event.at, event.ms) for event in events]
