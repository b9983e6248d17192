"""What a recording made from a foreign file holds for certain, what was inferred, and what the file did not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stashdbg_core.canonical import Json
from stashdbg_core.formats.registry import format_named
from stashdbg_core.model import Recording
from stashdbg_core.sanitize import shorten


@dataclass(frozen=True, slots=True)
class Explanation:
    """How far a recording is to be trusted."""

    format: str | None
    """Name of the foreign format; None for a recording of ours."""
    title: str
    file: str
    exact: tuple[str, ...] = ()
    inferred: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unknown: Mapping[str, int] = field(default_factory=dict)
    """Records and fields that this version does not know, kept where they could be."""
    skipped: Mapping[str, int] = field(default_factory=dict)
    """What was left out on purpose."""
    damaged_lines: int = 0
    inferred_events: int = 0
    cut_events: int = 0
    pending: int = 0
    """Calls without an outcome."""

    def to_json(self) -> dict[str, Json]:
        """Return it as JSON."""
        return {
            "format": self.format,
            "title": self.title,
            "file": self.file,
            "exact": list(self.exact),
            "inferred": list(self.inferred),
            "missing": list(self.missing),
            "unknown": dict(self.unknown),
            "skipped": dict(self.skipped),
            "damagedLines": self.damaged_lines,
            "inferredEvents": self.inferred_events,
            "cutEvents": self.cut_events,
            "pending": self.pending,
        }


def explain(recording: Recording) -> Explanation:
    """Explain a recording; one of our own is exact throughout."""
    source = recording.meta.get("source")
    name = source.get("format") if isinstance(source, dict) else None
    if not isinstance(source, dict) or not isinstance(name, str):
        file = recording.path.name if recording.path is not None else recording.id
        return Explanation(None, "stashdbg recording", file, exact=("everything that was recorded",))
    known = format_named(name)
    marks = [event.extra for event in recording.events if event.extra]
    return Explanation(
        format=name,
        title=known.title if known is not None else shorten(name, 60),
        file=shorten(str(source.get("file", "")), 200),
        exact=known.exact if known is not None else (),
        inferred=known.inferred if known is not None else (),
        missing=known.missing if known is not None else (),
        unknown=_counts(source.get("unknown")),
        skipped=_counts(source.get("skipped")),
        damaged_lines=_count(source.get("damagedLines")),
        inferred_events=sum("inferred" in extra for extra in marks),
        cut_events=sum("cut" in extra for extra in marks),
        pending=_count(source.get("pending")),
    )


def _counts(table: Json) -> dict[str, int]:
    if not isinstance(table, dict):
        return {}
    return {shorten(key, 120): count for key, count in table.items() if type(count) is int}


def _count(value: Json) -> int:
    return value if type(value) is int else 0
