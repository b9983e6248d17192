"""The events of one Inspect sample, written as a run: in the order of the log, spans around what happens in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.inspect_ai.messages import answer_of, chat_message
from stashdbg_core.formats.sink import ABSENT, Chat, RunSink
from stashdbg_core.formats.times import epoch_ms

_UNKNOWN_FAILURE = {"message": "failed; the log does not say why"}
_ENVELOPE = frozenset(
    {"event", "uuid", "span_id", "timestamp", "working_start", "completed", "working_time", "pending", "events"}
)
"""Keys of every event, which say nothing of what happened."""
_NESTING = 100
_TEXT = 2000


@dataclass(slots=True)
class _Place:
    """What an event happens in."""

    seq: int | None = None
    lane: str | None = None
    started: float | None = None
    kind: str = ""
    name: str = ""
    parent: str = ""
    is_open: bool = False


class SampleEvents:
    """Writes the events of a sample.

    Args:
        sink: Where they go.
        resolve: Puts attachments back in.
        pool: The messages that model events refer to by position.
    """

    def __init__(self, sink: RunSink, resolve: Callable[[Json], Json], pool: Sequence[Json]) -> None:
        self._sink = sink
        self._resolve = resolve
        self._pool = pool
        self._messages: dict[int, Json] = {}
        self._spans: dict[str, _Place] = {}
        self._steps: list[_Place] = []
        self._chats: dict[str | None, Chat] = {}
        self._tools: list[tuple[str, str, int]] = []
        """Tool calls whose own span has not begun: the span around, the tool, the event."""
        self._failed: dict[int, float | None] = {}
        """Tool calls that failed for a reason told later, and how long they took."""
        self.errors = 0
        self.limits = 0
        self._kinds: dict[str, Callable[[dict[str, Any], _Place], None]] = {
            "model": self._model,
            "tool": self._tool,
            "span_begin": self._span_begin,
            "span_end": self._span_end,
            "step": self._step,
            "subtask": self._subtask,
            "sandbox": self._sandbox,
            "score": self._score,
            "error": self._error,
            "sample_limit": self._limit,
            "sample_init": self._init,
            "input": self._input,
            "state": self._changes,
            "store": self._changes,
            "info": self._note,
            "approval": self._note,
            "compaction": self._note,
            "interrupt": self._note,
            "logger": self._plain,
        }

    def write(self, events: Sequence[Json], place: _Place | None = None, depth: int = 0) -> None:
        """Write events, those inside others among them."""
        for event in events:
            if not isinstance(event, dict):
                self._sink.unknown("an event that is no object")
                continue
            around = place or self._around(event)
            kind = event.get("event")
            write = self._kinds.get(kind) if isinstance(kind, str) else None
            if write is None:
                self._sink.unknown(f"event {kind}")
                write = self._plain
            write(event, around)
            inner = event.get("events")
            if isinstance(inner, list) and inner and depth < _NESTING:
                lane = event.get("name") if kind == "subtask" and event.get("type") == "agent" else around.lane
                self.write(inner, _Place(len(self._sink) - 1, lane), depth + 1)

    def end(self, error: Json) -> None:
        """Say that there are no more; ``error`` is why the sample as a whole failed, or None."""
        for seq, ms in self._failed.items():
            self._sink.finish(seq, _error(self._resolve(error)) or _UNKNOWN_FAILURE, outcome="throw", ms=ms)
        self._failed.clear()
        for place in self._spans.values():
            self._close(place, None)
        for place in self._steps:
            self._close(place, None)

    def _around(self, event: Mapping[str, Any]) -> _Place:
        span = event.get("parent_id") if event.get("event") == "span_begin" else event.get("span_id")
        found = self._spans.get(span) if isinstance(span, str) else None
        return found or (self._steps[-1] if self._steps else _Place())

    def _event(self, channel: str, key: str, event: Mapping[str, Any], place: _Place, value: Json, **more: Any) -> int:
        return self._sink.event(
            channel,
            key,
            value=value,
            at=epoch_ms(event.get("timestamp")),
            ms=_took(event),
            thread=place.lane,
            parent=place.seq,
            **more,
        )

    def _model(self, event: dict[str, Any], place: _Place) -> None:
        output = answer_of(self._resolve(event.get("output")))
        answered = output.get("model") if isinstance(output, dict) else None
        request = {
            name: self._resolve(event[name])
            for name in ("model", "role", "tools", "tool_choice", "config")
            if event.get(name) not in (None, {}, [])
        }
        chat = self._chats.get(place.lane)
        if chat is None:
            chat = self._chats[place.lane] = self._sink.chat()
        chat.extend_to(self._prompt(event))
        given = chat.input(**request)
        key = answered or event.get("model") or "?"
        if event.get("call") is not None:
            self._sink.skipped("a model call's raw request and response")
        if event.get("pending") is True and event.get("completed") is None:
            self._sink.start(
                "llm", key, input=given, at=epoch_ms(event.get("timestamp")), thread=place.lane, parent=place.seq
            )
            return
        error = event.get("error") or (output.get("error") if isinstance(output, dict) else None)
        extra = {name: event[name] for name in ("retries", "cache") if event.get(name) is not None}
        if error is None:
            self._event("llm", key, event, place, output, input=given, extra=extra)
        else:
            value = _error(error) or {"message": error}
            if isinstance(output, dict) and output.get("choices"):
                value["output"] = output
            self._event("llm", key, event, place, value, input=given, outcome="throw", extra=extra)

    def _prompt(self, event: Mapping[str, Any]) -> list[Json]:
        given = event.get("input")
        messages = [chat_message(self._resolve(node)) for node in given] if isinstance(given, list) else []
        refs = event.get("input_refs")
        for span in refs if isinstance(refs, list) else ():
            start, stop = span if isinstance(span, list) and len(span) == 2 else (0, 0)
            if type(start) is not int or type(stop) is not int or not 0 <= start <= stop <= len(self._pool):
                self._sink.note("damaged-reference", "a model call refers to messages that the log does not hold")
                continue
            for position in range(start, stop):
                if position not in self._messages:
                    self._messages[position] = chat_message(self._resolve(self._pool[position]))
                messages.append(self._messages[position])
        return messages

    def _tool(self, event: dict[str, Any], place: _Place) -> None:
        name = event.get("function") or "?"
        call_id = event.get("id")
        seq = self._sink.start(
            "tool",
            name,
            input=self._resolve(event.get("arguments")),
            at=epoch_ms(event.get("timestamp")),
            thread=place.lane,
            parent=place.seq,
            call_id=call_id if isinstance(call_id, str) else None,
        )
        self._claim_span(event, name, seq, place)
        error, result = event.get("error"), self._resolve(event.get("result"))
        if isinstance(error, dict):
            value = {**error, **({"result": result} if result not in ("", None) else {})}
            self._sink.finish(seq, value, outcome="throw", ms=_took(event))
        elif event.get("failed") is True:
            self._failed[seq] = _took(event)
        elif not (event.get("pending") is True and event.get("completed") is None):
            self._sink.finish(seq, result, ms=_took(event))

    def _claim_span(self, event: Mapping[str, Any], name: str, seq: int, place: _Place) -> None:
        """Make the tool's own span, which begins just before or after its event, stand for the event."""
        around = str(event.get("span_id") or "")
        for found in self._spans.values():
            if found.kind == "tool" and found.seq == -1 and found.name == name and found.parent == around:
                found.seq = seq
                return
        self._tools = [*self._tools[-100:], (around, name, seq)]

    def _span_begin(self, event: dict[str, Any], place: _Place) -> None:
        kind, name = str(event.get("type") or "span"), str(event.get("name") or "?")
        parent = str(event.get("parent_id") or "")
        own = _Place(None, place.lane, epoch_ms(event.get("timestamp")), kind, name, parent)
        self._spans[str(event.get("id"))] = own
        if kind == "tool":
            own.seq = -1
            for item in self._tools:
                if item[:2] == (parent, name):
                    own.seq = item[2]
                    self._tools.remove(item)
                    return
            return
        self._open(own, place)

    def _open(self, own: _Place, place: _Place) -> None:
        parent = place.seq if place.seq != -1 else None
        is_agent = own.kind == "agent"
        own.seq = self._sink.start(
            "agent" if is_agent else "span",
            own.name if is_agent or own.kind == own.name else f"{own.kind} {own.name}",
            at=own.started,
            thread=place.lane,
            parent=parent,
        )
        own.is_open = True
        if is_agent:
            own.lane = own.name

    def _span_end(self, event: dict[str, Any], place: _Place) -> None:
        found = self._spans.get(str(event.get("id")))
        if found is not None:
            self._close(found, epoch_ms(event.get("timestamp")))

    def _close(self, place: _Place, at: float | None) -> None:
        if place.is_open and place.seq is not None:
            place.is_open = False
            ms = (
                round(at - place.started, 3)
                if at is not None and place.started is not None and at >= place.started
                else None
            )
            self._sink.finish(place.seq, None, ms=ms)

    def _step(self, event: dict[str, Any], place: _Place) -> None:
        if event.get("action") == "begin":
            kind, name = str(event.get("type") or "step"), str(event.get("name") or "?")
            own = _Place(None, place.lane, epoch_ms(event.get("timestamp")), kind, name)
            self._open(own, place)
            self._steps.append(own)
        elif self._steps:
            self._close(self._steps.pop(), epoch_ms(event.get("timestamp")))

    def _subtask(self, event: dict[str, Any], place: _Place) -> None:
        channel = "agent" if event.get("type") == "agent" else "span"
        given = self._resolve(event.get("input"))
        self._event(
            channel, event.get("name") or "subtask", event, place, self._resolve(event.get("result")), input=given
        )

    def _sandbox(self, event: dict[str, Any], place: _Place) -> None:
        given = _some(event, "cmd", "file", "options", "input")
        value = _some(event, "result", "output")
        self._event(
            "sandbox", event.get("action") or "?", event, place, self._resolve(value), input=self._resolve(given)
        )

    def _score(self, event: dict[str, Any], place: _Place) -> None:
        key = event.get("scorer") or (place.name if place.kind == "scorer" else "") or "score"
        given = _some(event, "target")
        self._event("score", key, event, place, self._resolve(event.get("score")), input=self._resolve(given) or ABSENT)

    def _error(self, event: dict[str, Any], place: _Place) -> None:
        self.errors += 1
        value = _error(self._resolve(event.get("error"))) or _UNKNOWN_FAILURE
        for seq, ms in self._failed.items():
            self._sink.finish(seq, value, outcome="throw", ms=ms)
        self._failed.clear()
        self._event("note", "error", event, place, value, outcome="throw", label=str(value.get("message"))[:_TEXT])

    def _limit(self, event: dict[str, Any], place: _Place) -> None:
        self.limits += 1
        value = _some(event, "type", "message", "limit")
        said = str(value.get("message") or value.get("type") or "limit")
        self._event("note", "limit", event, place, value, outcome="throw", label=said[:_TEXT])

    def _init(self, event: dict[str, Any], place: _Place) -> None:
        sample = event.get("sample")
        said = self._resolve(sample.get("input")) if isinstance(sample, dict) else None
        if isinstance(said, list):
            said = [chat_message(node) for node in said]
        self._event("user", "prompt", event, place, said)

    def _input(self, event: dict[str, Any], place: _Place) -> None:
        self._event("user", "input", event, place, self._resolve(event.get("input")))

    def _changes(self, event: dict[str, Any], place: _Place) -> None:
        self._event("state", str(event.get("event")), event, place, self._resolve(event.get("changes")))

    def _note(self, event: dict[str, Any], place: _Place) -> None:
        self._event("note", str(event.get("event")), event, place, self._content(event))

    def _plain(self, event: dict[str, Any], place: _Place) -> None:
        self._event("span", str(event.get("event") or "?"), event, place, self._content(event))

    def _content(self, event: Mapping[str, Any]) -> Json:
        told = {name: value for name, value in event.items() if name not in _ENVELOPE and value is not None}
        return self._resolve(told)


def _some(event: Mapping[str, Any], *names: str) -> dict[str, Json]:
    return {name: event[name] for name in names if event.get(name) not in (None, {}, "")}


def _error(error: Json) -> dict[str, Json] | None:
    """Return an error of the log with its text under ``message``; None if there is none."""
    if isinstance(error, str) and error:
        return {"message": error}
    if not isinstance(error, dict) or not error:
        return None
    return {name: value for name, value in error.items() if name != "traceback_ansi" and value is not None}


def _took(event: Mapping[str, Any]) -> float | None:
    """Return how long an event lasted, in milliseconds; of an old one, what the log calls its working time."""
    began, ended = epoch_ms(event.get("timestamp")), epoch_ms(event.get("completed"))
    if began is not None and ended is not None and ended >= began:
        return round(ended - began, 3)
    worked = event.get("working_time")
    return round(worked * 1000, 3) if isinstance(worked, int | float) and not isinstance(worked, bool) else None
