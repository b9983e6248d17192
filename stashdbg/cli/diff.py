"""``stashdbg diff``: where two recordings differ, and why; exit code 1 if they do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from stashdbg.cli import console, exit_codes
from stashdbg.cli.loading import STANDARD_INPUT, limits_of, load_recording
from stashdbg.cli.open_files import has_screen
from stashdbg.cli.options import JsonOption, LimitOption, ThemeOption
from stashdbg_core.errors import invalid_input

if TYPE_CHECKING:
    from stashdbg_core.diff.align import AlignMode


def command(
    a: Annotated[str, typer.Argument(metavar="A", help="A recording; - reads standard input.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The recording to compare it with.")],
    as_json: JsonOption = False,
    text: Annotated[bool, typer.Option("--text", help="Print text, even on a terminal.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say which differences come from earlier ones.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Print every change, however long, and measured values too.")
    ] = False,
    align: Annotated[
        Literal["content", "identity"],
        typer.Option(
            "--align", metavar="content|identity", help="How events are paired; identity is channel, key and ordinal."
        ),
    ] = "content",
    theme: ThemeOption = None,
    limit: LimitOption = None,
) -> int:
    """Show or print where two recordings differ, and why; exit 1 if they do."""
    if not (as_json or text or explain or everything) and all(map(os.path.isfile, (a, b))) and has_screen():
        return _show_screen(a, b, align, theme, limit)
    return diff_files(a, b, as_json=as_json, explain=explain, everything=everything, align=align, limit=limit)


def diff_files(
    a: str,
    b: str,
    *,
    as_json: bool = False,
    explain: bool = False,
    everything: bool = False,
    align: AlignMode = "content",
    limit: list[str] | None = None,
) -> int:
    """Compare two files and print the result as text or JSON; return the exit code.

    Raises:
        StashError: One of them cannot be read or is not a recording.
    """
    from stashdbg_core.diff import diff_recordings
    from stashdbg_core.diff.explain import explain as explained

    if a == b == STANDARD_INPUT:
        raise invalid_input("standard input holds one recording", hint="name a file for the other")
    result = diff_recordings(load_recording(a, limit), load_recording(b, limit), align=align)
    why = explained(result) if explain else None
    if as_json:
        from stashdbg.cli.diff_json import diff_chunks

        for chunk in diff_chunks(result, why, everything=everything):
            console.ascii_text(chunk)
    else:
        from stashdbg.cli.diff_text import print_diff

        print_diff(result, (a, b), why, everything=everything)
    return exit_codes.OK if result.same else exit_codes.DIFFERENT


def _show_screen(a: str, b: str, align: AlignMode, theme: str | None, limit: list[str] | None) -> int:
    """Show the difference on this terminal; return 1 if they differ, 0 if not, 130 if that was not waited for."""
    from stashdbg_tui.diff_app import run_diff

    found = run_diff(Path(a), Path(b), limits=limits_of(limit), theme=theme, align=align)
    return exit_codes.INTERRUPTED if found is None else found
