"""Logs of Inspect AI: ``.eval`` archives and ``.json``. One sample of one epoch is one run.

A picker reads the summaries alone; of an archive one sample is loaded at a time. A log without events, as the first
versions wrote, is read as the conversation it holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.inspect_ai.events import SampleEvents
from stashdbg_core.formats.readers.inspect_ai.messages import resolver
from stashdbg_core.formats.readers.inspect_ai.transcript import write_conversation
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import text_of
from stashdbg_core.formats.zip_members import ZIP_MAGICS, ZipMembers
from stashdbg_core.sanitize import shorten

_START = "_journal/start.json"
_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d{1,9})\.json", re.DOTALL)
_SUMMARIES = re.compile(r"_journal/summaries/(\d{1,9})\.json")


@dataclass(slots=True)
class _Log:
    """A log as its header and its list of samples."""

    header: Mapping[str, Any]
    samples: list[_Sample] = field(default_factory=list)
    complete: bool = True


@dataclass(slots=True)
class _Sample:
    id: str
    epoch: int
    summary: Mapping[str, Any]
    load: Callable[[], Json]


def _detect(head: Head) -> bool:
    if head.data.startswith(ZIP_MAGICS):
        return "header.json" in head.members or _START in head.members
    top = head.top
    if top is None:
        return False
    return all(name in top for name in ("eval", "status", "version")) and ("plan" in top or "samples" in top)


def _open(source: ForeignSource) -> _Log:
    return _archive(source) if source.head(4).startswith(ZIP_MAGICS) else _document(source)


def _archive(source: ForeignSource) -> _Log:
    archive = ZipMembers(source)
    header = _dict(archive, "header.json")
    log = _Log(header or _dict(archive, _START), complete=bool(header) and archive.whole)
    summaries = archive.json("summaries.json") if "summaries.json" in archive.members else None
    if not isinstance(summaries, list):
        numbers = sorted(int(found.group(1)) for name in archive.members if (found := _SUMMARIES.fullmatch(name)))
        parts = (archive.json(f"_journal/summaries/{number}.json") for number in numbers)
        summaries = [summary for part in parts if isinstance(part, list) for summary in part]
    known = {(str(s.get("id")), str(s.get("epoch"))): s for s in summaries if isinstance(s, dict)}
    for name in archive.members:
        found = _SAMPLE.fullmatch(name)
        if found is not None:
            sample, epoch = found.group(1), int(found.group(2))
            log.samples.append(_Sample(sample, epoch, known.get((sample, str(epoch)), {}), _loader(archive, name)))
    return _sorted(log)


def _loader(archive: ZipMembers, name: str) -> Callable[[], Json]:
    return lambda: archive.json(name)


def _dict(archive: ZipMembers, name: str) -> Mapping[str, Any]:
    try:
        found = archive.json(name)
    except StashError:
        return {}
    return object_of(found)


def _document(source: ForeignSource) -> _Log:
    tree = source.json()
    if not isinstance(tree, dict):
        raise invalid_recording(f"{shorten(source.name, 200)} is no Inspect log")
    log = _Log({name: value for name, value in tree.items() if name != "samples"})
    samples = tree.get("samples")
    for sample in samples if isinstance(samples, list) else ():
        if isinstance(sample, dict):
            epoch = sample.get("epoch")
            log.samples.append(
                _Sample(str(sample.get("id")), epoch if type(epoch) is int else 1, sample, _held(sample))
            )
    return _sorted(log)


def _held(sample: Json) -> Callable[[], Json]:
    return lambda: sample


def _sorted(log: _Log) -> _Log:
    """Put samples in the order of the data set, epochs of one together."""
    ids = _inside(log.header, "eval", "dataset").get("sample_ids")
    order = {str(sample): place for place, sample in enumerate(ids if isinstance(ids, list) else ())}
    log.samples.sort(key=lambda sample: (order.get(sample.id, len(order)), _natural(sample.id), sample.epoch))
    return log


def _natural(text: str) -> tuple[int, str]:
    return (int(text), "") if text.isascii() and text.isdigit() and len(text) < 18 else (1 << 60, text)


def _inside(tree: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    found: Any = tree
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return object_of(found)


def _runs(source: ForeignSource) -> Sequence[RunSummary]:
    log = _open(source)
    created = epoch_ms(_inside(log.header, "eval").get("created"))
    return [_summary(sample, created) for sample in log.samples]


def _summary(sample: _Sample, created: float | None) -> RunSummary:
    told = sample.summary
    scores = told.get("scores")
    given = [
        f"{name}: {score.get('value')}"
        for name, score in (scores.items() if isinstance(scores, dict) else ())
        if isinstance(score, dict) and isinstance(score.get("value"), str | int | float)
    ]
    said = [f"score{'s' if len(given) > 1 else ''} {', '.join(given)}"] if given else []
    error, limit = told.get("error"), told.get("limit")
    if error:
        said.append(f"error: {error.get('message') if isinstance(error, dict) else error}")
    if limit:
        said.append(f"limit: {limit.get('type') if isinstance(limit, dict) else limit}")
    began = epoch_ms(told.get("started_at")) or created
    asked = _question(told.get("input"))
    title = f"{_title(sample)}: {asked}" if asked else _title(sample)
    return RunSummary(title, began, None, label_of(", ".join(said)))


def _question(given: Json) -> str:
    """Return the head of what a sample asked: a text, or what the user says first in a conversation."""
    if isinstance(given, list):
        said = (text_of(message.get("content")) for message in given if _is_asked(message))
        given = next((text for text in said if text), "")
    return label_of(given) if isinstance(given, str) else ""


def _is_asked(message: Json) -> bool:
    return isinstance(message, dict) and message.get("role") == "user"


def _title(sample: _Sample) -> str:
    return label_of(f"{sample.id}, epoch {sample.epoch}")


def _read(source: ForeignSource, run: int, sink: RunSink) -> None:
    log = _open(source)
    chosen = log.samples[run]
    sample = chosen.load()
    if not isinstance(sample, dict):
        raise invalid_recording(f"{shorten(source.name, 200)}: sample {shorten(chosen.id, 80)} is no object")
    told = _inside(log.header, "eval")
    task = told.get("task") if isinstance(told.get("task"), str) else "task"
    identity = sample.get("uuid") or f"{told.get('run_id') or told.get('created')}-{chosen.id}-{chosen.epoch}"
    sink.identify(str(identity))
    sink.title(f"{task}: {_title(chosen)}")
    sink.meta(
        task=task,
        model=told.get("model"),
        status=log.header.get("status") or "started",
        created=told.get("created"),
        packages=told.get("packages"),
        sample=chosen.id,
        epoch=chosen.epoch,
        target=sample.get("target"),
        scores=sample.get("scores"),
        error=_inside(sample, "error").get("message"),
        limit=sample.get("limit"),
    )
    if not log.complete:
        sink.note("unfinished", "the log has no header: the evaluation was running, or was cut off")
    write_sample(sample, sink)


def write_sample(sample: Mapping[str, Any], sink: RunSink) -> None:
    """Write a sample as a run: its events, or the conversation where it has none."""
    old = _inside(sample, "transcript")
    events = sample.get("events") or old.get("events")
    resolve = resolver({**_inside(old, "content"), **_inside(sample, "attachments")})
    if not isinstance(events, list) or not events:
        write_conversation(sample, sink, resolve)
        return
    pool = _inside(sample, "events_data").get("messages", sample.get("message_pool"))
    written = SampleEvents(sink, resolve, pool if isinstance(pool, list) else ())
    written.write(events)
    error, limit = sample.get("error"), sample.get("limit")
    written.end(error)
    if error and not written.errors:
        sink.event("note", "error", value=error, outcome="throw", label=_said(error))
    if limit and not written.limits:
        sink.event("note", "limit", value=limit, outcome="throw", label=_said(limit))


def _said(value: Json) -> str:
    told = value.get("message") or value.get("type") if isinstance(value, dict) else value
    return str(told)


FORMAT = Format(
    "inspect-ai",
    "Inspect AI log",
    _detect,
    _runs,
    _read,
    exact=("prompts and answers of model calls", "tool inputs, results and errors", "order, times and nesting"),
    inferred=("in logs without events: which answer ended a model call",),
    missing=("the provider's raw request and response, which repeat what is there",),
)
