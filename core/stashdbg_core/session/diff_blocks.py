"""What one row of a difference holds, as blocks of lines that can be drawn side by side or one below the other.

Which fields differ is what the library says; lines and words only show where within a text. Bounded: so many changes
of an event, so many lines, so many characters of a line; what is left out is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, TypeAlias

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.diff.describe import two_lines
from stashdbg_core.diff.result import DiffResult, FieldChange, Row
from stashdbg_core.diff.structure import NOTHING, Nothing
from stashdbg_core.diff.text import Span, common_start, text_difference, word_spans
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session import gist
from stashdbg_core.session.diff_words import envelope_words
from stashdbg_core.session.editing import json_text_of
from stashdbg_core.session.stream_message import stream_message
from stashdbg_core.session.words import duration_words
from stashdbg_core.tags import EXCEPTION, tag_of

BlockKind: TypeAlias = Literal["head", "note", "same", "replaced", "gap"]
"""A field's name, a remark, lines that both have, lines that differ, equal lines left out."""

CONTEXT = 3
"""Equal lines shown around what differs in a text."""
_CHANGES, _LINES, _SAME_LINES = 200, 4000, 300
_LONGEST = 4000
"""Characters of a line that are kept, around what differs first."""
_LEAD = 80
_LONG_WORD = 60
_LAID_OUT = 400_000
"""Characters of a value up to which it is laid out as JSON; beyond, its head is shown."""
_FLAT = 72
"""Characters up to which an object or list without inner ones is one line."""
_ALIKE = 0.75
"""The share of a line that may differ before its words are no longer told apart."""
_WORDS_OF = 400
"""Pairs of lines of one text in which words are told apart."""


@dataclass(frozen=True, slots=True)
class Side:
    """One line of one side, unsanitised."""

    text: str
    number: int | None = None
    """Which line of its text it is, from 1."""
    spans: tuple[tuple[int, int], ...] = ()
    """Which characters differ, where not the whole line does."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together; heads and remarks stand on the left."""

    kind: BlockKind
    left: tuple[Side, ...] = ()
    right: tuple[Side, ...] = ()


def is_quick(result: DiffResult, row: Row, most: int = 100_000) -> bool:
    """Tell whether a row's blocks can be made between two keys."""
    for recording, event in ((result.a, result.event_a(row)), (result.b, result.event_b(row))):
        size_of: Any = getattr(recording.blobs, "size_of", None)
        for ref in (event.ref, event.input_ref) if event is not None else ():
            if ref is not None:
                size = size_of(ref) if size_of is not None else len(recording.blobs.payload(ref).raw)
                if size is not None and size > most:
                    return False
    return True


def row_blocks(
    result: DiffResult, row: Row, *, swapped: bool = False, context: int = CONTEXT, folded: bool = False
) -> list[Block]:
    """Return what a row holds: its changes, or, where it has none, its input and value.

    Args:
        result: What differs.
        row: One of its rows.
        swapped: Whether the second recording stands on the left.
        context: Equal lines shown around what differs.
        folded: Whether fields that say only when and which are named and not shown, where others differ.
    """
    one, other = result.event_a(row), result.event_b(row)
    if one is None or other is None:
        event, recording = (other, result.b) if one is None else (one, result.a)
        assert event is not None
        right = (one is None) != swapped
        head = Block("note", (Side(f"only on the {'right' if right else 'left'}"),))
        return [head, *_capped(_lone(recording, event, right=right))]
    blocks: list[Block] = []
    if row.moved:
        places = (other, one) if swapped else (one, other)
        blocks.append(Block("note", (Side(f"at another place: event {places[0].seq} here, {places[1].seq} there"),)))
    if row.kind in ("same", "moved"):
        said = "the same on both sides"
        blocks.append(Block("note", (Side(f"{said}{_timing(one, other, swapped=swapped)}"),)))
        return blocks + _capped(_both(result.a, one), _SAME_LINES)
    message = _message_blocks(result, one, other, context, swapped=swapped)
    changes = (change for change in result.iter_changes(row) if not message or change.part != "value")
    shown = list(islice(changes, _CHANGES))
    measured = [change.pointer for change in shown if change.envelope]
    folds = folded and len(measured) < len(shown) + len(message)
    found = [
        block
        for change in shown
        if not (folds and change.envelope)
        for block in _change(change, context, swapped=swapped)
    ]
    found += message
    if folds and measured:
        found.append(Block("note", (Side(f"{envelope_words(measured)}; m shows them"),)))
    if not found:
        keys = (other.key, one.key) if swapped else (one.key, other.key)
        found = [Block("head", (Side("key"),)), Block("replaced", (Side(keys[0]),), (Side(keys[1]),))]
    left = sum(1 for _ in changes)
    if left:
        found.append(Block("note", (Side(f"… and {left:,} more changes; `stashdbg diff --all` prints them"),)))
    return blocks + _capped(found)


def value_blocks(before: Json | Nothing, after: Json | Nothing, context: int = CONTEXT) -> list[Block]:
    """Return the difference of two values as a whole, such as a recorded one and what takes its place."""
    return _capped(_sides(before, after, context))


def _message_blocks(
    result: DiffResult, one: RecordedEvent, other: RecordedEvent, context: int, *, swapped: bool
) -> list[Block]:
    """Return the difference of two streamed messages; nothing where they are none, or only their chunks differ."""
    sides = []
    for recording, event in ((result.a, one), (result.b, other)):
        message = stream_message(_tree(recording, event.ref))
        if message is None:
            return []
        sides.append(message)
    left, right = reversed(sides) if swapped else sides
    blocks = _sides(left.tree, right.tree, context)
    if all(block.kind == "same" for block in blocks) or left.tree == right.tree:
        return []
    counts = [len(message.record.chunks) for message in (left, right)]
    said = f"{counts[0]:,} → {counts[1]:,}" if counts[0] != counts[1] else f"{counts[0]:,}"
    return [Block("head", (Side(f"value, the message streamed in {said} chunks"),)), *blocks]


def _tree(recording: Recording, ref: str) -> Json:
    try:
        return recording.blobs.tree(ref)
    except StashError:
        return None


def _change(change: FieldChange, context: int, *, swapped: bool) -> list[Block]:
    before, after = (change.after, change.before) if swapped else (change.before, change.after)
    here, there = change.pointer, change.pointer_after
    if swapped and there is not None:
        here, there = there, here
    where = here
    elsewhere = f"  (right: {there})" if there is not None else ""
    note = f"  ({change.note})" if change.note else ""
    return [Block("head", (Side(f"{change.part} {where}{elsewhere}{note}".strip()),)), *_sides(before, after, context)]


def _sides(before: Any, after: Any, context: int) -> list[Block]:
    if type(before) is str and type(after) is str:
        return list(_texts(before, after, context))
    old, new = _laid_out(before), _laid_out(after)
    if old is None or new is None or old == new:
        shown = two_lines(before, after, 2000)
        old, new = ([] if line is None else [line] for line in shown)
    return list(_lines(old, new, context))


def _texts(before: str, after: str, context: int) -> Iterator[Block]:
    if "\n" not in before and "\n" not in after:
        left, right = _paired(before, after, None, None, words=True)
        yield Block("replaced", (left,), (right,))
        return
    found = text_difference(before, after)
    if found.only_line_ends:
        crlf = [sum(line.endswith("\r") for line in lines) for lines in (found.before, found.after)]
        yield Block("note", (Side(f"only line ends differ: {crlf[0]:,} CRLF on the left, {crlf[1]:,} on the right"),))
        return
    yield from _spanned(found.before, found.after, found.spans, context)


def _lines(old: list[str], new: list[str], context: int) -> Iterator[Block]:
    if len(old) == len(new) == 1:
        left, right = _paired(old[0], new[0], None, None, words=True)
        yield Block("replaced", (left,), (right,))
        return
    if not old or not new:
        yield Block("replaced", _whole(old), _whole(new))
        return
    found = text_difference("\n".join(old), "\n".join(new))
    yield from _spanned(found.before, found.after, found.spans, context)


def _spanned(old: list[str], new: list[str], spans: Sequence[Span], context: int) -> Iterator[Block]:
    """Yield the changed stretches with ``context`` equal lines around each, and how many are left out between."""
    at = at_new = 0
    paired = 0
    for place, span in enumerate((*spans, Span(len(old), len(old), len(new), len(new)))):
        first, last = not place, place == len(spans)
        yield from _equal(old, (at, span.start), at_new - at, context, first=first, last=last)
        lines, lines_new = old[span.start : span.end], new[span.start_after : span.end_after]
        if lines or lines_new:
            paired += len(lines)
            yield _replaced(lines, lines_new, span, words=paired <= _WORDS_OF)
        at, at_new = span.end, span.end_after


def _equal(
    lines: list[str], part: tuple[int, int], offset: int, context: int, *, first: bool, last: bool
) -> Iterator[Block]:
    """Yield the lines of a part that both have, in the new one ``offset`` further down."""
    start, end = part
    head, tail = (0 if first else context), (0 if last else context)
    if end - start > head + tail + 1:
        cuts = [(start, start + head), (end - tail, end)]
    else:
        cuts = [(start, end), (end, end)]
    for place, (low, high) in enumerate(cuts):
        if place and low > cuts[0][1]:
            yield Block("gap", (Side(f"{low - cuts[0][1]:,} equal lines"),))
        if low < high:
            right = tuple(_side(line, low + offset + at + 1) for at, line in enumerate(lines[low:high]))
            yield Block("same", _numbered(lines[low:high], low), right)


def _replaced(old: list[str], new: list[str], span: Span, *, words: bool) -> Block:
    left, right = list(_numbered(old, span.start)), list(_numbered(new, span.start_after))
    for place, (line, line_new) in enumerate(zip(old, new, strict=False)):
        left[place], right[place] = _paired(
            line, line_new, span.start + place + 1, span.start_after + place + 1, words=words
        )
    return Block("replaced", tuple(left), tuple(right))


def _paired(old: str, new: str, number: int | None, number_new: int | None, *, words: bool) -> tuple[Side, Side]:
    spans = [_narrowed(old, new, span) for span in word_spans(old, new)] if words else []
    left = tuple((span.start, span.end) for span in spans if span.end > span.start)
    right = tuple((span.start_after, span.end_after) for span in spans if span.end_after > span.start_after)
    changed = max(_share(left, old), _share(right, new))
    if changed > _ALIKE and len(old) + len(new) < 2 * _LONGEST:
        left = right = ()
    start = common_start(old, new) if max(len(old), len(new)) > _LONGEST else 0
    return _side(old, number, left, start), _side(new, number_new, right, start)


def _narrowed(old: str, new: str, span: Span) -> Span:
    """Return a span without what is alike at the ends of a very long word, such as encoded bytes."""
    one, two = old[span.start : span.end], new[span.start_after : span.end_after]
    if min(len(one), len(two)) < _LONG_WORD:
        return span
    head = common_start(one, two)
    tail = common_start(one[head:][::-1], two[head:][::-1])
    return Span(span.start + head, span.end - tail, span.start_after + head, span.end_after - tail)


def _share(spans: Sequence[tuple[int, int]], text: str) -> float:
    return sum(end - start for start, end in spans) / len(text) if text else 0.0


def _numbered(lines: Sequence[str], start: int) -> tuple[Side, ...]:
    return tuple(_side(line, start + at + 1) for at, line in enumerate(lines))


def _whole(lines: Sequence[str]) -> tuple[Side, ...]:
    """Return all lines of a value; a line that is all of it needs no number."""
    return (_side(lines[0]),) if len(lines) == 1 else _numbered(lines, 0)


def _side(text: str, number: int | None = None, spans: Sequence[tuple[int, int]] = (), first: int = 0) -> Side:
    """Return a line, of a long one the part where it differs first."""
    text = text.removesuffix("\r")
    if len(text) <= _LONGEST:
        return Side(text, number, tuple(spans))
    start = max(first - _LEAD, 0)
    end = min(start + _LONGEST, len(text))
    before = f"… {start:,} characters … " if start else ""
    after = f" … {len(text) - end:,} characters more" if end < len(text) else ""
    shift = len(before) - start
    moved = tuple(
        (max(low, start) + shift, min(high, end) + shift) for low, high in spans if low < end and high > start
    )
    return Side(f"{before}{text[start:end]}{after}", number, moved)


def _laid_out(tree: Any) -> list[str] | None:
    """Return a value as lines; None if it is too large for that."""
    if tree is NOTHING:
        return []
    if type(tree) is str:
        return (
            tree.split("\n") if "\n" in tree else [json_text_of(tree).rstrip("\n")] if len(tree) < _LAID_OUT else None
        )
    if tag_of(tree) == EXCEPTION:
        return [gist.error(tree, 2000)]
    if not _is_small(tree):
        return None
    flat = stored_form(tree).decode("utf-8") if _is_flat(tree) else ""
    return [flat] if 0 < len(flat) <= _FLAT else json_text_of(tree).removesuffix("\n").split("\n")


def _is_flat(tree: Any) -> bool:
    inner = tree.values() if type(tree) is dict else tree if type(tree) is list else ()
    return len(inner) <= _FLAT and not any(type(item) in (dict, list) for item in inner)


def _is_small(tree: Any) -> bool:
    room = _LAID_OUT
    pending = [(tree, 0)]
    while pending and room > 0:
        node, depth = pending.pop()
        room -= 8 + 2 * depth
        if type(node) is dict:
            pending += [(value, depth + 1) for value in islice(node.values(), room)] if room > 0 else []
            room -= sum(len(key) for key in islice(node, max(room, 0)))
        elif type(node) is list:
            pending += [(value, depth + 1) for value in islice(node, max(room, 0))]
        elif type(node) is str:
            room -= len(node)
    return room > 0


def _lone(recording: Recording, event: RecordedEvent, *, right: bool) -> Iterator[Block]:
    for part, lines in _payload(recording, event):
        yield Block("head", (Side(part),))
        sides = _whole(lines)
        yield Block("replaced", () if right else sides, sides if right else ())


def _both(recording: Recording, event: RecordedEvent) -> Iterator[Block]:
    for part, lines in _payload(recording, event):
        yield Block("head", (Side(part),))
        sides = _whole(lines)
        yield Block("same", sides, sides)


def _payload(recording: Recording, event: RecordedEvent) -> Iterator[tuple[str, list[str]]]:
    for part, ref in (("input", event.input_ref), ("value" if event.outcome == "return" else "error", event.ref)):
        if ref is None:
            continue
        try:
            tree = recording.blobs.tree(ref)
        except StashError as problem:
            yield part, [problem.message]
            continue
        message = stream_message(tree)
        if message is not None:
            part, tree = f"{part}, the message streamed in {len(message.record.chunks):,} chunks", message.tree
        lines = _laid_out(tree)
        yield part, [line for line in two_lines(tree, NOTHING, 2000) if line] if lines is None else lines


def _timing(one: RecordedEvent, other: RecordedEvent, *, swapped: bool) -> str:
    if one.ms is None or other.ms is None or one.ms == other.ms:
        return ""
    left, right = (other.ms, one.ms) if swapped else (one.ms, other.ms)
    return f"; it took {duration_words(left)} on the left and {duration_words(right)} on the right"


def _capped(blocks: Iterator[Block] | list[Block], most: int = _LINES) -> list[Block]:
    """Return the first ``most`` lines of blocks, and a remark on how many are left out."""
    kept: list[Block] = []
    room, left = most, 0
    for block in blocks:
        size = max(len(block.left), len(block.right))
        if size <= room:
            kept.append(block)
        else:
            left += size - room
            if room:
                kept.append(replace(block, left=block.left[:room], right=block.right[:room]))
        room = max(room - size, 0)
    if left:
        kept.append(Block("note", (Side(f"… and {left:,} more lines; `stashdbg diff --all` prints them"),)))
    return kept
