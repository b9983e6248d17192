"""A folder's branches as lines of a tree, and which two of them a person means to compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stashdbg_core.lineage import Branch, Lineage
from stashdbg_core.model import Recording
from stashdbg_core.session.words import counted

_DEEPEST = 40
"""Levels that are indented; deeper ones stand under each other."""


@dataclass(frozen=True, slots=True)
class BranchLine:
    """One line of the tree."""

    lead: str
    """The lines that lead to it."""
    branch: Branch
    parent: Branch | None

    @property
    def name(self) -> str:
        """What to call it, unsanitised: its file, or the id of one that is not there."""
        return self.branch.file.name if self.branch.file is not None else self.branch.id or "(no id)"

    @property
    def words(self) -> str:
        """How long it is, where it left its parent, and with what."""
        branch = self.branch
        if branch.file is None:
            return "not in this folder"
        count = "" if branch.events is None else counted(branch.events, "event")
        at = "" if branch.at is None else f"forked at event {branch.at}"
        put_in = {"value": " with another value", "error": " with an error"}.get(branch.override or "", "")
        return ", ".join(part for part in (count, f"{at}{put_in}".strip()) if part)


def branch_lines(lineage: Lineage) -> list[BranchLine]:
    """Return the tree line by line, parents first."""
    lines: list[BranchLine] = []
    pending: list[tuple[str, str, Branch, Branch | None, int]] = [
        ("", "", root, None, 0) for root in reversed(lineage.roots)
    ]
    while pending:
        lead, below, branch, parent, depth = pending.pop()
        lines.append(BranchLine(lead, branch, parent))
        last = len(branch.children) - 1
        inner = below if depth < _DEEPEST else below[: 3 * _DEEPEST]
        for place in range(last, -1, -1):
            here, on = ("└─ ", "   ") if place == last else ("├─ ", "│  ")
            pending.append((inner + here, inner + on, branch.children[place], branch, depth + 1))
    return lines


def line_of(lines: list[BranchLine], recording: Recording | None) -> int | None:
    """Return the line of a recording that is open; None if it is not among them."""
    if recording is None or recording.path is None:
        return None
    here = recording.path.absolute()
    found = (
        at for at, line in enumerate(lines) if line.branch.file is not None and line.branch.file.absolute() == here
    )
    return next(found, None)


def pair_of(
    lines: list[BranchLine], cursor: int, marked: list[int], recording: Recording | None
) -> tuple[Path | Recording, Path | Recording] | str:
    """Return the two that are meant: the marked ones, or the one at the cursor and the marked, open or parent one.

    Returns:
        Two files, or a file and the recording that is open, a parent before its fork; or why there are no two.
    """
    chosen = [*marked, cursor] if len(marked) == 1 and cursor not in marked else list(marked) or [cursor]
    files = [lines[at].branch.file for at in chosen[:2]]
    if any(file is None for file in files):
        return "that recording is not in this folder"
    if len(files) == 2 and files[0] is not None and files[1] is not None:
        return files[0], files[1]
    only, line = files[0], lines[chosen[0]]
    assert only is not None
    here = line_of(lines, recording)
    if recording is not None and here != chosen[0]:
        is_parent = here is not None and lines[here].parent is line.branch
        return (only, recording) if is_parent else (recording, only)
    if line.parent is not None and line.parent.file is not None:
        return line.parent.file, only
    return "mark two with Space, or go to another one"
