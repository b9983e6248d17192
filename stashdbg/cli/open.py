"""``stashdbg FILE…``: the debugger on a terminal, the plain listing anywhere else; without a file, what is at hand."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli.open_files import choose, explain_files, open_files
from stashdbg.cli.options import ExplainOption, JsonOption, LimitOption, RunOption, ThemeOption


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE...", help="Recordings, or other tools' files; - reads standard input."),
    ] = None,
    as_json: JsonOption = False,
    theme: ThemeOption = None,
    limit: LimitOption = None,
    run: RunOption = None,
    explain: ExplainOption = False,
) -> int:
    """Open recordings in the debugger; without a terminal, list their events.

    Of a folder: what lies in it, to choose from. Without a file: what was opened lately, and the sessions of agents
    nearby.
    """
    if not files:
        return choose(theme, limit)
    if explain:
        return explain_files(files, as_json=as_json, limit=limit, run=run)
    return open_files(files, as_json=as_json, theme=theme, limit=limit, run=run)
