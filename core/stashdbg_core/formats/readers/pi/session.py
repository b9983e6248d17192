"""The entries of a pi session as a transcript."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.chat import Place
from stashdbg_core.formats.images import image
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Transcript, returned, text_of, thrown

_QUIET = frozenset({"thinking_level_change", "label", "custom"})
_USAGE = {
    "input": "input_tokens", "output": "output_tokens", "cacheRead": "cache_read_input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
}  # fmt: skip
_KEPT = 500
"""Entries whose messages are at hand for a compaction that keeps some of them."""


@dataclass(slots=True)
class _Entry:
    parent: str | None
    first: int
    """``seq`` of its first event."""
    end: int
    place: Place | None = None
    """The conversation after it."""


class PiSession:
    """Takes the entries of a session."""

    def __init__(self, sink: RunSink) -> None:
        self.transcript = Transcript(sink)
        self._sink = sink
        self._lane = self.transcript.lane()
        self._title = ""
        self._model: str | None = None
        self._entries: dict[str, _Entry] = {}
        self._last: str | None = None
        self._forked = False
        self._recent: OrderedDict[str, list[Json]] = OrderedDict()
        """What the latest entries added to the conversation."""
        self._here: list[Json] = []
        self._never_run: dict[str | None, dict[str, Any]] = {}
        """Calls in answers that failed, by id: no tool runs unless a result says so."""
        self._count = 0
        self._name = ""
        """The entry that is being taken."""
        self._is_named = False
        """Whether the file names it."""

    def close(self) -> None:
        """Say that there is no more."""
        self.transcript.close()
        self._sink.title(self._title)
        if not self._forked:
            return
        live: set[str] = set()
        here = self._last
        while here is not None and here in self._entries and here not in live:
            live.add(here)
            here = self._entries[here].parent
        for name, entry in self._entries.items():
            if name not in live:
                for seq in range(entry.first, entry.end):
                    self._sink.abandoned(seq)

    def record(self, record: dict[str, Any]) -> None:
        """Take one entry."""
        kind = record.get("type")
        if kind == "session":
            self._about(record)
            return
        self._count += 1
        self._is_named = isinstance(record.get("id"), str)
        name = self._name = record["id"] if self._is_named else f"entry {self._count}"
        parent = record["parentId"] if isinstance(record.get("parentId"), str) else None
        self._move_to(parent if "parentId" in record else self._last)
        entry = _Entry(parent if "parentId" in record else self._last, len(self._sink), 0)
        self._here = []
        self._entry(record, kind)
        entry.end = len(self._sink)
        if "parentId" in record:
            self._lane.settle()
            entry.place = self._lane.chat.place()
        self._entries[name] = entry
        self._recent[name] = self._here
        if len(self._recent) > _KEPT:
            self._recent.popitem(last=False)
        self._last = name

    def _move_to(self, parent: str | None) -> None:
        """Go back to an earlier entry, if it is not the last one that the next follows."""
        if parent == self._last:
            return
        self._forked = True
        self._lane.settle()
        before = self._entries.get(parent) if parent is not None else None
        place = before.place if before is not None else None
        self._lane.restart(self._lane.chat.back_to(place) if place is not None else None)

    def _about(self, record: dict[str, Any]) -> None:
        named = record.get("id")
        self._sink.identify(named if isinstance(named, str) else None)
        names = ("cwd", "version", "provider", "parentSession")
        self._sink.meta(sessionId=named, **{name: record.get(name) for name in names})
        self._model = record["modelId"] if isinstance(record.get("modelId"), str) else self._model

    def _entry(self, record: dict[str, Any], kind: Json) -> None:
        at = epoch_ms(record.get("timestamp"))
        message = record.get("message")
        if kind == "message" and isinstance(message, dict):
            self._message(message, at)
        elif kind == "model_change":
            self._model = record["modelId"] if isinstance(record.get("modelId"), str) else self._model
            self._sink.skipped("model_change entries")
        elif kind == "compaction":
            self._compaction(record, at)
        elif kind == "branch_summary":
            self._say({"role": "user", "content": record.get("summary")})
            self._sink.event("note", "branch_summary", value=record, at=at, label=str(record.get("summary") or ""))
        elif kind in ("custom_message", "hook_message"):
            self._say({"role": "user", "content": _content(record.get("content"))})
            self._sink.skipped(f"{kind} entries (in the prompts, no events)")
        elif kind == "session_info":
            self._title = str(record.get("name") or self._title)
        elif kind in _QUIET:
            self._sink.skipped(f"{kind} entries")
        else:
            self._sink.unknown(f"entry type {kind}")
            self._sink.event("state", f"entry {kind}", value=record, at=at)

    def _message(self, message: dict[str, Any], at: float | None) -> None:
        role = message.get("role")
        content = _content(message.get("content"))
        if role == "user":
            text = text_of(content)
            self._title = self._title or text
            said: Json = {"role": "user", "content": content}
            self._here.append(said)
            self._lane.prompt(said, text, at)
        elif role == "assistant":
            self._answer(message, at)
        elif role == "toolResult":
            self._result(message, content, at)
        elif role == "bashExecution":
            value: dict[str, Json] = {name: fact for name, fact in message.items() if name not in ("role", "timestamp")}
            self._sink.event("user", "bash", value=value, at=at, label=f"! {message.get('command')}")
            if message.get("excludeFromContext") is not True:
                self._say({"role": "user", "content": f"{message.get('command')}\n{message.get('output')}"})
        elif role in ("custom", "hookMessage", "branchSummary", "compactionSummary"):
            self._say({"role": "user", "content": message.get("summary", content)})
            self._sink.skipped(f"{role} messages (in the prompts, no events)")
        else:
            self._sink.unknown(f"message role {role}")
            self._sink.event("state", f"message {role}", value=message, at=at)

    def _say(self, message: Json) -> None:
        self._here.append(message)
        self._lane.say(message)

    def _answer(self, message: dict[str, Any], at: float | None) -> None:
        model = message["model"] if isinstance(message.get("model"), str) else self._model
        answer = self._lane.answer(self._name, model, at, named=self._is_named)
        content = [_block(block) for block in message["content"]] if isinstance(message.get("content"), list) else []
        value: dict[str, Json] = {"role": "assistant", "model": self._lane.model, "content": content}
        if message.get("stopReason") is not None:
            value["stop_reason"] = message["stopReason"]
        usage = message.get("usage")
        if isinstance(usage, dict):
            value["usage"] = {_USAGE.get(name, name): count for name, count in usage.items()}
        answer.value.update(value)
        if content:
            said: Json = {"role": "assistant", "content": content}
            answer.messages.append(said)
            self._here.append(said)
        if message.get("stopReason") in ("error", "aborted"):
            answer.failed = True
            answer.error = {"error": message.get("errorMessage") or message["stopReason"], **value}
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                if answer.failed and isinstance(block.get("id"), str):
                    self._never_run[block["id"]] = block
                else:
                    self._call(block, at)

    def _call(self, block: dict[str, Any], at: float | None) -> None:
        call_id = block["id"] if isinstance(block.get("id"), str) else None
        self.transcript.call(self._lane, call_id, str(block.get("name") or "unknown"), block.get("input"), at)

    def _result(self, message: dict[str, Any], content: Json, at: float | None) -> None:
        call_id = message["toolCallId"] if isinstance(message.get("toolCallId"), str) else None
        if call_id in self._never_run:
            self._call(self._never_run.pop(call_id), at)
        run = self.transcript.asked(self._lane, call_id, at)
        failed = message.get("isError") is True
        details = message.get("details")
        value: Json = thrown(content) if failed else returned(content)
        if details:
            value = {**value, "details": details} if isinstance(value, dict) else {"content": value, "details": details}
        self.transcript.result(run, value, failed=failed, at=at)
        block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        said: Json = {"role": "user", "content": [{**block, "is_error": True} if failed else block]}
        self._here.append(said)
        self._lane.say(said, at)

    def _compaction(self, record: dict[str, Any], at: float | None) -> None:
        summary, first = record.get("summary"), record.get("firstKeptEntryId")
        facts: dict[str, Json] = {"summary": summary, "tokensBefore": record.get("tokensBefore")}
        seq = self._sink.event("note", "compaction", value=facts, at=at, label="conversation compacted")
        self._lane.restart()
        self._say({"role": "user", "content": summary})
        if not isinstance(first, str):
            return
        if first not in self._recent:
            self._sink.cut(seq, "the entries that it keeps are too far back")
            return
        names = list(self._recent)
        for name in names[names.index(first) :]:
            for message in self._recent[name]:
                self._say(message)


def _content(content: Json) -> Json:
    return [_block(block) for block in content] if isinstance(content, list) else content


def _block(block: Json) -> Json:
    if not isinstance(block, dict):
        return block
    if block.get("type") == "toolCall":
        return {"type": "tool_use", "id": block.get("id"), "name": block.get("name"), "input": block.get("arguments")}
    if block.get("type") == "image" and isinstance(block.get("data"), str):
        mime = str(block.get("mimeType") or "application/octet-stream")
        stored = image(mime, block["data"])
        return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": stored}}
    return block
