"""The output of evaluations and of the issue resolver of OpenHands: a run in a line, or one object on several lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.format import RunSummary
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.openhands.events import EventReader
from stashdbg_core.formats.readers.openhands.history import HistoryReader
from stashdbg_core.formats.readers.openhands.metrics import Metrics
from stashdbg_core.formats.shapes import object_of, objects_of, word
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript import Transcript
from stashdbg_core.parse import parse_json

_MARKS = ("instance_id", "git_patch", "test_result", "instruction")
_SCORES = ("test_result", "success", "comment_success", "result_explanation", "git_patch")
_SHOWN = ("instance_id", "issue", "error")
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def is_output(record: Mapping[str, Any]) -> bool:
    """Tell whether an object is a run; ``...`` stands for what was not looked at."""
    if not any(name in record for name in _MARKS) or "history" not in record:
        return False
    history = record["history"]
    if not history or history is ...:
        return "metrics" in record or "metadata" in record
    first = history[0] if isinstance(history, list) else None
    first = first[0] if isinstance(first, list) and first else first
    return isinstance(first, dict) and any(isinstance(first.get(key), str) for key in ("action", "kind", "observation"))


def summaries(source: ForeignSource) -> list[RunSummary]:
    """Return the runs; their histories are not looked at."""
    found = []
    for number, raw in enumerate(_runs(source), 1):
        try:
            parts = _decode(raw)
            record = {name: parse_json(bytes(parts[name])) for name in _SHOWN if name in parts}
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            record = _parsed(raw) or {}
        error = word(record.get("error"))
        found.append(RunSummary(_title(record) or f"run {number}", detail=label_of(f"error: {error}") if error else ""))
    return found


def read_output(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a run.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: there is none of that number.
    """
    raw = next((raw for number, raw in enumerate(_runs(source)) if number == run), None)
    record = _parsed(raw) if raw is not None else None
    if record is None:
        raise invalid_recording(f"{label_of(source.name)} holds no run {run + 1} that can be read")
    metadata, metrics = object_of(record.get("metadata")), object_of(record.get("metrics"))
    llm = metadata.get("llm_config") or metadata.get("llm")
    sink.meta(
        instance=record.get("instance_id"), agent=metadata.get("agent_class"), cost=metrics.get("accumulated_cost")
    )
    model = word(llm.get("model")) if isinstance(llm, dict) else None
    read_history(record.get("history"), sink, metrics, model)
    sink.title(_title(record) or source.name)
    if record.get("error"):
        error = record["error"]
        sink.event("note", "error", value={"error": error}, outcome="throw", label=str(error))
    score = {name: record[name] for name in _SCORES if record.get(name) is not None}
    if score:
        sink.event("score", "result", value=score)


def read_history(history: Json, sink: RunSink, metrics: Json, model: str | None) -> str:
    """Read a list of events of either version; return the first prompt."""
    events = history if isinstance(history, list) else []
    if any("kind" in event for event in objects_of(events[:1])):
        transcript = Transcript(sink)
        reader = EventReader(transcript, transcript.lane(), Metrics([metrics]), model)
        reader.read(objects_of(events), None)
        transcript.close()
        return reader.title
    noted = [event.get("llm_metrics") for event in objects_of(events) if "llm_metrics" in event]
    older = HistoryReader(sink, Metrics([*noted, metrics]), model)
    older.read(events)
    return older.title


def _runs(source: ForeignSource) -> Iterator[bytes]:
    """Yield the text of each run."""
    first = next(source.lines(), None)
    if first is not None and first.raw.strip() == b"{":
        yield source.data()
        return
    for line in source.lines():
        if _is_object(line.raw):
            yield line.raw


def _is_object(raw: bytes) -> bool:
    try:
        _decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _parsed(raw) is not None
    return True


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        tree: Json = parse_json(raw)
    except StashError:
        return None
    return tree if isinstance(tree, dict) else None


def _title(record: dict[str, Any]) -> str:
    issue = record.get("issue")
    if word(record.get("instance_id")) is None and isinstance(issue, dict):
        return label_of(f"{issue.get('owner')}/{issue.get('repo')}#{issue.get('number')} {issue.get('title') or ''}")
    return label_of(record["instance_id"]) if isinstance(record.get("instance_id"), str) else ""
