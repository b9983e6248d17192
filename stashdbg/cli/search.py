"""``stashdbg search``: where a text stands in a run."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import clip
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.words import counted

_POINTER = 40
_TEXT_AT_LEAST = 24


def command(
    file: FileArgument,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="A text as it stands, or /regex/ (/regex/i in any case).")
    ],
    first: Annotated[bool, typer.Option("--first", help="Stop at the first place: where the text came from.")] = False,
    most: Annotated[int, typer.Option("--max", min=1, metavar="N", help="Stop after so many places.")] = 10_000,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> None:
    """Find a text in keys, labels, inputs and values, in the order of the run."""
    from stashdbg_core.session.search import Search
    from stashdbg_core.session.tasks import Task

    recording = load_recording(file, limit, run)
    search = Search(recording, text)
    hits = Task(search.steps(1 if first else most)).run()
    if as_json:
        shown = [hit.to_json() for hit in hits]
        console.ascii_text(json_text({"hits": shown, "scanned": search.scanned, "truncated": search.truncated}) + "\n")
        return
    wide = max([3, *(len(str(hit.seq)) for hit in hits)])
    where = [f"{hit.part}{' name' if hit.in_key else ''} {shorten(hit.pointer, 400)}".rstrip() for hit in hits]
    place = min(max([5, *map(len, where)]), _POINTER)
    for hit, at in zip(hits, where, strict=True):
        room = max(console.width() - wide - place - 4, _TEXT_AT_LEAST)
        start = max(hit.start - max((room - hit.length) // 2, 0), 0) if len(hit.text) > room else 0
        before, marked, after = (
            hit.text[start : hit.start],
            hit.text[hit.start : hit.start + hit.length],
            hit.text[hit.start + hit.length :],
        )
        marked = clip(marked, room - min(len(before), room // 2))
        rest = max(room - len(before) - len(marked), 0)
        console.line(
            f"{str(hit.seq).rjust(wide)}  ", Styled(clip(at, place).ljust(place), "dim"), "  ",
            before[-room // 2 :] if len(before) > room // 2 else before, Styled(marked, "bold"), clip(after, rest),
        )  # fmt: skip
    events = len({hit.position for hit in hits})
    found = f"{counted(len(hits), 'place')} in {counted(events, 'event')}" if hits else "nothing found"
    said = f"; stopped there, --max {most} asks for no more" if search.truncated and not first else ""
    console.narrate(found + ("" if first and hits else f", {counted(search.scanned, 'event')} searched") + said)
