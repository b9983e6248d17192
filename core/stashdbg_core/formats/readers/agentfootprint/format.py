"""Recordings of agentfootprint: bare, packed, in an envelope, and in the zip archive of its bug reports.

Written for agentfootprint 9.62 (MIT). A recording is ``{snapshot, events, structure}``; one that holds events of
several runs is as many runs. Of an archive the recordings are read, and what its manifest says; the rest repeats them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.agentfootprint.events import Event, RunEvents
from stashdbg_core.formats.readers.agentfootprint.packed import unpacked
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.zip_members import ZIP_MAGICS, ZipMembers
from stashdbg_core.sanitize import listed, shorten

_ANY = "agentfootprint.recording."
_ENVELOPE = "agentfootprint.recording.v1"
_PACKED = "agentfootprint.recording.packed.v1"
_MANIFEST, _ENVIRONMENT = "manifest.json", "environment.json"
_EVIDENCE = re.compile(r"envelope\.json|recording\.json|conversations/conv-([1-9][0-9]{0,5})\.json")
_SEGMENTS = "\x1f"
_NAMED = 20


@dataclass(slots=True)
class _Run:
    """One run, before it is written."""

    id: str | None
    events: list[Event] = field(default_factory=list)
    snapshot: Json = None
    """None where it is another run's of the same recording."""
    envelope: Mapping[str, Any] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    environment: Json = None


def _detect(head: Head) -> bool:
    if head.data.startswith(ZIP_MAGICS):
        members = head.members
        return _MANIFEST in members and any(map(_EVIDENCE.fullmatch, members)) and "header.json" not in members
    top = head.top
    if top is None:
        return False
    written = top.get("format")
    if isinstance(written, str) and written.startswith(_ANY):
        return True
    if "events" in top and b'"agentfootprint.' in head.data and ("snapshot" in top or b'"runtimeStageId"' in head.data):
        return True
    snapshot = head.inside("snapshot") if "events" in top else None
    return snapshot is not None and "commitLog" in snapshot


def _open(source: ForeignSource) -> list[_Run]:
    """Return the runs of a file.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: of a version that is not known, or holding no recording.
    """
    where = shorten(source.name, 200)
    if source.head(4).startswith(ZIP_MAGICS):
        runs = list(_archive(source, where))
    else:
        runs = list(_document(source.json(), source.size, where))
    if not runs:
        raise invalid_recording(f"{where} holds no run: its recording has neither events nor a commit log")
    return runs


def _archive(source: ForeignSource, where: str) -> Iterator[_Run]:
    archive = ZipMembers(source)
    manifest, environment = _known(archive, _MANIFEST), _known(archive, _ENVIRONMENT)
    names = [name for name in archive.members if _EVIDENCE.fullmatch(name)]
    for name in sorted(names, key=_number):
        tree = archive.json(name)
        size, inside = archive.members[name].size, f"{shorten(name, 60)} in {where}"
        held = [tree]
        if isinstance(tree, dict) and name.startswith("conversations/"):
            held = [one for key in ("envelopes", "recordings") for one in _list(tree.get(key))]
        for one in held:
            for run in _document(one, size, inside):
                run.manifest, run.environment = manifest, environment or None
                yield run


def _number(name: str) -> int:
    found = _EVIDENCE.fullmatch(name)
    return int(found[1] or 0) if found is not None else 0


def _known(archive: ZipMembers, name: str) -> dict[str, Any]:
    try:
        tree = archive.json(name)
    except StashError:
        return {}
    return object_of(tree)


def _document(tree: Json, size: int, where: str) -> Iterator[_Run]:
    """Yield the runs of a recording, whatever it is wrapped in."""
    envelope: Mapping[str, Any] = {}
    written = tree.get("format") if isinstance(tree, dict) else None
    if isinstance(tree, dict) and written == _ENVELOPE:
        envelope = {name: value for name, value in tree.items() if name != "recording"}
        tree = tree.get("recording")
        written = tree.get("format") if isinstance(tree, dict) else None
    if isinstance(tree, dict) and written == _PACKED:
        tree = unpacked(tree.get("values"), tree.get("recording"), size, where)
    elif isinstance(written, str) and written.startswith(_ANY):
        raise invalid_recording(
            f"{where} is an agentfootprint recording in a version that is not known: {shorten(written, 60)}",
            hint=f"known are {_ENVELOPE} and {_PACKED}",
        )
    if isinstance(tree, dict):
        yield from _by_run(tree, envelope)


def _by_run(recording: Mapping[str, Any], envelope: Mapping[str, Any]) -> Iterator[_Run]:
    runs: dict[str | None, _Run] = {}
    named: str | None = None
    for event in _list(recording.get("events")):
        if not isinstance(event, dict):
            continue
        meta = event.get("meta")
        own = meta.get("runId") if isinstance(meta, dict) else None
        named = own if isinstance(own, str) and own else named
        run = runs.get(named)
        if run is None:
            run = runs[named] = _Run(named, envelope=envelope)
        run.events.append(event)
    if None in runs and len(runs) > 1:
        nameless = runs.pop(None)
        first = next(iter(runs.values()))
        first.events = [*nameless.events, *first.events]
    snapshot = recording.get("snapshot")
    if not runs and isinstance(snapshot, dict) and _list(snapshot.get("commitLog")):
        runs[None] = _Run(None, envelope=envelope)
    if runs:
        list(runs.values())[-1].snapshot = snapshot
    yield from runs.values()


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    return [_summary(run, source.name) for run in _open(source)]


def _summary(run: _Run, name: str) -> RunSummary:
    kinds = [str(event.get("type")) for event in run.events]
    models, tools = (sum(kind.endswith(f".{what}_start") for kind in kinds) for what in ("llm", "tool"))
    calls = f"{models} model call{'s' * (models != 1)}, {tools} tool call{'s' * (tools != 1)}"
    return RunSummary(_title(run, name), _started(run), None, calls)


def _title(run: _Run, name: str) -> str:
    for event in run.events:
        told = event.get("payload")
        said = told.get("userPrompt") if isinstance(told, dict) else None
        if isinstance(said, str) and said.strip():
            return label_of(said)
    return label_of(run.id or name)


def _started(run: _Run) -> float | None:
    for event in run.events:
        meta = event.get("meta")
        at = epoch_ms(meta.get("wallClockMs")) if isinstance(meta, dict) else None
        if at is not None:
            return at
    return epoch_ms(object_of(run.envelope.get("run")).get("startedAt"))


def _read(source: ForeignSource, number: int, sink: RunSink) -> None:
    runs = _open(source)
    run = runs[number]
    same = [place for place, other in enumerate(runs) if other.id == run.id]
    if run.id is not None:
        sink.identify(run.id if len(same) == 1 else f"{run.id}-{same.index(number) + 1}")
    sink.title(_title(run, source.name))
    facts = object_of(run.envelope.get("run"))
    sink.meta(
        producer=run.envelope.get("producer"),
        recorded=facts or None,
        configuration=run.envelope.get("configuration"),
        privacy=run.envelope.get("privacy"),
        report=run.manifest.get("report"),
        environment=run.environment,
        complete=False if facts.get("complete") is False else None,
    )
    written = RunEvents(sink, run.snapshot)
    written.write(run.events)
    log = _list(object_of(run.snapshot).get("commitLog"))
    if not run.events:
        _commits(log, sink)
    else:
        for name in object_of(run.snapshot):
            sink.skipped(f"snapshot: {name}")
    _facts(run, facts, written.redacted | _redacted(log), sink)


def _commits(log: list[Json], sink: RunSink) -> None:
    """Write the commits of a recording without events, which is all there is of it."""
    sink.note("no-events", "the recording has no events; what each stage wrote is shown instead")
    for commit in log:
        if isinstance(commit, dict):
            value = {name: commit[name] for name in ("overwrite", "updates") if commit.get(name)}
            key = str(commit.get("stageId") or "commit")
            sink.event("state", key, value=value, label=str(commit.get("stage") or "") or None)


def _redacted(log: list[Json]) -> set[str]:
    """Return what the commit log says was redacted, as paths."""
    paths = {path for commit in log for path in _list(object_of(commit).get("redactedPaths")) if isinstance(path, str)}
    return {path.replace(_SEGMENTS, "/") for path in paths}


def _facts(run: _Run, facts: Mapping[str, Any], redacted: set[str], sink: RunSink) -> None:
    """Say what the file says of what it lacks."""
    dropped = facts.get("droppedEvents")
    if type(dropped) is int and dropped > 0:
        sink.note("dropped-events", f"{dropped} events were dropped when it was recorded, the earliest first")
        sink.meta(complete=False)
    if facts.get("complete") is False:
        sink.note("incomplete", "whoever recorded it says that the run is not complete")
    redacted |= {name for name in _list(run.manifest.get("redactedKeys")) if isinstance(name, str)}
    if redacted:
        names = sorted(redacted)
        sink.meta(redactedKeys=names)
        sink.note("redacted", f"values redacted when it was recorded: {listed(names, _NAMED)}")
    excluded = object_of(run.manifest.get("excluded")).get("conversations")
    if type(excluded) is int and excluded > 0:
        sink.note("excluded", f"{excluded} conversations were left out of the report")


def _list(value: Json) -> list[Any]:
    return value if isinstance(value, list) else []


FORMAT = Format(
    "agentfootprint",
    "agentfootprint recording",
    _detect,
    _runs,
    _read,
    exact=("answers, token usage, tool inputs and results, order and times", "what the tool itself decided and did"),
    inferred=("prompts, from what was put into them and the commit log", "which model call failed before a retry"),
    missing=("parameters of tools offered to the model", "what was dropped or redacted when it was recorded"),
)
