"""``stashdbg forks``: the recordings of a folder as a tree of forks."""

from __future__ import annotations

from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import cell_len, clip
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import limits_of
from stashdbg.cli.notes import narrate_notes
from stashdbg.cli.options import JsonOption, LimitOption
from stashdbg_core.lineage import lineage
from stashdbg_core.session.branches import BranchLine, branch_lines

_NAME = 60
_LEAST = 12
"""Cells below which an id is left out."""


def command(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where to look; this folder if not given.")] = ".",
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """Print the recordings of a folder as a tree of forks."""
    found = lineage(folder, limits=limits_of(limit))
    if as_json:
        console.ascii_text(json_text(found.to_json()) + "\n")
        return
    lines = branch_lines(found)
    wide = min(max((cell_len(line.lead + clip(line.name, _NAME)) for line in lines), default=0), _NAME)
    for line in lines:
        console.line(Styled(line.lead, "dim"), *_parts(line, max(wide - cell_len(line.lead), 0)))
    if not found.roots:
        console.narrate(f"no recordings in {clip(folder, 200)}")
    narrate_notes(found.problems)


def _parts(line: BranchLine, wide: int) -> list[console.Part]:
    name = clip(line.name, _NAME)
    filled = name + " " * (wide - cell_len(name))
    if line.branch.file is None:
        return [Styled(filled, "bold"), Styled(f"  {line.words}", "warning")]
    said = f"  {line.words}"
    room = console.width() - cell_len(line.lead + filled + said) - 2
    shown = clip(line.branch.id, min(room, _NAME)) if room >= _LEAST else ""
    return [Styled(filled, "bold"), said, Styled(f"  {shown}" if shown else "", "dim")]
