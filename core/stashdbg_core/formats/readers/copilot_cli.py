"""Sessions of the Copilot CLI: ``~/.copilot/session-state/<id>/events.jsonl``; they are events already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, RunSummary, one_session
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.codex.items import parsed
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Lane, Transcript

_QUIET = frozenset(
    {
        "session.start", "session.resume", "session.model_change", "session.auto_mode_resolved", "session.shutdown",
        "session.usage_checkpoint", "session.usage_info", "session.idle", "session.title_changed", "session.handoff",
        "session.context_changed", "session.mode_changed", "session.plan_changed", "session.task_complete",
        "session.import_legacy", "session.workspace_file_changed", "session.permissions_changed",
        "assistant.turn_start", "assistant.turn_end", "assistant.intent", "assistant.usage", "assistant.message_delta",
        "assistant.streaming_delta", "assistant.reasoning_delta", "tool.user_requested", "tool.execution_progress",
        "tool.execution_partial_result",
        "hook.start", "hook.end", "system.notification", "skill.invoked", "subagent.selected", "subagent.deselected",
        "permission.requested", "permission.completed", "pending_messages.modified",
    }
)  # fmt: skip
_KINDS = ("session.", "user.", "assistant.", "tool.", "system.")
_NOTES = {
    "session.error": "error", "session.warning": "warning", "session.info": "info", "abort": "abort",
    "session.truncation": "truncation", "session.compaction_start": "compaction_start",
    "session.compaction_complete": "compaction", "session.snapshot_rewind": "rewind",
}  # fmt: skip


def detect(head: Head) -> bool:
    """Tell whether a file is a session: lines of a dotted type, with their data and their parent."""
    return any(_is_event(record) for record in head.lines)


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the one run of a session, with its first prompt."""
    return one_session(source, _about)


def _about(record: dict[str, Any]) -> tuple[float | None, str, str | None]:
    data = record.get("data")
    said = data.get("content") if record.get("type") == "user.message" and isinstance(data, dict) else None
    return epoch_ms(record.get("timestamp")), "", said if isinstance(said, str) else None


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a session."""
    session = _Session(sink)
    each_record(source.records(sink), sink, session.record)
    session.transcript.close()
    sink.title(session.title)


def _is_event(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if not isinstance(record.get("data"), dict) or not isinstance(kind, str):
        return False
    return kind == "session.start" or ("parentId" in record and kind.startswith(_KINDS))


class _Session:
    def __init__(self, sink: RunSink) -> None:
        self.transcript = Transcript(sink)
        self.title = ""
        self._sink = sink
        self._model: str | None = None
        self._agents: dict[str, tuple[int, float | None]] = {}
        """Events of sub-agents that run and when they began, by the id of the call that started them."""
        self._thoughts: dict[str | None, str] = {}
        """Of the answer to come, by lane."""

    def record(self, record: dict[str, Any]) -> None:
        """Take one event."""
        kind, data, at = record.get("type"), object_of(record.get("data")), epoch_ms(record.get("timestamp"))
        lane = self._lane(data)
        if isinstance(data.get("model"), str):
            self._model = data["model"]
        if kind == "user.message":
            self._user(data, lane, at)
        elif kind == "assistant.message":
            self._answer(data, lane, at)
        elif kind == "assistant.reasoning":
            self._thoughts[lane.name] = str(data.get("content") or "")
        elif kind == "system.message":
            lane.say({"role": "system", "content": data.get("content")}, at)
        elif kind == "tool.execution_start":
            self._started(data, lane, at)
        elif kind == "tool.execution_complete":
            self._completed(data, lane, at)
        elif kind in ("subagent.started", "subagent.completed", "subagent.failed"):
            self._agent(data, str(kind), at)
        elif kind in _NOTES:
            self._note(data, str(kind), lane, at)
        elif kind in _QUIET:
            self._about(data, str(kind))
        else:
            self._sink.unknown(f"record type {kind}")
            self._sink.event("state", f"record {kind}", value=record, at=at, thread=lane.name)

    def _lane(self, data: dict[str, Any]) -> Lane:
        named = data.get("parentToolCallId")
        if not isinstance(named, str) or not named:
            return self.transcript.lane()
        run = self.transcript.calls.get(named)
        return self.transcript.lane(f"agent-{named}", run.seq if run is not None else None)

    def _about(self, data: dict[str, Any], kind: str) -> None:
        if kind == "session.start":
            named = data.get("sessionId")
            self._sink.identify(named if isinstance(named, str) else None)
            self._sink.meta(sessionId=named, copilotVersion=data.get("copilotVersion"), context=data.get("context"))
        if isinstance(data.get("selectedModel"), str):
            self._model = data["selectedModel"]
        if isinstance(data.get("newModel"), str):
            self._model = data["newModel"]
        self._sink.skipped(f"{kind} records")

    def _user(self, data: dict[str, Any], lane: Lane, at: float | None) -> None:
        text = data.get("content")
        self.title = self.title or (text if isinstance(text, str) else "")
        seen = data.get("transformedContent")
        said: dict[str, Json] = {"role": "user", "content": seen if isinstance(seen, str) and seen else text}
        value = {**said, "content": text}
        if data.get("attachments"):
            value["attachments"] = data["attachments"]
        lane.prompt(said, text if isinstance(text, str) else "", at, value=value)

    def _answer(self, data: dict[str, Any], lane: Lane, at: float | None) -> None:
        identity = data.get("messageId")
        named = isinstance(identity, str) and bool(identity)
        identity = str(identity) if named else f"message {len(self._sink)}"
        model = data["model"] if isinstance(data.get("model"), str) else self._model
        again = lane.is_open(identity)
        answer = lane.answer(identity, model, at, named=named)
        if not again:
            answer.value.update({"role": "assistant", "model": lane.model, "content": []})
            answer.messages.append({"role": "assistant", "content": answer.value["content"]})
        content = answer.value["content"]
        thought = data.get("reasoningText") or self._thoughts.pop(lane.name, "")
        if thought:
            content.append({"type": "thinking", "thinking": thought})
        if data.get("content"):
            content.append({"type": "text", "text": data["content"]})
        asked = data.get("toolRequests")
        for request in asked if isinstance(asked, list) else ():
            if isinstance(request, dict):
                given = request.get("arguments")
                given = parsed(given) if isinstance(given, str) else given
                call_id, name = request.get("toolCallId"), str(request.get("name") or "unknown")
                content.append({"type": "tool_use", "id": call_id, "name": name, "input": given})
                self.transcript.call(lane, call_id if isinstance(call_id, str) else None, name, given, at)
        if isinstance(data.get("outputTokens"), int):
            answer.value["usage"] = {"output_tokens": data["outputTokens"]}

    def _started(self, data: dict[str, Any], lane: Lane, at: float | None) -> None:
        call_id = data["toolCallId"] if isinstance(data.get("toolCallId"), str) else None
        name = str(data.get("toolName") or "unknown")
        if isinstance(data.get("mcpServerName"), str):
            name = f"{data['mcpServerName']}/{data.get('mcpToolName') or name}"
        run = self.transcript.call(lane, call_id, name, data.get("arguments"), at)
        run.at = at if at is not None else run.at

    def _completed(self, data: dict[str, Any], lane: Lane, at: float | None) -> None:
        call_id = data["toolCallId"] if isinstance(data.get("toolCallId"), str) else None
        run = self.transcript.asked(lane, call_id, at)
        failed = data.get("success") is False
        result = data.get("result")
        shown = result.get("content") if isinstance(result, dict) else result
        value: Json = shown
        if failed:
            error = data.get("error")
            said = error.get("message") if isinstance(error, dict) else error
            value = {"error": said or shown or "failed"}
            shown = said or shown
        elif isinstance(result, dict) and result.get("detailedContent") not in (None, "", shown):
            value = result
        self.transcript.result(run, value, failed=failed, at=at)
        block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": shown}
        lane.say({"role": "user", "content": [{**block, "is_error": True} if failed else block]}, at)

    def _agent(self, data: dict[str, Any], kind: str, at: float | None) -> None:
        named = str(data.get("toolCallId"))
        name = str(data.get("agentName") or data.get("agentDisplayName") or "agent")
        if kind == "subagent.started":
            run = self.transcript.calls.get(named)
            label = str(data.get("agentDescription") or name)
            parent = run.seq if run is not None else None
            seq = self._sink.start("agent", name, at=at, label=label, parent=parent, call_id=named)
            self._agents[named] = seq, at
            return
        seq, started = self._agents.pop(named, (-1, None))
        if seq < 0:
            seq = self._sink.start("agent", name, at=at, call_id=named)
        ms = at - started if at is not None and started is not None and at >= started else None
        failed = kind == "subagent.failed"
        value = {**data, "error": data.get("error")} if failed else data
        self._sink.finish(seq, value, outcome="throw" if failed else "return", ms=ms)

    def _note(self, data: dict[str, Any], kind: str, lane: Lane, at: float | None) -> None:
        key = _NOTES[kind]
        said = data.get("message", data.get("reason"))
        failed = key == "error"
        value = {"error": said, **data} if failed else data
        label = f"{key}: {said}" if isinstance(said, str) else key
        self._sink.event(
            "note", key, value=value, outcome="throw" if failed else "return", at=at, label=label, thread=lane.name
        )
        if key == "compaction":
            lane.restart()
            if isinstance(data.get("summaryContent"), str):
                lane.say({"role": "user", "content": data["summaryContent"]})


FORMAT = Format(
    name="copilot-cli",
    title="Copilot CLI session",
    detect=detect,
    runs=runs,
    read=read,
    exact=("answers of the model", "tool inputs and results", "output tokens", "start and end of tool calls"),
    inferred=("prompts of model calls: the conversation so far", "start of a model call: its newest input"),
    missing=("tool definitions", "input tokens of each call"),
)
