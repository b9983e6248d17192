"""``stashdbg FILE…``: the debugger on a terminal, the plain listing anywhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.loading import limits_of, load_recording, load_recordings
from stashdbg.cli.options import JsonOption, LimitOption
from stashdbg_core.errors import invalid_input


def command(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Recordings; - reads standard input.")],
    as_json: JsonOption = False,
    theme: Annotated[str | None, typer.Option("--theme", metavar="NAME", help="Colours of the screen.")] = None,
    limit: LimitOption = None,
) -> int:
    """Open recordings in the debugger; without a terminal, list their events."""
    return open_files(files, as_json=as_json, theme=theme, limit=limit)


def open_files(
    files: list[str], *, as_json: bool = False, theme: str | None = None, limit: list[str] | None = None
) -> int:
    """Open the screen if there is a terminal that can show it, else print.

    Raises:
        StashError: A file cannot be read or is not a recording, or ``--json`` was asked for several.
    """
    if as_json:
        if len(files) > 1:
            raise invalid_input("--json prints one object, so it takes one file", hint="run it once for each file")
        from stashdbg.cli.show import print_json

        print_json(load_recording(files[0], limit))
        return 0
    if has_screen() and "-" not in files:
        return _open_screen([Path(file) for file in files], theme, limit)
    from stashdbg.cli.listing import print_listing

    for place, recording in enumerate(recording for file in files for recording in load_recordings(file, limit)):
        if place:
            console.line()
        print_listing(recording)
    return 0


def has_screen() -> bool:
    """Tell whether the debugger's screen can be shown; says so where a terminal is there and cannot show it."""
    # The screen is drawn on stderr, as Textual does, so that one too has to be a terminal.
    if os.environ.get("CI") or not all(map(console.is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        return False
    if console.is_dumb():
        console.narrate("this terminal cannot show the debugger (TERM=dumb); here is the plain listing")
        return False
    return True


def _open_screen(paths: list[Path], theme: str | None, limit: list[str] | None) -> int:
    from stashdbg_core.report.opening import recording_paths

    limits = limits_of(limit)
    named = [recording for path in paths for recording in recording_paths(path)]
    from stashdbg_tui.app import run

    return run(named, limits=limits, theme=theme)
