"""The lines of the program around a call's ``site``, read as data.

A recording may name any file. Only a regular file that lies, links followed, under a folder the user confirmed is
read; nothing is imported or run, and nothing of it goes into an export.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from stashdbg_core.errors import invalid_input, not_found
from stashdbg_core.sanitize import shorten

_SITE = re.compile(r"(?P<file>[^\x00\n]{1,1000}?):(?P<line>\d{1,7})(?: (?P<function>.{1,500}))?")
_LARGEST = 5_000_000
_LONGEST_LINE = 2000
_MOST_ENTRIES = 20_000
"""Directory entries looked at for a file of a site's name."""
_OTHERS = frozenset({"site-packages", "node_modules", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Site:
    """A place in a program, as a recording names it."""

    file: str
    line: int
    function: str | None


@dataclass(frozen=True, slots=True)
class SourceLines:
    """Some lines of a file, one of them the site's."""

    path: Path
    """Absolute, links followed: what an editor may be given."""
    first: int
    """Number of the first line shown."""
    line: int
    """Number of the site's line; it may lie beyond the end of a file that was changed."""
    lines: tuple[str, ...]
    """Unsanitised, long ones cut."""


def parse_site(text: str) -> Site | None:
    """Return a site such as ``agent.py:42 plan``; None if it is none."""
    found = _SITE.fullmatch(text)
    if found is None or int(found["line"]) < 1:
        return None
    return Site(found["file"], int(found["line"]), found["function"])


def source_lines(text: str, folders: Sequence[Path], *, around: int = 12) -> SourceLines:
    """Return the lines around a site.

    Recorders name a file without its folder; then the shallowest file of that name counts.

    Args:
        text: The site.
        folders: Folders that the user confirmed.
        around: Lines shown before and after.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no site; ``ERR_NOT_FOUND``: none of the folders has such a file.
    """
    site = parse_site(text)
    if site is None:
        raise invalid_input(f"{shorten(text, 80)!r} names no line of a program")
    for path in (path for folder in folders for path in _candidates(folder, site.file)):
        data = _read(path)
        if data is not None:
            every = data.decode("utf-8", "replace").splitlines()
            first = max(site.line - around, 1)
            shown = (line[:_LONGEST_LINE] for line in every[first - 1 : site.line + around])
            return SourceLines(path, first, site.line, tuple(shown))
    where = "no folder with sources was confirmed" if not folders else "no confirmed folder has it"
    raise not_found(f"no source for {shorten(site.file, 120)}: {where}", hint="confirm the folder the program lies in")


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    """Yield the files that a site may mean: the one it names, then those of that name, the shallowest first."""
    named = _inside(folder, name)
    if named is not None:
        yield named
    if os.path.basename(name) != name:
        return
    folders, looked_at = [os.path.realpath(folder)], 0
    while folders and looked_at < _MOST_ENTRIES:
        below: list[str] = []
        for place in folders:
            try:
                entries = sorted(os.scandir(place), key=lambda entry: entry.name)
            except OSError:
                continue
            looked_at += len(entries)
            yield from (Path(entry.path) for entry in entries if entry.name == name and not entry.is_symlink())
            below += [entry.path for entry in entries if _is_own_folder(entry)]
        folders = below


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name not in _OTHERS


def _inside(folder: Path, name: str) -> Path | None:
    """Return the real path of a file if it lies in a folder; an absolute name counts only if it does."""
    try:
        root = os.path.realpath(folder)
        path = os.path.realpath(os.path.join(root, name))
    except (OSError, ValueError):
        return None
    return Path(path) if os.path.commonpath([root, path]) == root and path != root else None


def _read(path: Path) -> bytes | None:
    """Return a small regular file; None for anything else, which is not even waited for."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > _LARGEST:
            return None
        return os.pread(descriptor, _LARGEST, 0)
    except OSError:
        return None
    finally:
        os.close(descriptor)
