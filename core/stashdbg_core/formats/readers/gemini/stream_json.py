"""What ``gemini -o stream-json`` prints: messages, tool calls and results, without the bounds of model calls."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.record_by_record import each_record
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Answer, Transcript


def detect(head: Head) -> bool:
    """Tell whether it begins as such a stream does."""
    return any(record.get("type") == "init" and "session_id" in record and "model" in record for record in head.lines)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a stream."""
    stream = _Stream(sink)
    each_record(source.records(sink), sink, stream.record)
    stream.transcript.close()
    sink.title(stream.title)


class _Stream:
    def __init__(self, sink: RunSink) -> None:
        self.transcript = Transcript(sink)
        self.title = ""
        self._sink = sink
        self._lane = self.transcript.lane()
        self._model: str | None = None
        self._answer: Answer | None = None
        """The answer going on: what the model says and asks for, up to a result or a prompt."""
        self._answers = 0

    def record(self, record: dict[str, Any]) -> None:
        """Take one line."""
        kind, at = record.get("type"), epoch_ms(record.get("timestamp"))
        if kind == "init":
            self._model = record["model"] if isinstance(record.get("model"), str) else None
            named = record.get("session_id")
            self._sink.identify(named if isinstance(named, str) else None)
            self._sink.meta(sessionId=named, model=self._model)
        elif kind == "message" and record.get("role") == "assistant":
            self._said(record.get("content"), at)
        elif kind == "message":
            self._answer = None
            text = record.get("content")
            self.title = self.title or (text if isinstance(text, str) else "")
            self._lane.prompt({"role": "user", "content": text}, text if isinstance(text, str) else "", at)
        elif kind == "tool_use":
            self._asked(record, at)
        elif kind == "tool_result":
            self._result(record, at)
        elif kind in ("result", "error"):
            self._end(record, str(kind), at)
        else:
            self._sink.unknown(f"record type {kind}")
            self._sink.event("state", f"record {kind}", value=record, at=at)

    def _going_on(self, at: float | None) -> Answer:
        if self._answer is None:
            self._answers += 1
            self._answer = self._lane.answer(f"answer {self._answers}", self._model, at, named=False)
            content: list[Json] = []
            self._answer.value.update({"role": "assistant", "model": self._lane.model, "content": content})
            self._answer.messages.append({"role": "assistant", "content": content})
            self._sink.inferred(self._answer.seq)
        self._answer.at = at
        return self._answer

    def _said(self, text: Json, at: float | None) -> None:
        content = self._going_on(at).value["content"]
        if isinstance(text, str) and content and content[-1].get("type") == "text":
            content[-1]["text"] += text
        else:
            content.append({"type": "text", "text": text})

    def _asked(self, record: dict[str, Any], at: float | None) -> None:
        call_id = record["tool_id"] if isinstance(record.get("tool_id"), str) else None
        name, given = str(record.get("tool_name") or "unknown"), record.get("parameters")
        self._going_on(at).value["content"].append({"type": "tool_use", "id": call_id, "name": name, "input": given})
        self.transcript.call(self._lane, call_id, name, given, at)

    def _result(self, record: dict[str, Any], at: float | None) -> None:
        self._answer = None
        call_id = record["tool_id"] if isinstance(record.get("tool_id"), str) else None
        run = self.transcript.asked(self._lane, call_id, at)
        failed = record.get("status") == "error"
        output = record.get("output", "")
        value: Json = {"error": record.get("error") or output} if failed else output
        self.transcript.result(run, value, failed=failed, at=at)
        block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": output}
        self._lane.say({"role": "user", "content": [{**block, "is_error": True} if failed else block]}, at)

    def _end(self, record: dict[str, Any], kind: str, at: float | None) -> None:
        failed = kind == "error" or record.get("status") == "error"
        value: dict[str, Json] = {name: fact for name, fact in record.items() if name not in ("type", "timestamp")}
        stats = value.get("stats")
        if isinstance(stats, dict):
            given, said, cached = (stats.get(name) for name in ("input_tokens", "output_tokens", "cached"))
            value["usage"] = {"prompt_tokens": given, "completion_tokens": said}
            if isinstance(cached, int):
                value["usage"]["prompt_tokens_details"] = {"cached_tokens": cached}
        said = record.get("message", record.get("status"))
        if failed:
            value.setdefault("error", said)
        label = f"{kind}: {said}" if isinstance(said, str) else kind
        self._sink.event("note", kind, value=value, outcome="throw" if failed else "return", at=at, label=label)


FORMAT = Format(
    name="gemini-stream-json",
    title="Gemini CLI stream",
    detect=detect,
    runs=one_run,
    read=read,
    exact=("prompts and messages", "tool inputs", "token usage of the whole run"),
    inferred=("where one model call ends and the next begins", "prompts of model calls: the conversation so far"),
    missing=("what most tools returned to the model", "system prompt and tool definitions", "token usage of each call"),
)
