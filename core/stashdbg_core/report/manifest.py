"""The statement at the front of a bundle: what is in it, how large, what was left out, what was masked.

It names only what is in the bundle. Of what was left out it says how much there is, never what it is called.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_input
from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER, WORD
from stashdbg_core.report.bundle_reader import MANIFEST
from stashdbg_core.report.units import Unit

KIND: Final = "bug-report"
VERSION: Final = 1
_ROUNDS: Final = 12
_BEFORE: Final = 64
"""Bytes before the word in which a placeholder can begin."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The reporter's words."""

    title: str
    steps: str = ""
    expected: str = ""
    actual: str = ""

    def to_json(self) -> dict[str, Json]:
        """Return them as the manifest has them."""
        return {"title": self.title, "steps": self.steps, "expected": self.expected, "actual": self.actual}


@dataclass(frozen=True, slots=True)
class ReportFile:
    """One file of a bundle."""

    name: str
    data: bytes
    units: tuple[str, ...] = ()
    """Ids of the units in it."""
    kinds: Mapping[str, int] = field(init=False)
    """How many placeholders of each kind stand in it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", placeholder_kinds(self.data))

    @property
    def text(self) -> str:
        """The file's text, for a preview; recorded text in it is as safe as JSON escapes make it: sanitise it."""
        return self.data.decode("utf-8", "replace")

    @property
    def masked(self) -> int:
        """How many placeholders stand in it."""
        return sum(self.kinds.values())


def placeholder_kinds(data: bytes) -> dict[str, int]:
    """Return how many placeholders of each kind stand in some text; only lines that hold one are looked at."""
    counts: Counter[str] = Counter()
    word = WORD.encode()
    at = data.find(word)
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        line = data[max(start, at - _BEFORE) : end if end >= 0 else len(data)]
        counts.update(match["kind"] or "unnamed" for match in ANY_PLACEHOLDER.finditer(line.decode("utf-8", "replace")))
        at = data.find(word, end) if end >= 0 else -1
    return dict(sorted(counts.items()))


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything a manifest is made of."""

    now: datetime
    fields: Fields | None
    offered: Sequence[Unit]
    selected: Sequence[Unit]
    runs: int
    """How many have a selected conversation."""
    files: Sequence[ReportFile]
    warnings: Sequence[str]
    notes: Sequence[str]
    redacted_names: Sequence[str]
    ceiling: int
    trim_hints: Sequence[str] = ()


def manifest_of(contents: Contents) -> tuple[dict[str, Json], bytes]:
    """Return the manifest and its text; its own size in it is the size of that text.

    The text grows with the sizes it states and they with it, by less each time, so that stating them anew ends.
    """
    tree = _tree(contents)
    rest = sum(len(file.data) for file in contents.files)
    size = 0
    for _ in range(_ROUNDS):
        tree["files"][0]["bytes"], tree["totalBytes"] = size, size + rest
        if "oversize" in tree:
            tree["oversize"]["totalBytes"] = size + rest
        text = json_file(tree)
        if len(text) == size:
            break
        size = len(text)
    return tree, text


def json_file(tree: Json) -> bytes:
    """Return a tree as indented JSON; half of a character pair is written as its escape."""
    return (json.dumps(tree, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def moment(now: datetime) -> str:
    """Return a moment as the manifest has it, in UTC.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it has no time zone.
    """
    if now.tzinfo is None:
        raise invalid_input("the moment of the report has no time zone", hint="give it one, such as UTC")
    return now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def file_name(title: str, now: datetime) -> str:
    """Return a name for the archive: date and title."""
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60].rstrip("-") or "bug-report"
    return f"{moment(now)[:10]}-{slug}.zip"


def _tree(contents: Contents) -> dict[str, Json]:
    chosen = contents.selected
    ids = {unit.id for unit in chosen}
    left = [unit for unit in contents.offered if unit.id not in ids]
    conversations = [unit for unit in chosen if unit.kind == "conversation"]
    tree: dict[str, Json] = {
        "stash": KIND,
        "manifestVersion": VERSION,
        "createdAt": moment(contents.now),
        "report": contents.fields.to_json() if contents.fields is not None else None,
        "units": [unit.to_json() for unit in chosen],
        "excluded": {
            "conversations": sum(unit.kind == "conversation" for unit in left),
            "files": sum(unit.kind == "file" for unit in left),
            "events": sum(unit.events for unit in left),
        },
        "files": [{"name": MANIFEST, "bytes": 0, "masked": 0}]
        + [
            {"name": file.name, "bytes": len(file.data), "masked": file.masked, "units": list(file.units)}
            for file in contents.files
        ],
        "counts": {
            "conversations": len(conversations),
            "runs": contents.runs,
            "events": sum(unit.events for unit in conversations),
            "failed": sum(unit.failed for unit in conversations),
            "inFlight": sum(unit.in_flight for unit in conversations),
            "files": len(contents.files) + 1,
        },
        "totalBytes": 0,
        "redacted": {"names": list(contents.redacted_names), "kinds": _kinds(contents.files)},
        "warnings": list(contents.warnings),
        "notes": list(contents.notes),
    }
    if contents.trim_hints:
        tree["oversize"] = {
            "totalBytes": 0,
            "limitBytes": contents.ceiling,
            "trimHints": list(contents.trim_hints),
        }
    return {key: value for key, value in tree.items() if value is not None}


def _kinds(files: Sequence[ReportFile]) -> dict[str, Json]:
    """Return how many placeholders of each kind stand in the recordings of a bundle."""
    counts: Counter[str] = Counter()
    for file in files:
        if file.name.startswith("recording"):
            counts.update(file.kinds)
    return dict(sorted(counts.items()))
