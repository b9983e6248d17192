"""What running on from a fork will do, said before anything runs.

What comes after the fork point is not in a fork. Its parent, if it lies in the same folder, shows what the program did
then; otherwise the calls before the point show whom it talks to. Neither is a promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from stashdbg_core.calls import MEASURED_CHANNELS
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.runs.continuing_run import Name, unknown_rerun
from stashdbg_core.programs.runs.parents import parent_of
from stashdbg_core.programs.tapes.secrets import check_held
from stashdbg_core.redact.placeholders import ANY_PLACEHOLDER
from stashdbg_core.sanitize import listed, shorten
from stashdbg_core.session.words import counted
from stashdbg_core.store.sharing_tags import may_share

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_HARMLESS = MEASURED_CHANNELS | {"llm", "stdin"}
"""Channels of what nobody outside notices."""
_SHOWN = 12
Source = Literal["parent", "prefix", "nothing"]
Calls = tuple[tuple[str, str, int], ...]
"""Channel, key, and how many."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What will be served and what will run."""

    command: str
    served: dict[str, int]
    """Recorded calls by channel."""
    live: Calls
    """Calls that run for real if the program does as before; see ``source``."""
    source: Source
    """Where ``live`` is from: the parent's calls after the fork point, the names of those before it, or nowhere."""
    hosts: tuple[str, ...]
    """Whom the model calls and requests of ``live`` went to when they were recorded."""
    effects: Calls
    """Served calls that changed something outside, which is not done again."""
    rerun: tuple[str, ...]
    placeholders: tuple[tuple[str, int], ...]
    """Placeholders in served values that no secret fills, and the first event with each: the program may send them."""
    at: int | None = None
    override: str | None = None
    """``value`` or ``error`` if the outcome at ``at`` was put in by hand."""

    def to_json(self) -> dict[str, Json]:
        """Return the preview as JSON."""
        return {
            "command": self.command,
            "at": self.at,
            "override": self.override,
            "served": dict(self.served),
            "live": [{"channel": channel, "key": key, "count": count} for channel, key, count in self.live],
            "liveFrom": self.source,
            "hosts": list(self.hosts),
            "notRedone": [{"channel": channel, "key": key, "count": count} for channel, key, count in self.effects],
            "rerun": list(self.rerun),
            "placeholders": [{"placeholder": text, "seq": seq} for text, seq in self.placeholders],
        }

    def lines(self) -> list[str]:
        """Return the preview for people, unsanitised."""
        served = ", ".join(f"{count:,} {channel}" for channel, count in self.served.items())
        lines = [f"runs: {self.command}", f"served from the recording: {served or 'nothing'}"]
        if self.override is not None:
            lines.append(f"  the {self.override} of event {self.at} is the one put in by hand")
        lines.append(_LIVE[self.source] if self.live or self.source != "parent" else _NOTHING_LIVE)
        lines += _listed(self.live)
        if self.hosts:
            lines.append(f"  hosts: {listed(self.hosts, _SHOWN, 60)}")
        if self.effects:
            lines.append("done before, and not done again (--rerun CHANNEL/KEY does it again):")
            lines += _listed(self.effects)
        lines += [f"runs for real although recorded: {name}" for name in self.rerun]
        if self.placeholders:
            lines.append("placeholders it may send out (--secret PLACEHOLDER=env:NAME fills one):")
            lines += [f"  {text}  from event {seq}" for text, seq in self.placeholders[:_SHOWN]]
            more = len(self.placeholders) - _SHOWN
            lines += [f"  and {more:,} more"] if more > 0 else []
        return lines


_LIVE: dict[Source, str] = {
    "parent": "live after that, if the program does as in the parent:",
    "prefix": "live after that: whatever the program does; up to there it called",
    "nothing": "live after that: whatever the program does",
}
_NOTHING_LIVE = "live after that, if the program does as in the parent: at most clock and random numbers"


def preview(
    recording: Recording, command: Command, *, rerun: Collection[Name] = (), filled: Collection[str] = ()
) -> Preview:
    """Return what continuing a recording will do.

    Args:
        recording: The fork.
        command: What is run.
        rerun: Calls that run for real although they are recorded.
        filled: Placeholders that secrets fill in.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: ``rerun`` names no recorded call, or ``filled`` no placeholder that is there.
    """
    wanted = frozenset(rerun)
    recorded = dict.fromkeys((event.channel, event.key) for event in recording.events if event.parent is None)
    for channel, key in rerun:
        if (channel, key) not in recorded:
            raise unknown_rerun(channel, key, list(recorded))
    check_held(filled, recording)
    served: Counter[str] = Counter()
    names: Counter[Name] = Counter()
    placeholders: dict[str, int] = {}
    for event in recording.events:
        if event.parent is not None or (event.channel, event.key) in wanted:
            continue
        served[event.channel] += 1
        names[event.channel, event.key] += 1
        for text in _placeholders(recording, event):
            if text not in filled:
                placeholders.setdefault(text, event.seq)
    fork: Any = recording.meta.get("fork")
    about: dict[str, Any] = fork if isinstance(fork, dict) else {}
    later = _after(recording, about)
    live = Counter((e.channel, e.key) for e in later) if later is not None else Counter(dict.fromkeys(names, 0))
    source: Source = "parent" if later is not None else "prefix" if _calls(live) else "nothing"
    return Preview(
        command=command.words(),
        served=dict(served),
        live=_calls(live),
        source=source,
        hosts=_hosts(recording, live),
        effects=_calls(Counter({name: count for name, count in names.items() if _has_effect(*name)})),
        rerun=tuple(f"{channel}/{key}" for channel, key in sorted(wanted)),
        placeholders=tuple(placeholders.items()),
        at=about["at"] if type(about.get("at")) is int else None,
        override=about["override"] if about.get("override") in ("value", "error") else None,
    )


def _after(recording: Recording, about: dict[str, Any]) -> list[RecordedEvent] | None:
    """Return the parent's events that the fork dropped, or None if the parent is not in the fork's folder."""
    if type(about.get("at")) is not int:
        return None
    found = parent_of(recording)
    if found is None:
        return None
    kept = {event.seq for event in recording.events}
    return [event for event in found.events if event.seq not in kept and event.parent is None]


def _placeholders(recording: Recording, event: RecordedEvent) -> Iterable[str]:
    raw = recording.blobs.payload(event.ref).raw
    if b"REDACTED" not in raw and not may_share(raw):
        return ()
    try:
        text = recording.blobs.text(event.ref).decode("utf-8", "replace")
    except StashError:
        return ()
    return dict.fromkeys(found[0] for found in ANY_PLACEHOLDER.finditer(text))


def _has_effect(channel: str, key: str) -> bool:
    if channel == "http":
        return key.partition(" ")[0] not in _SAFE_METHODS
    if channel == "mcp":
        return key.rpartition(":")[2] not in _MCP_READS
    return channel not in _HARMLESS


_MCP_READS = frozenset({
    "initialize", "ping", "tools/list", "resources/list", "resources/read", "resources/templates/list",
    "prompts/list", "prompts/get", "notifications/initialized", "logging/setLevel", "completion/complete",
})  # fmt: skip


def _hosts(recording: Recording, names: Iterable[Name]) -> tuple[str, ...]:
    said: Any = recording.meta.get("hosts")
    by_channel: dict[str, Any] = said if isinstance(said, dict) else {}
    hosts: dict[str, None] = {}
    for channel, key in names:
        if channel == "http":
            hosts[key.partition(" ")[2].partition("/")[0]] = None
        elif isinstance(by_channel.get(channel), list):
            hosts.update((host, None) for host in by_channel[channel] if type(host) is str)
    return tuple(host for host in hosts if host)


def _calls(counts: Counter[Name]) -> Calls:
    return tuple((channel, key, count) for (channel, key), count in counts.items() if channel not in MEASURED_CHANNELS)


def _listed(calls: Calls) -> list[str]:
    lines = [
        f"  {shorten(channel, 40)}  {shorten(key, 60)}{f'  {count:,} times' if count > 1 else ''}"
        for channel, key, count in calls[:_SHOWN]
    ]
    more = len(calls) - _SHOWN
    return lines + ([f"  and {counted(more, 'other')}"] if more > 0 else [])
