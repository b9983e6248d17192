"""Rollouts of Codex: ``~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl``, packed with zstd when they are old."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.formats.format import Format, RunSummary, one_session
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.codex.items import is_wrapper, own_text
from stashdbg_core.formats.readers.codex.session import CodexSession
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms

_TYPES = frozenset({"session_meta", "response_item", "turn_context", "event_msg", "compacted", "token_usage_record"})


def detect(head: Head) -> bool:
    """Tell whether a file is a rollout: lines of its types, each with a payload."""
    return any(_is_line(record) for record in head.lines)


def _is_line(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(record.get("payload"), dict)


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the one run of a rollout, with its first prompt."""
    return one_session(source, _about)


def _about(record: dict[str, Any]) -> tuple[float | None, str, str | None]:
    payload = object_of(record.get("payload"))
    folder, prompt = payload.get("cwd"), None
    if payload.get("type") == "message" and payload.get("role") == "user" and not is_wrapper(own_text(payload)):
        prompt = own_text(payload)
    return epoch_ms(record.get("timestamp")), folder if isinstance(folder, str) else "", prompt


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a rollout."""
    CodexSession(source, sink).read()


FORMAT = Format(
    name="codex",
    title="Codex rollout",
    detect=detect,
    runs=runs,
    read=read,
    exact=("items that the model wrote", "tool inputs and outputs as the model saw them", "exit codes", "token usage"),
    inferred=(
        "where one model call ends and the next begins",
        "prompts of model calls: the items so far",
        "start of a model call: its newest input",
    ),
    missing=("tool definitions", "reasoning, which is encrypted", "histories after a compaction longer than 64 kB"),
)
