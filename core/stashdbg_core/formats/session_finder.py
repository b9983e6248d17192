"""What there is to open: files opened lately, sessions of agents in their usual folders, recordings in this one.

The walk is bounded in depth and number, and follows no symbolic link. A title is read from the first lines of a file,
secrets masked; of files past the newest few hundred it is the file's name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.openhands.folder import EVENTS, STATE
from stashdbg_core.formats.recent import RecentFiles
from stashdbg_core.formats.session_titles import title_of
from stashdbg_core.redact import Redactor
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.journal_place import still_at
from stashdbg_core.store.native import HEAD, is_native

MOST_ENTRIES = 20_000
"""Entries of folders looked at for one tool."""
MOST_FOUND = 1000
"""Files listed; the oldest are left out."""
TITLED = 300
"""Files that are looked into for a title."""
_SNIFFED = 200
"""Files of the current folder that are looked into to tell recordings from other JSON."""
_OURS = ("*.json", "*.jsonl", "*.journal", "*.rewind", "*.traj")
SEAL = ".seal.json"
"""How a seal's name ends: it begins as a recording does, but is none."""


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A file that can be opened."""

    path: Path
    tool: str
    """Who wrote it, as far as its place tells: ``Claude Code``."""
    changed: float
    """When it changed, or was opened, in seconds since the epoch."""
    size: int
    title: str = ""
    opened: bool = False
    """Whether it was opened here before."""
    events: int | None = None
    """How many events it has, where they were counted."""
    runs: int | None = None
    """How many runs it holds, where there are several and they were counted."""

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "path": str(self.path),
            "tool": self.tool,
            "changed": int(self.changed * 1000),
            "size": self.size,
            "title": self.title,
            "opened": self.opened,
            "events": self.events,
            "runs": self.runs,
        }


@dataclass(frozen=True, slots=True)
class Place:
    """A folder in which a tool keeps its sessions."""

    tool: str
    folder: Path
    patterns: tuple[str, ...]
    depth: int
    """How many folders down files may lie."""
    skipped: frozenset[str] = frozenset()
    """Names of folders that hold parts of sessions, not sessions."""


def places(home: Path, environment: Mapping[str, str], folder: Path) -> tuple[Place, ...]:
    """Return where sessions are looked for.

    Args:
        home: The user's home folder.
        environment: Environment variables; some tools' folders can be moved by one.
        folder: The current folder.
    """
    claude = _moved(environment.get("CLAUDE_CONFIG_DIR"), home / ".claude")
    codex = _moved(environment.get("CODEX_HOME"), home / ".codex")
    kept = _moved(environment.get("OPENHANDS_PERSISTENCE_DIR"), home / ".openhands")
    openhands = _moved(environment.get("OPENHANDS_CONVERSATIONS_DIR"), kept / "conversations")
    data = _moved(environment.get("XDG_DATA_HOME"), home / ".local" / "share")
    rollouts = ("rollout-*.jsonl", "rollout-*.jsonl.zst")
    return (
        Place("Claude Code", claude / "projects", ("*.jsonl",), 1, frozenset({"subagents"})),
        Place("Codex", codex / "sessions", rollouts, 3),
        Place("Codex", codex / "archived_sessions", rollouts, 3),
        Place("Gemini CLI", home / ".gemini" / "tmp", ("session-*.jsonl", "session-*.json"), 2),
        Place("Copilot CLI", home / ".copilot" / "session-state", ("events.jsonl", "*.jsonl"), 1),
        Place("OpenHands", openhands, (STATE,), 1, frozenset({EVENTS})),
        Place("opencode", data / "opencode", ("opencode*.db",), 0),
        Place("pi", home / ".pi" / "agent" / "sessions", ("*.jsonl",), 2),
        Place("Inspect", folder / "logs", ("*.eval", "*.json"), 2),
    )


def find_sessions(
    home: Path, environment: Mapping[str, str], folder: Path, recent: RecentFiles | None = None
) -> list[FoundSession]:
    """Return what there is to open, the newest first; what cannot be read is left out. See ``places``."""
    found: dict[str, FoundSession] = {}
    for place in places(home, environment, folder):
        for path, facts in files_below(place.folder, place.patterns, place.depth, place.skipped):
            found[str(path.absolute())] = FoundSession(path, place.tool, facts.st_mtime, facts.st_size)
    for path, facts, tool in _in_folder(folder):
        found.setdefault(str(path.absolute()), FoundSession(path, tool, facts.st_mtime, facts.st_size))
    for entry in recent.read() if recent is not None else ():
        path = still_at(Path(entry.path))
        known = found.get(str(path))
        opened = _opened(path, entry.opened, entry.title, known)
        if opened is not None and not (known is not None and known.opened):
            found[str(path)] = opened
    ordered = sorted(found.values(), key=lambda session: session.changed, reverse=True)[:MOST_FOUND]
    return titled(ordered)


def matching(sessions: Sequence[FoundSession], text: str) -> list[FoundSession]:
    """Return the sessions in whose title, tool or path every word of a text occurs, letter case aside."""
    words = text.casefold().split()
    return [
        session
        for session in sessions
        if all(word in f"{session.title} {session.tool} {session.path}".casefold() for word in words)
    ]


def titled(sessions: Sequence[FoundSession]) -> list[FoundSession]:
    """Return sessions with their titles, secrets masked; one that has none yet is looked into for it."""
    redactor = Redactor()
    named = []
    for place, session in enumerate(sessions):
        title = session.title or (title_of(session.path) if place < TITLED else "")
        named.append(replace(session, title=shorten(redactor.redact_text(title), 200)))
    return named


def _opened(path: Path, when: float, title: str, known: FoundSession | None) -> FoundSession | None:
    file = path if path.exists() else path.parent  # a run of a file is named as if the file were a folder
    try:
        facts = file.stat()
    except OSError:
        return None
    if not stat.S_ISREG(facts.st_mode):
        return None
    tool = known.tool if known is not None else ""
    return FoundSession(path, tool, max(when, facts.st_mtime), facts.st_size, title, opened=True)


def _in_folder(folder: Path) -> Iterator[tuple[Path, os.stat_result, str]]:
    """Yield the recordings of the current folder: ours, and agentfootprint's."""
    ours = (entry for entry in files_below(folder, _OURS, 0) if not entry[0].name.endswith(SEAL))
    newest = sorted(ours, key=lambda entry: entry[1].st_mtime, reverse=True)
    for path, facts in newest[:_SNIFFED]:
        try:
            with path.open("rb") as file:
                head = file.read(HEAD)
        except OSError:
            continue
        if is_native(head):
            yield path, facts, "stashdbg"
        elif b"agentfootprint" in head[:4096]:
            yield path, facts, "agentfootprint"


def files_below(
    folder: Path, patterns: Sequence[str], depth: int, skipped: frozenset[str] = frozenset()
) -> Iterator[tuple[Path, os.stat_result]]:
    """Yield regular files below a folder whose names fit; symbolic links are not followed."""
    pending = [(folder, 0)]
    seen = 0
    while pending and seen < MOST_ENTRIES:
        current, level = pending.pop()
        try:
            entries = os.scandir(current)
        except OSError:
            continue
        with entries:
            for entry in entries:
                seen += 1
                if seen > MOST_ENTRIES:
                    break
                try:
                    if entry.is_dir(follow_symlinks=False):
                        if level < depth and entry.name not in skipped:
                            pending.append((Path(entry.path), level + 1))
                    elif entry.is_file(follow_symlinks=False) and any(
                        fnmatchcase(entry.name, pattern) for pattern in patterns
                    ):
                        yield Path(entry.path), entry.stat(follow_symlinks=False)
                except OSError:
                    continue


def _moved(given: str | None, usual: Path) -> Path:
    return Path(given) if given else usual
