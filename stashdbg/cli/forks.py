"""``stashdbg forks``: the recordings of a folder as a tree of branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from stashdbg.cli import console
from stashdbg.cli.cells import cell_len, clip
from stashdbg.cli.console import Styled
from stashdbg.cli.json_out import json_text
from stashdbg.cli.loading import limits_of
from stashdbg.cli.notes import narrate_notes
from stashdbg.cli.options import JsonOption, LimitOption
from stashdbg_core.lineage import Branch, lineage

_NAME = 60
_DEEPEST = 40
"""Levels that are indented; deeper ones stand under each other."""


def command(
    folder: Annotated[str, typer.Argument(metavar="[FOLDER]", help="Where to look; this folder if not given.")] = ".",
    as_json: JsonOption = False,
    limit: LimitOption = None,
) -> None:
    """Print the recordings of a folder as a tree of branches."""
    found = lineage(folder, limits=limits_of(limit))
    if as_json:
        console.ascii_text(json_text(found.to_json()) + "\n")
        return
    drawn = list(_drawn(found.roots))
    wide = min(max((cell_len(lead + _name(branch)) for lead, branch in drawn), default=0), _NAME)
    for lead, branch in drawn:
        console.line(Styled(lead, "dim"), *_words(branch, max(wide - cell_len(lead), 0)))
    if not found.roots:
        console.narrate(f"no recordings in {clip(folder, 200)}")
    narrate_notes(found.problems)


def _drawn(roots: tuple[Branch, ...]) -> Iterator[tuple[str, Branch]]:
    """Yield every branch with the lines that lead to it."""
    pending = [("", "", root, 0) for root in reversed(roots)]
    while pending:
        lead, below, branch, depth = pending.pop()
        yield lead, branch
        last = len(branch.children) - 1
        for place in range(last, -1, -1):
            here, on = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
            inner = below if depth < _DEEPEST else below[: 3 * _DEEPEST]
            pending.append((inner + here, inner + on, branch.children[place], depth + 1))


def _name(branch: Branch) -> str:
    return clip(branch.id if branch.file is None else branch.file.name, _NAME) or "(no id)"


def _words(branch: Branch, wide: int) -> list[console.Part]:
    name = _name(branch)
    filled = name + " " * (wide - cell_len(name))
    if branch.file is None:
        return [Styled(filled, "bold"), Styled("  not in this folder", "warning")]
    count = "" if branch.events is None else f"  {branch.events:,} event{'' if branch.events == 1 else 's'}"
    at = "" if branch.at is None else f"  forked at {branch.at}"
    put_in = {"value": " with another value", "error": " with an error"}.get(branch.override or "", "")
    return [Styled(filled, "bold"), f"{count}{at}{put_in}  ", Styled(clip(branch.id, _NAME), "dim")]
