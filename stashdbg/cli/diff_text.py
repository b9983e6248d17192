"""A difference of two recordings as text: the events in order, each change with its place and both sides.

Bounded for every event, and in the number of events; ``--all`` prints everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from stashdbg.cli import console
from stashdbg.cli.cells import cell_len, clip
from stashdbg.cli.console import Part, Style, Styled
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg_core.diff.describe import two_lines
from stashdbg_core.diff.explain import UNPROVEN, Cause, Explanation, Source
from stashdbg_core.diff.result import DiffResult, FieldChange, Row
from stashdbg_core.diff.structure import NOTHING
from stashdbg_core.diff.text import TextDifference, common_start, text_difference
from stashdbg_core.sanitize import shorten
from stashdbg_core.session import gist
from stashdbg_core.session.diff_words import cause_words, envelope_words, measured_words
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_core.session.words import counted
from stashdbg_core.tags import EXCEPTION, STREAM, tag_of

_ROWS, _RUN, _CHANGES, _LINES = 200, 8, 12, 12
"""Events, events of one kind in a row, changes of an event, and lines of a changed text that are printed."""
_LEAD = 24
_NARROW = 40
_LEAST = 12
_STYLES: dict[str, Style] = {
    "added": "string",
    "removed": "error",
    "changed": "warning",
    "moved": "channel",
    "measured": "dim",
}


def print_diff(
    result: DiffResult, names: tuple[str, str], why: Explanation | None = None, *, everything: bool = False
) -> None:
    """Write the whole difference: a head, every differing event, and a tail of what does not count."""
    _print_head(result, names)
    causes = {cause.row: cause for cause in why.causes} if why is not None else {}
    rows = result.differing if everything else islice(result.beside_measured, _ROWS)
    for kind, group in groupby(rows, key=lambda row: row.kind):
        if kind in ("changed", "measured"):
            for row in group:
                console.line()
                _print_row(result, row)
                _print_cause(result, causes.get(row))
                _print_changes(result, row, everything=everything)
            continue
        console.line()
        run = list(group)
        shown = run if everything or len(run) <= _RUN else run[: _RUN - 1]
        ended = False
        for row in shown:
            _print_row(result, row)
            cause = causes.get(row)
            if not (ended and cause is not None and cause.verdict == "end"):
                _print_cause(result, cause)
            ended = cause is not None and cause.verdict == "end"
        if len(shown) < len(run):
            _print_more(result, run[len(shown) :])
    _print_tail(result, why, everything=everything)
    for name, recording in zip(names, (result.a, result.b), strict=True):
        narrate_notes([f"{shorten(name, 60)}: {note_message(note)}" for note in recording.notes])


def _print_head(result: DiffResult, names: tuple[str, str]) -> None:
    for letter, name, recording in zip("AB", names, (result.a, result.b), strict=True):
        count = counted(len(recording.events), "event")
        console.line(Styled(letter, "bold"), f"  {clip(name, 60)}  {clip(recording.id, 60)} · {count}")
    if result.same:
        same = counted(result.same_count, "event")
        console.line(f"no difference: {same} {'is' if result.same_count == 1 else 'are'} the same")
        return
    if result.only_measured:
        console.line(Styled("only measured values differ", "bold"))
    kinds = {name: getattr(result, name) for name in ("changed", "added", "removed", "moved", "measured")}
    parts = [f"{result.same_count:,} same", *(f"{len(rows):,} {name}" for name, rows in kinds.items() if rows)]
    console.line(", ".join(parts), Styled(f" (paired by {result.mode})", "dim"))


def _print_more(result: DiffResult, rows: Sequence[Row]) -> None:
    """Write how many rows of one kind are left out, and which."""
    seqs = [str(event.seq) for row in (rows[0], rows[-1]) if (event := result.event_a(row) or result.event_b(row))]
    text = f"… and {len(rows):,} more {rows[0].kind}, {' to '.join(dict.fromkeys(seqs))}; --all prints them"
    console.line(Styled(text, "dim"))


def _print_row(result: DiffResult, row: Row) -> None:
    one, other = result.event_a(row), result.event_b(row)
    seqs = f"{'–' if one is None else one.seq} → {'–' if other is None else other.seq}"
    event = one or other
    assert event is not None
    key = clip(event.key, 36)
    if one is not None and other is not None and one.key != other.key:
        key += f" → {clip(other.key, 36)}"
    head: list[Part] = [Styled(row.kind.ljust(8), _STYLES[row.kind]), f" {seqs:<11}  "]
    head += [Styled(clip(event.channel, 16), "channel"), f"  {key} #{event.ordinal}"]
    if row.moved and row.kind in ("changed", "measured"):
        head.append("  (and moved)")
    if row.kind in ("added", "removed"):
        recording = result.a if other is None else result.b
        head.append(f"  {outcome_word(event)}  ")
        used = sum(cell_len(part if isinstance(part, str) else part.text) for part in head)
        room = max(console.width() - used, _LEAST)
        head.append(clip(summary(recording, event, room), room))
    console.line(*head)


def _print_changes(result: DiffResult, row: Row, *, everything: bool) -> None:
    changes = result.iter_changes(row)
    printed, left = 0, 0
    measured: list[FieldChange] = []
    for change in changes:
        if change.envelope and printed and not everything:
            measured.append(change)
        elif everything or printed < _CHANGES:
            _print_change(change, everything=everything)
            printed += 1
        else:
            left += 1
    if measured:
        said = envelope_words([change.pointer for change in measured])
        console.line(Styled(f"  {said}; --all prints them", "dim"))
    if left:
        console.line(Styled(f"  … and {left:,} more changes of this event; --all prints them", "dim"))
    if not printed:
        console.line("  the same but for its key")


def _print_change(change: FieldChange, *, everything: bool) -> None:
    width = max(console.width() - 6, _NARROW)
    if change.part == "outcome":
        console.line(f"  outcome  {shorten(str(change.before), 40)} → {shorten(str(change.after), 40)}")
        return
    where = change.pointer if everything else shorten(change.pointer, 200)
    elsewhere = f"  (B: {shorten(change.pointer_after, 200)})" if change.pointer_after else ""
    console.line(f"  {change.part}", Styled(f" {where}" if where else "", "key"), elsewhere)
    if change.note:
        console.line(Styled(f"    {shorten(change.note, 300)}", "warning"))
    before, after = change.before, change.after
    if isinstance(before, str) and isinstance(after, str) and ("\n" in before or "\n" in after):
        _print_text(text_difference(before, after), width, everything=everything)
        return
    old, new = two_lines(before, after, (1 << 20) if everything else width)
    old, new = special_text(before, width) or old, special_text(after, width) or new
    if before is not NOTHING and old is not None:
        console.line(Styled(f"    - {old}", "error"))
    if after is not NOTHING and new is not None:
        console.line(Styled(f"    + {new}", "string"))


def special_text(tree: object, width: int) -> str | None:
    """Return an error or a stream in words; None for any other value."""
    tag = tag_of(tree)
    if tag == EXCEPTION:
        return gist.error(tree, width)
    return f"a stream: {gist.stream(tree, width - 10)}" if tag == STREAM else None


def _print_text(found: TextDifference, width: int, *, everything: bool) -> None:
    if found.only_line_ends:
        crlf = sum(line.endswith("\r") for line in found.before), sum(line.endswith("\r") for line in found.after)
        console.line(f"    only line endings differ: {crlf[0]:,} CRLF in A, {crlf[1]:,} in B")
        return
    lines = _changed_lines(found, width, everything=everything)
    for sign, number, text in lines if everything else islice(lines, _LINES):
        console.line(Styled(f"    {sign} {number:>4}  {text}", "error" if sign == "-" else "string"))
    left = sum(1 for _ in lines)
    if left:
        console.line(Styled(f"      … and {left:,} more lines; --all prints them", "dim"))


def _changed_lines(found: TextDifference, width: int, *, everything: bool) -> Iterator[tuple[str, int, str]]:
    """Yield sign, line number and text of every changed line, paired ones showing where they differ."""
    room = (1 << 20) if everything else max(width - 6, _NARROW)
    for span in found.spans:
        old, new = found.before[span.start : span.end], found.after[span.start_after : span.end_after]
        starts = [common_start(one, other) for one, other in zip(old, new, strict=False)]
        yield from _signed("-", old, span.start, starts, room)
        yield from _signed("+", new, span.start_after, starts, room)


def _signed(
    sign: str, lines: Sequence[str], first: int, starts: Sequence[int], room: int
) -> Iterator[tuple[str, int, str]]:
    for place, line in enumerate(lines):
        start = starts[place] if place < len(starts) else 0
        start = max(start - _LEAD, 0) if len(line) > room else 0
        yield sign, first + place + 1, ("…" if start else "") + shorten(line[start:], room - 1)


def _print_cause(result: DiffResult, cause: Cause | None) -> None:
    if cause is None:
        return
    console.line(Styled("  why ", "bold"), cause_words(cause) + (":" if cause.sources else ""))
    for source in cause.sources:
        console.line(f"      {_source_words(result, source)}")


def _source_words(result: DiffResult, source: Source) -> str:
    one, other = result.event_a(source.row), result.event_b(source.row)
    event = other or one
    assert event is not None
    seqs = f"{'–' if one is None else one.seq} → {'–' if other is None else other.seq}"
    call = f"{seqs} {shorten(event.channel, 16)} {shorten(event.key, 36)}"
    return f"{call}: {len(source.text):,} characters verbatim, {shorten(repr(source.text), 60)}"


def _print_tail(result: DiffResult, why: Explanation | None, *, everything: bool) -> None:
    left = 0 if everything else sum(1 for _ in result.beside_measured) - _ROWS
    if left > 0:
        console.line()
        console.line(Styled(f"… and {left:,} more events differ; --all prints them", "dim"))
    if result.measured:
        console.line()
        more = "" if everything else "; --all prints them"
        console.line(Styled(f"{measured_words(result)}{more}", "dim"))
    timing = len(result.timing_only)
    if timing:
        console.line()
        console.line(Styled(f"{timing:,} event{' differs' if timing == 1 else 's differ'} in time only", "dim"))
    if why is not None and why.unseen:
        console.line()
        console.line(f"not explained: {counted(why.unseen, 'later difference')}")
    if why is not None and any(cause.sources for cause in why.causes):
        console.line()
        console.line(Styled(UNPROVEN, "dim"))
