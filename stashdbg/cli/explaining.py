"""How far a recording made from another tool's file is to be trusted, as text and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg_core.formats.explain import Explanation, explain
from stashdbg_core.model import Recording
from stashdbg_core.session.words import counted

_NAME = 10
_COUNT = 9
_LISTED = 40


def print_explanation(recording: Recording, *, as_json: bool = False) -> None:
    """Write what is exact, inferred and missing in a recording, and what its reader did not know or left out."""
    explanation = explain(recording)
    if as_json:
        console.ascii_text(json_text(explanation.to_json()) + "\n")
        return
    for line in _lines(explanation):
        console.line(*line)


def _lines(found: Explanation) -> Iterable[tuple[console.Part, ...]]:
    yield (Styled(found.title, "bold"), "  ", found.file)
    for name, phrases in (("exact", found.exact), ("inferred", found.inferred), ("missing", found.missing)):
        yield from _paragraph(name, "; ".join(phrases))
    counts = {
        "inferred": found.inferred_events,
        "cut short": found.cut_events,
        "pending": found.pending,
    }
    marked = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    yield from _paragraph("events", marked)
    yield from _paragraph("damaged", f"{counted(found.damaged_lines, 'line')}, left out" if found.damaged_lines else "")
    yield from _table("unknown", found.unknown)
    yield from _table("skipped", found.skipped)


def _paragraph(name: str, text: str) -> Iterable[tuple[console.Part, ...]]:
    room = max(console.width() - _NAME, 40)
    for place, line in enumerate(textwrap.wrap(text, room)):
        yield (Styled(f"{'' if place else name:{_NAME}}", "dim"), line)


def _table(name: str, counts: Mapping[str, int]) -> Iterable[tuple[console.Part, ...]]:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    for place, (what, count) in enumerate(ordered[:_LISTED]):
        yield (Styled(f"{'' if place else name:{_NAME}}", "dim"), f"{count:{_COUNT},}  {what}")
    if len(ordered) > _LISTED:
        yield (" " * _NAME, f"{'':{_COUNT}}  … and {len(ordered) - _LISTED:,} more")
