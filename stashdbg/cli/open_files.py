"""Opening files: the debugger on a terminal, the plain listing anywhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stashdbg.cli import console
from stashdbg.cli.loading import STANDARD_INPUT, limits_of, load_recording, load_recordings, named
from stashdbg_core.errors import invalid_input, not_found
from stashdbg_core.sanitize import shorten


def open_files(
    files: list[str],
    *,
    as_json: bool = False,
    theme: str | None = None,
    limit: list[str] | None = None,
    run: int | None = None,
) -> int:
    """Open the screen if there is a terminal that can show it, else print; of a folder of runs, offer or list them.

    Raises:
        StashError: A file cannot be read or is not a recording, or ``--json`` was asked for several.
    """
    if len(files) == 1 and run is None and os.path.isdir(files[0]):
        from stashdbg_core.opening.folder import is_folder_of_runs

        if is_folder_of_runs(Path(files[0])):
            return _open_folder(Path(files[0]), as_json=as_json, theme=theme, limit=limit)
    if as_json:
        if len(files) > 1:
            raise invalid_input("--json prints one object, so it takes one file", hint="run it once for each file")
        from stashdbg.cli.show import print_json

        print_json(load_recording(files[0], limit, run))
        return 0
    if files.count(STANDARD_INPUT) > 1:
        raise invalid_input("standard input holds one recording", hint="name a file for the other")
    if has_screen() and STANDARD_INPUT not in files:
        return _open_screen([named(file, run) for file in files], theme, limit)
    from stashdbg.cli.listing import print_listing

    for place, recording in enumerate(recording for file in files for recording in load_recordings(file, limit, run)):
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
        why = "TERM=dumb" if os.environ.get("TERM") else "TERM is not set"
        console.narrate(f"this terminal cannot show the debugger ({why}); here is the plain listing")
        return False
    return True


def _open_screen(paths: list[Path], theme: str | None, limit: list[str] | None) -> int:
    from stashdbg_core.store.native import HEAD, is_native
    from stashdbg_core.store.source import FileSource

    limits = limits_of(limit)
    for path in paths:
        if not (path.is_file() and is_native(FileSource(path).read_at(0, HEAD))):
            from stashdbg_core.opening.files import refuse_unknown  # what is ours needs none of it

            refuse_unknown(path, limits=limits)
    from stashdbg_tui.app import run

    return run(paths, limits=limits, theme=theme)


def _open_folder(folder: Path, *, as_json: bool, theme: str | None, limit: list[str] | None) -> int:
    """Offer the runs of a folder on the screen; without one, list them.

    Raises:
        StashError: ``ERR_NOT_FOUND``: there is none in it.
    """
    if not as_json and has_screen():
        from stashdbg_tui.app import run

        return run([], limits=limits_of(limit), theme=theme, folder=folder)
    from stashdbg.cli.recent import print_found
    from stashdbg_core.opening.folder import runs_in_folder

    found = runs_in_folder(folder, limits_of(limit))
    if not found and not as_json:
        raise not_found(f"{shorten(str(folder), 400)} holds nothing that can be opened", hint="name a recording")
    print_found(found, as_json=as_json)
    return 0


def choose(theme: str | None = None, limit: list[str] | None = None) -> int:
    """Let the user choose on the screen.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: there is no screen to choose on.
    """
    if not has_screen():
        raise invalid_input("no file was named", hint="stashdbg recent lists what there is to open")
    from stashdbg_tui.app import run

    return run([], limits=limits_of(limit), theme=theme)


def explain_files(files: list[str], *, as_json: bool, limit: list[str] | None, run: int | None) -> int:
    """Print how each file was read.

    Raises:
        StashError: As ``open_files``.
    """
    from stashdbg.cli.explaining import print_explanation

    if as_json and len(files) > 1:
        raise invalid_input("--json prints one object, so it takes one file", hint="run it once for each file")
    for place, file in enumerate(files):
        if place:
            console.line()
        print_explanation(load_recording(file, limit, run), as_json=as_json)
    return 0
