"""``stashdbg export``: a recording in a shape for other readers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.loading import load_recording
from stashdbg.cli.options import FileArgument, ForceOption, LimitOption
from stashdbg_core.errors import invalid_input


def command(
    file: FileArgument,
    flat: Annotated[bool, typer.Option("--flat", help="Every value whole, none shared: plain version 1.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="OUT", help="Where to write; standard output if not given.")
    ] = None,
    force: ForceOption = False,
    limit: LimitOption = None,
) -> None:
    """Write a recording in a shape for other readers."""
    if not flat:
        raise invalid_input("no shape was asked for", hint="add --flat")
    from stashdbg_core.store.writer import encode_recording, write_recording

    recording = load_recording(file, limit)
    if output is None:
        console.data(encode_recording(recording, flat=True).encode("utf-8", "surrogatepass"))
    else:
        console.line(str(write_recording(recording, Path(output), overwrite=force, flat=True)))
