"""``stashdbg notes``: bookmarks and notes on a recording, which never go into it."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, JsonOption, LimitOption


def command(
    file: FileArgument,
    add: Annotated[
        tuple[int, str] | None, typer.Option("--add", metavar="SEQ TEXT", help="Write a note on an event.")
    ] = None,
    drop: Annotated[int | None, typer.Option("--drop", metavar="SEQ", help="Take the notes on an event away.")] = None,
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """Print the bookmarks and notes on a recording, or change them; they lie in the user's state folder."""
    from stashdbg.cli.show import event_at
    from stashdbg_core.session.notebook import Notebook

    recording = load_recording(file, limit)
    notebook = Notebook.of(recording)
    if add is not None:
        event_at(recording, add[0])
        notebook.add_note(*add)
    if drop is not None and not notebook.drop_notes(drop):
        console.narrate(f"event {drop} has no note")
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
    for name, entries in (("breakpoint", notebook.breakpoints), ("watch", notebook.watches)):
        for entry in entries:
            console.line(Styled(name, "dim"), "  ", entry)
    if not (notebook.bookmarks or notebook.notes or notebook.breakpoints or notebook.watches):
        console.narrate("nothing is marked; --add SEQ TEXT writes a note, m in the debugger sets a bookmark")
