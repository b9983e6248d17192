"""What ``claude -p --output-format stream-json`` prints, as lines or as the JSON array that the GitHub action keeps.

The messages are those of a session file; there are no times and no chain of uuids, and sub-agents are told apart by
``parent_tool_use_id``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.readers.claude.conversation import ClaudeConversation, is_prompt
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript import Lane, Transcript
from stashdbg_core.formats.transcript_labels import prompt_text
from stashdbg_core.sanitize import shorten

_USAGE = ("usage", "modelUsage")
"""Sums over calls that say their own; counted again they would double."""


def detect(head: Head) -> bool:
    """Tell whether it begins as such a stream does."""
    return any(_is_init(record) for record in ((head.first,) if head.first is not None else head.lines))


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the one run of a stream."""
    head = Head(source)
    init = next((r for r in ((head.first,) if head.first is not None else head.lines) if _is_init(r)), None) or {}
    return (RunSummary(source.name, detail=label_of(str(init.get("model") or ""))),)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a stream."""
    stream = _Stream(sink)
    each_record(((None, record) for record in _records(source, sink)), sink, stream.record)
    stream.transcript.close()
    sink.title(stream.title)


class _Stream:
    def __init__(self, sink: RunSink) -> None:
        self.transcript = Transcript(sink)
        self.title = ""
        self._sink = sink
        self._conversation = ClaudeConversation(self.transcript)

    def record(self, record: dict[str, Any]) -> None:
        """Take one message of the stream."""
        kind = record.get("type")
        if kind == "system":
            self._system(record)
        elif kind == "assistant":
            self._conversation.assistant(record, self._lane(record))
        elif kind == "user":
            lane = self._lane(record)
            if not self.title and lane.name is None and isinstance(record.get("message"), dict) and is_prompt(record):
                self.title = prompt_text(record["message"].get("content"))
            self._conversation.user(record, lane)
        elif kind == "result":
            self._result(record)
        elif kind in ("stream_event", "tool_progress", "auth_status", "keep_alive", "rate_limit_event"):
            self._sink.skipped(f"{kind} records")
        else:
            shown = kind if isinstance(kind, str) else "without a type"
            self._sink.unknown(f"record type {shown}")
            self._sink.event("state", f"record {shown}", value=record)

    def _lane(self, record: dict[str, Any]) -> Lane:
        named = record.get("parent_tool_use_id")
        if not isinstance(named, str) or not named:
            return self.transcript.lane()
        run = self.transcript.calls.get(named)
        return self.transcript.lane(f"agent-{named}", run.seq if run is not None else None)

    def _system(self, record: dict[str, Any]) -> None:
        subtype = record.get("subtype")
        if subtype == "init":
            named = record.get("session_id")
            self._sink.identify(named if isinstance(named, str) else None)
            facts = {name: record.get(name) for name in ("cwd", "model", "permissionMode", "claude_code_version")}
            self._sink.meta(sessionId=named, tools=record.get("tools"), mcpServers=record.get("mcp_servers"), **facts)
        elif subtype in ("compact_boundary", "microcompact_boundary"):
            self._sink.event("note", "compaction", value=record, label="conversation compacted")
            if subtype == "compact_boundary":
                self.transcript.lane().restart()
        elif subtype in ("api_error", "error"):
            self._sink.event("note", str(subtype), value=record, outcome="throw")
        else:
            self._sink.skipped(f"system records {subtype}")

    def _result(self, record: dict[str, Any]) -> None:
        failed = record.get("is_error") is True or str(record.get("subtype", "")).startswith("error")
        value: dict[str, Json] = {name: fact for name, fact in record.items() if name not in ("type", *_USAGE)}
        if failed:
            value.setdefault("error", record.get("result") or record.get("subtype"))
        said = record.get("result")
        self._sink.event(
            "note",
            "result",
            value=value,
            outcome="throw" if failed else "return",
            label=f"result: {said}" if isinstance(said, str) else "result",
        )
        self._sink.meta(
            costUsd=record.get("total_cost_usd"), durationMs=record.get("duration_ms"), turns=record.get("num_turns")
        )


def _records(source: ForeignSource, sink: RunSink) -> Iterator[dict[str, Any]]:
    if source.head(4096).lstrip()[:1] != b"[":
        yield from (record for _, record in source.records(sink))
        return
    tree = source.json()
    if not isinstance(tree, list):
        raise invalid_recording(f"{shorten(source.name, 200)} is no list of messages")
    for record in tree:
        if isinstance(record, dict):
            yield record
        else:
            sink.unknown("an entry that is no object")


def _is_init(record: dict[str, Any]) -> bool:
    return record.get("type") == "system" and record.get("subtype") == "init" and "session_id" in record


FORMAT = Format(
    name="claude-stream-json",
    title="Claude Code stream",
    detect=detect,
    runs=runs,
    read=read,
    exact=("answers of the model", "tool inputs and results as the model saw them", "token usage"),
    inferred=("prompts of model calls: the conversation so far",),
    missing=("times", "system prompt and tool definitions"),
)
