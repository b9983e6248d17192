"""Why two runs parted: which differences come from earlier ones, as far as the texts show it.

The evidence is text: what an earlier output says on one side only, and a later input holds on that side only. That is
no proof. A call may depend on what was not recorded, and two calls may differ alike by chance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias

from stashdbg_core.calls import MEASURED_CHANNELS, read_site
from stashdbg_core.canonical import Json
from stashdbg_core.diff.result import DiffResult, FieldChange, Row
from stashdbg_core.diff.text import word_spans
from stashdbg_core.errors import StashError

Verdict: TypeAlias = Literal[
    "first", "flows", "new", "same-input", "no-input", "read", "measured", "envelope", "order", "end"
]

MOST_ROWS = 200
"""Differing events that are looked at; more are counted."""
_CHANGES, _LEAVES = 50, 200
_LONGEST = 10_000
"""Characters of one text that are looked for."""
_HAY = 100_000
"""Characters of a call's differing input that are looked through, on each side."""
_NEEDLES, _MEASURED = 1000, 500
"""Texts of earlier outputs that are kept; and measured values whose texts are."""
_LONGEST_TEXTS = 50
_SOURCES = 3
_SURE = 4
"""Shorter texts count only as whole words."""
_COMMON = 3
"""A text that more differing outputs than this hold says nothing about any of them."""

UNPROVEN = (
    "Text that appears in a later input shows where a difference may have come from, not that it caused anything: a "
    "call may also depend on what was not recorded."
)


@dataclass(frozen=True, slots=True)
class Source:
    """An earlier difference whose text a later input holds."""

    row: Row
    text: str
    """The text, found in the earlier output and in the later input, and on the other side in neither."""


@dataclass(frozen=True, slots=True)
class Cause:
    """Where one difference comes from, as far as it can be seen."""

    row: Row
    verdict: Verdict
    """``first``: nothing differs before it; ``flows``: its input holds text of an earlier difference; ``new``: its
    input differs and holds none; ``same-input``: the input is the same and the output is not; ``no-input``: none was
    recorded; ``read``: a value of a clock or of chance, into which nothing goes; ``measured``: such a value, and read
    at the same place; ``envelope``: a call that says the same; ``order``: only its place differs; ``end``: the other
    recording has nothing after this point."""
    sources: tuple[Source, ...] = ()
    measured_before: int = 0
    """Of the first: how many measured values differ before it."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Every difference of two recordings but measured values, in order, with its origin."""

    causes: tuple[Cause, ...]
    unseen: int
    """Differences beyond those looked at."""


_Sides: TypeAlias = tuple[list[str], list[str]]
"""Texts of the first recording, and of the second."""


def explain(result: DiffResult) -> Explanation:
    """Say of each difference whether its text flows from an earlier one."""
    tail = _tail_start(result)
    places = {row: place for place, row in enumerate(result.rows)}
    needles, texts = _Needles(), _Texts(result)
    causes: list[Cause] = []
    measured = unseen = 0
    for row in result.differing:
        if row.kind == "measured":
            measured += 1
            if measured <= _MEASURED and len(causes) < MOST_ROWS and _is_read(result, row):
                needles.add(row, texts.of(row, "value"), ([], []))
        elif len(causes) >= MOST_ROWS:
            unseen += 1
        elif causes and row.kind in ("added", "removed") and places[row] >= tail:
            causes.append(Cause(row, "end"))
        else:
            inputs = texts.of(row, "input")
            sources = needles.sources(inputs)
            verdict = _verdict(texts, row, sources, first=not causes)
            causes.append(Cause(row, verdict, sources, 0 if causes else measured))
            needles.add(row, texts.of(row, "value"), inputs)
    return Explanation(tuple(causes), unseen)


def _tail_start(result: DiffResult) -> int:
    """Return the index of the row from which on only one recording goes on."""
    rows = result.rows
    start = len(rows)
    while start and rows[start - 1].kind in ("added", "removed") and rows[start - 1].kind == rows[-1].kind:
        start -= 1
    return start


class _Needles:
    """Texts that earlier outputs hold on one side only."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, str], list[Row]] = {}
        self._calls: list[tuple[Row, tuple[str, str], tuple[str, str]]] = []
        """Rows with the differing texts of their outputs, and of their own inputs."""

    def add(self, row: Row, outputs: _Sides, inputs: _Sides) -> None:
        """Take in the texts of a row's output that its own input does not hold: those came from elsewhere."""
        hays = _hays(inputs)
        self._calls.append((row, _hays(outputs), hays))
        for side in (0, 1):
            other = set(outputs[1 - side])
            for text in dict.fromkeys(outputs[side]):
                if text in other or text in hays[side]:
                    continue
                if len(self._rows) < _NEEDLES or (side, text) in self._rows:
                    self._rows.setdefault((side, text), []).append(row)

    def sources(self, inputs: _Sides) -> tuple[Source, ...]:
        """Return the rows whose text these inputs hold, on one side only; the longest texts first, then the latest."""
        hays = _hays(inputs)
        best: dict[Row, tuple[int, str]] = {}
        for order, ((side, text), rows) in enumerate(self._rows.items()):
            if len(rows) > _COMMON or len(text) <= len(best.get(rows[-1], (0, ""))[1]):
                continue
            if _holds(hays[side], text) and not _holds(hays[1 - side], text):
                best[rows[-1]] = (order, text)
        for order, row, text in self._quoted(inputs):
            if len(text) > len(best.get(row, (0, ""))[1]):
                best[row] = (order, text)
        ranked = sorted(best.items(), key=lambda found: (-len(found[1][1]), -found[1][0]))
        return tuple(Source(row, text) for row, (_, text) in ranked[:_SOURCES])

    def _quoted(self, inputs: _Sides) -> Iterator[tuple[int, Row, str]]:
        """Yield texts of these inputs that are part of an earlier output, on one side only."""
        for side in (0, 1):
            other = set(inputs[1 - side])
            texts = [text for text in dict.fromkeys(inputs[side]) if len(text) >= _SURE and text not in other]
            texts = sorted(texts, key=len, reverse=True)[:_LONGEST_TEXTS]
            for order, (row, outputs, own) in enumerate(self._calls):
                for text in texts:
                    if text in outputs[side] and text not in outputs[1 - side] and text not in own[side]:
                        yield _NEEDLES + order, row, text
                        break


def _hays(texts: _Sides) -> tuple[str, str]:
    return "\n".join(texts[0])[:_HAY], "\n".join(texts[1])[:_HAY]


def _verdict(texts: _Texts, row: Row, sources: tuple[Source, ...], *, first: bool) -> Verdict:
    if sources:
        return "flows"
    if first:
        return "first"
    if row.kind == "moved":
        return "order"
    events = [event for event in (texts.result.event_a(row), texts.result.event_b(row)) if event is not None]
    if _is_read(texts.result, row):
        return "read"
    if all(event.input_ref is None for event in events):
        return "no-input"
    if row.kind == "changed" and not any(
        change.part == "input" and not change.envelope for change in texts.changes(row)
    ):
        return "same-input"
    return "new"


def _is_read(result: DiffResult, row: Row) -> bool:
    """Tell whether nothing goes into an event but the place where a value was read."""
    side = int(row.a is None)
    event = result.event_b(row) if side else result.event_a(row)
    if event is None or event.channel not in MEASURED_CHANNELS:
        return False
    return event.input_ref is None or read_site(_tree(result, side, event.input_ref)) is not None


def _holds(hay: str, text: str) -> bool:
    if text not in hay:
        return False
    if len(text) >= _SURE:
        return True
    return re.search(rf"(?<!\w)(?<!\d\.(?=\d)){re.escape(text)}(?!\w|(?<=\d)\.\d)", hay) is not None


class _Texts:
    """The differing texts of rows; what is the same in row after row, as in a growing chat, is compared once."""

    def __init__(self, result: DiffResult) -> None:
        self.result = result
        self._row: Row | None = None
        self._changes: list[FieldChange] = []
        self._words: dict[tuple[str, str], _Sides] = {}

    def changes(self, row: Row) -> list[FieldChange]:
        """Return the first changes of a row."""
        if row is not self._row:
            self._row, self._changes = row, self.result.changes(row, _CHANGES)
        return self._changes

    def of(self, row: Row, part: str) -> _Sides:
        """Return the texts that only one side's input or value holds: whole ones, and the words that differ."""
        if part == "input" and _is_read(self.result, row):
            return [], []
        if row.kind in ("added", "removed"):
            side = int(row.kind == "added")
            event = self.result.event_b(row) if side else self.result.event_a(row)
            ref = None if event is None else event.input_ref if part == "input" else event.ref
            texts = [] if ref is None else list(_leaves(_tree(self.result, side, ref)))
            return ([], texts) if side else (texts, [])
        before: list[str] = []
        after: list[str] = []
        for change in self.changes(row):
            if change.part == part and not change.envelope:
                old, new = self._apart(change.before, change.after)
                before += old
                after += new
        return before, after

    def _apart(self, before: Json, after: Json) -> _Sides:
        if type(before) is not str or type(after) is not str:
            return list(_leaves(before)), list(_leaves(after))
        known = self._words.get((before, after))
        if known is None:
            old, new = _usable(before), _usable(after)
            for span in islice(word_spans(before[:_LONGEST], after[:_LONGEST]), _LEAVES):
                old += _usable(before[span.start : span.end])
                new += _usable(after[span.start_after : span.end_after])
            known = self._words[before, after] = old, new
        return known


def _leaves(tree: Json) -> Iterator[str]:
    """Yield the texts and numbers of a tree, the first ones."""
    pending = [tree]
    seen = 0
    while pending and seen < _LEAVES:
        node = pending.pop()
        kind = type(node)
        if kind is dict:
            pending.extend(reversed(list(islice(node.values(), _LEAVES))))
        elif kind is list:
            pending.extend(reversed(node[:_LEAVES]))
        elif kind is str:
            seen += 1
            yield from _usable(node)
        elif isinstance(node, int | float) and kind is not bool and abs(node) < 1e300:
            seen += 1
            yield from _usable(str(node))


def _usable(text: str) -> list[str]:
    text = text.strip()[:_LONGEST]
    return [text] if len(text) > 1 else []


def _tree(result: DiffResult, side: int, ref: str) -> Json:
    try:
        return (result.b if side else result.a).blobs.tree(ref)
    except StashError:
        return None
