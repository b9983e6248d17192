"""``stashdbg notes``: bookmarks and notes on a recording, which never go into it."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption, RunOption


def command(
    file: FileArgument,
    add: Annotated[
        tuple[str, str] | None, typer.Option("--add", metavar="EVENT TEXT", help="Write a note on an event.")
    ] = None,
    drop: Annotated[
        str | None, typer.Option("--drop", metavar="EVENT", help="Take the notes on an event away.")
    ] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
    run: RunOption = None,
) -> None:
    """Print the bookmarks and notes on a recording, or change them; they lie in the user's state folder."""
    from stashdbg_core.fork.places import find_event
    from stashdbg_core.session.notebook import Notebook

    recording = load_recording(file, limit, run)
    notebook = Notebook.of(recording)
    if add is not None:
        notebook.add_note(recording.events[find_event(recording, add[0])].seq, add[1])
    if drop is not None:
        seq = recording.events[find_event(recording, drop)].seq
        if not notebook.drop_notes(seq):
            console.narrate(f"event {seq} has no note")
    if notebook.problem:
        console.narrate(Styled("note: ", "warning"), notebook.problem)
    if as_json:
        console.ascii_text(json_text(notebook.to_json()) + "\n")
        return
    for seq in sorted({*notebook.bookmarks, *(note.seq for note in notebook.notes)}):
        console.line(Styled(f"event {seq}", "bold"), "  bookmarked" if seq in notebook.bookmarks else "")
        for note in notebook.notes:
            if note.seq == seq:
                for line in note.text.splitlines():
                    console.line("  ", line)
    for name, entries in (
        ("breakpoint", notebook.breakpoints),
        ("watch", notebook.watches),
        ("column", notebook.columns),
    ):
        for entry in entries:
            console.line(Styled(name, "dim"), "  ", entry)
    if not any((notebook.bookmarks, notebook.notes, notebook.breakpoints, notebook.watches, notebook.columns)):
        console.narrate("nothing is marked; --add EVENT TEXT writes a note, m in the debugger sets a bookmark")
