"""The recordings of a folder as a tree of forks, read from the ends of the files.

Nothing is left out because its parent is not there: a fork names its parent, and that name stands in the tree. Files
that cannot be read are listed as such; JSON files that are no recordings are counted and nothing more.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, not_found
from stashdbg_core.model import RawObject, Recording
from stashdbg_core.parse import parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.source import FileSource, Source

_SUFFIXES = (".json", ".journal")
_SMALL = 4_000_000
"""Bytes up to which a file is simply opened."""
_END = 1 << 16
_BLOCK = 1 << 22
_EVENTS_END = b'\n],"blobs":{'
_META = b'\n},"meta":'
_HEAD = b'{"version":1,"id":'


@dataclass(frozen=True, slots=True)
class Branch:
    """A recording in a folder, or the name of one that is not there."""

    id: str
    file: Path | None
    """None for a parent that the folder does not have."""
    parent: str | None = None
    """Id of the recording it was forked from."""
    at: int | None = None
    """``seq`` of the event it was forked at."""
    override: str | None = None
    """``value`` or ``error``: what took the place of the outcome there, if anything."""
    events: int | None = None
    children: list[Branch] = field(default_factory=list)

    def to_json(self) -> dict[str, Json]:
        """Return the branch as JSON, without its children."""
        return {
            "id": self.id,
            "file": None if self.file is None else str(self.file),
            "parent": self.parent,
            "at": self.at,
            "events": self.events,
            "override": self.override,
        }


@dataclass(frozen=True, slots=True)
class Lineage:
    """Every branch of a folder."""

    roots: tuple[Branch, ...]
    """Recordings that are no forks, and missing parents; by file name."""
    problems: tuple[str, ...]
    """What could not be read, and what is odd, a sentence each; unsanitised file names in it."""
    others: int
    """JSON files that are no recordings."""

    def walk(self) -> Iterator[tuple[Branch, int]]:
        """Yield every branch and its depth, parents first."""
        pending = [(root, 0) for root in reversed(self.roots)]
        while pending:
            branch, depth = pending.pop()
            yield branch, depth
            pending += [(child, depth + 1) for child in reversed(branch.children)]

    def to_json(self) -> dict[str, Json]:
        """Return the lineage as JSON, parents first."""
        found = [branch.to_json() for branch, _ in self.walk() if branch.file is not None]
        return {"recordings": found, "problems": list(self.problems), "others": self.others}


def lineage(folder: str | os.PathLike[str] = ".", *, limits: Limits = Limits()) -> Lineage:
    """Read the branches of a folder; its subfolders are not looked into.

    Raises:
        StashError: ``ERR_NOT_FOUND``: it is no folder, or cannot be read.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if _is_candidate(entry))
    except OSError as error:
        reason = error.strerror or "the file system refused"
        shown = shorten(str(folder), 200)
        raise not_found(f"cannot list {shown}: {reason}", hint="name a folder") from error
    branches: list[Branch] = []
    problems: list[str] = []
    others = 0
    for name in names:
        path = Path(folder, name)
        try:
            branches.append(read_branch(path, limits))
        except StashError as error:
            if _is_damaged_recording(path):
                problems.append(error.message if name in error.message else f"{name}: {error.message}")
            else:
                others += 1
    roots = _tree(branches, problems)
    return Lineage(tuple(roots), tuple(problems), others)


def read_branch(path: Path, limits: Limits = Limits()) -> Branch:
    """Return what a file says of itself; a large one is not indexed if it has the layout that we write.

    Raises:
        StashError: It cannot be read, or is not a recording.
    """
    source = FileSource(path)
    found = _from_ends(source) if source.size > _SMALL else None
    if found is not None:
        recording_id, meta, count = found
    else:
        recording: Recording = open_recording(path, limits=limits)
        recording_id, meta, count = recording.id, recording.meta, len(recording.events)
    about = meta.get("fork")
    about = about if isinstance(about, dict) else {}
    return Branch(
        recording_id,
        path,
        about["parent"] if isinstance(about.get("parent"), str) else None,
        about["at"] if type(about.get("at")) is int else None,
        about["override"] if isinstance(about.get("override"), str) else None,
        count,
    )


def _is_candidate(entry: os.DirEntry[str]) -> bool:
    if not entry.name.endswith(_SUFFIXES) or entry.name.endswith(".seal.json"):
        return False
    try:
        return stat.S_ISREG(entry.stat().st_mode)
    except OSError:
        return False


def _is_damaged_recording(path: Path) -> bool:
    """Tell whether a file that does not open was meant as a recording, or cannot be read at all."""
    try:
        head = FileSource(path).read_at(0, 4096)
    except StashError:
        return True
    return not head.strip() or b'"events"' in head or head.startswith((_HEAD, b'{"stash":"journal"'))


def _from_ends(source: Source) -> tuple[str, RawObject, int] | None:
    """Return id, ``meta`` and the number of events of a file in the layout that we write, or None.

    In it no raw line feed stands inside an event or a value, so the lines are the events.
    """
    head = source.read_at(0, _END)
    tail = source.read_at(max(0, source.size - _END), _END)
    start, end = tail.rfind(_META), head.find(b',"events":[\n')
    if not head.startswith(_HEAD) or start < 0 or end < 0:
        return None
    try:
        recording_id = parse_json(head[len(_HEAD) : end])
        top: dict[str, Any] = msgspec.json.decode(b"{" + tail[start + 3 :], type=dict[str, msgspec.Raw])
        meta = msgspec.json.decode(top["meta"], type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, StashError, UnicodeDecodeError, KeyError):
        return None
    count = _count_lines(source, end)
    if count is None or not isinstance(recording_id, str):
        return None
    return recording_id, RawObject({key: bytes(raw) for key, raw in meta.items()}), count


def _count_lines(source: Source, start: int) -> int | None:
    """Count the lines from ``start`` to the end of the events."""
    lines = 0
    carried = b""
    for offset in range(start, source.size, _BLOCK):
        block = carried + source.read_at(offset, _BLOCK)
        end = block.find(_EVENTS_END)
        if end >= 0:
            return lines + block.count(b"\n", 0, end)
        keep = len(_EVENTS_END) - 1
        lines += block.count(b"\n", 0, len(block) - keep)
        carried = block[len(block) - keep :]
    return None


def _tree(branches: list[Branch], problems: list[str]) -> list[Branch]:
    """Put every branch under its parent; return those that have none."""
    by_id: dict[str, list[Branch]] = defaultdict(list)
    for branch in branches:
        by_id[branch.id].append(branch)
    for twice in by_id.values():
        if len(twice) > 1:
            files = ", ".join(branch.file.name for branch in twice[:5] if branch.file is not None)
            problems.append(f"{len(twice)} files have the id {shorten(twice[0].id, 80)}: {files}")
    roots: list[Branch] = []
    missing: dict[str, Branch] = {}
    looped = _in_loops(branches, by_id)
    for branch in branches:
        if branch.parent is None or branch.id in looped:
            roots.append(branch)
        elif branch.parent in by_id:
            by_id[branch.parent][0].children.append(branch)
        else:
            if branch.parent not in missing:
                missing[branch.parent] = Branch(branch.parent, None)
                roots.append(missing[branch.parent])
            missing[branch.parent].children.append(branch)
    problems += [f"{shorten(name, 80)} is said to be forked from itself" for name in looped]
    for twins in by_id.values():
        twins[0].children.sort(key=lambda child: (child.at if child.at is not None else -1, str(child.file)))
    return roots


def _in_loops(branches: list[Branch], by_id: dict[str, list[Branch]]) -> dict[str, None]:
    """Return one id of every circle of parents: it counts as a root, so that the tree has an end."""
    settled: set[str] = set()
    looped: dict[str, None] = {}
    for branch in branches:
        path: dict[str, None] = {}
        name: str | None = branch.id
        while name is not None and name in by_id and name not in settled:
            if name in path:
                looped[name] = None
                break
            path[name] = None
            name = by_id[name][0].parent
        settled.update(path)
    return looped
