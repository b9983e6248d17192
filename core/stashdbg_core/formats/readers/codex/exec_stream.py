"""What ``codex exec --json`` prints: one line an item, without times or the bounds of model calls."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript import Lane, Transcript

MODEL = "codex"
"""The stream does not say which model answers."""
_TOOLS = frozenset(
    {"command_execution", "file_change", "mcp_tool_call", "collab_tool_call", "web_search", "todo_list", "image_view"}
)
_OUTCOMES = ("aggregated_output", "exit_code", "result", "error", "status", "agents_states")


def detect(head: Head) -> bool:
    """Tell whether it begins as such a stream does."""
    return any(record.get("type") == "thread.started" and "thread_id" in record for record in head.lines)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a stream."""
    stream = _Stream(sink)
    each_record(source.records(sink), sink, stream.record)
    stream.transcript.close()


class _Stream:
    def __init__(self, sink: RunSink) -> None:
        self.transcript = Transcript(sink)
        self._sink = sink
        self._lane: Lane = self.transcript.lane()
        self._thoughts: list[Json] = []

    def record(self, record: dict[str, Any]) -> None:
        """Take one line."""
        kind, item = record.get("type"), record.get("item")
        if kind == "thread.started":
            named = record.get("thread_id")
            self._sink.identify(named if isinstance(named, str) else None)
            self._sink.meta(threadId=named)
        elif kind in ("item.started", "item.updated", "item.completed") and isinstance(item, dict):
            self._item(item, done=kind == "item.completed")
        elif kind == "turn.completed":
            usage = record.get("usage")
            self._sink.event("note", "turn", value={"usage": _usage(usage)}, label="turn completed")
        elif kind in ("turn.failed", "error"):
            error = record.get("error", record.get("message"))
            said = error.get("message") if isinstance(error, dict) else error
            self._sink.event(
                "note",
                str(kind),
                value={"error": error},
                outcome="throw",
                label=f"{kind}: {said}" if said else str(kind),
            )
        elif kind == "turn.started":
            self._sink.skipped("turn.started records")
        else:
            self._sink.unknown(f"record type {kind}")
            self._sink.event("state", f"record {kind}", value=record)

    def _item(self, item: dict[str, Any], *, done: bool) -> None:
        kind = item.get("type")
        if kind in _TOOLS:
            self._tool(item, str(kind), done=done)
        elif not done:
            return
        elif kind == "reasoning":
            self._thoughts.append({"type": "thinking", "thinking": item.get("text")})
        elif kind == "agent_message":
            self._message(item)
        elif kind == "error":
            said = item.get("message")
            self._sink.event("note", "error", value={"error": said}, outcome="throw", label=f"error: {said}")
        else:
            self._sink.unknown(f"item {kind}")
            self._sink.event("state", f"item {kind}", value=item)

    def _message(self, item: dict[str, Any]) -> None:
        identity = item["id"] if isinstance(item.get("id"), str) else f"message {len(self._sink)}"
        answer = self._lane.answer(identity, MODEL, None, named="id" in item)
        content: list[Json] = [*self._thoughts, {"type": "text", "text": item.get("text")}]
        self._thoughts = []
        answer.value.update({"role": "assistant", "content": content})
        answer.messages.append({"role": "assistant", "content": content})
        self._sink.inferred(answer.seq)

    def _tool(self, item: dict[str, Any], kind: str, *, done: bool) -> None:
        call_id = item["id"] if isinstance(item.get("id"), str) else None
        given: Json = {name: fact for name, fact in item.items() if name not in ("id", "type", *_OUTCOMES)}
        key = kind
        if kind == "mcp_tool_call" and isinstance(item.get("server"), str):
            key, given = f"{item['server']}/{item.get('tool')}", item.get("arguments")
        run = self.transcript.call(self._lane, call_id, key, given, None)
        if not done:
            return
        if call_id is None:
            self.transcript.forget(run)
        failed = item.get("status") == "failed" or bool(item.get("exit_code"))
        outcome: dict[str, Json] = {name: item[name] for name in _OUTCOMES if item.get(name) is not None}
        if failed:
            outcome = {"error": item.get("error") or item.get("aggregated_output") or "failed", **outcome}
        self.transcript.result(run, outcome, failed=failed, at=None)
        asked: Json = {"type": "tool_use", "id": call_id, "name": key, "input": given}
        told = outcome.get("aggregated_output") or outcome.get("result") or outcome.get("status")
        result: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": told}
        self._lane.say({"role": "assistant", "content": [asked]})
        self._lane.say({"role": "user", "content": [{**result, "is_error": True} if failed else result]})


def _usage(told: Json) -> Json:
    if not isinstance(told, dict):
        return told
    cached = told.get("cached_input_tokens")
    return {**told, "input_tokens_details": {"cached_tokens": cached}} if isinstance(cached, int) else told


FORMAT = Format(
    name="codex-exec",
    title="Codex exec stream",
    detect=detect,
    runs=one_run,
    read=read,
    exact=("commands, their output and exit codes", "messages and summaries of reasoning"),
    inferred=("model calls: one for each message",),
    missing=("times", "the prompt", "model name", "bounds of model calls", "inputs of built-in tools but commands"),
)
