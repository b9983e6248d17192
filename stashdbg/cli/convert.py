"""``stashdbg convert``: any file that opens becomes a fresh, whole recording; what was lost is said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.json_out import json_text
from stashdbg.cli.listing import payload_problems
from stashdbg.cli.loading import load_recording
from stashdbg.cli.notes import narrate_notes, note_message
from stashdbg.cli.options import ForceOption, JsonOption, LimitOption, OutputOption


def command(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A recording, a journal or a damaged file.")],
    output: OutputOption,
    force: ForceOption = False,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """Write a journal or damaged file as a fresh recording, and print the name it got."""
    from stashdbg_core.store.writer import write_recording

    recording = load_recording(source, limit)
    notes = [note_message(note) for note in recording.notes]
    for event in recording.events:
        notes += [problem for problem in payload_problems(recording, event) if problem not in notes[-100:]]
    written = write_recording(recording, Path(output), overwrite=force)
    if as_json:
        report = {"file": str(written), "events": len(recording.events), "complete": recording.complete, "lost": notes}
        console.ascii_text(json_text(report) + "\n")
        return
    console.line(str(written))
    narrate_notes(notes)
