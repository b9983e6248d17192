"""The events of one agentfootprint run, written as a run: turns, model calls and tool calls, all else around them.

An event has no number of its own; their order is that of the file. Calls and their ends meet by the stage they ran in,
or the tool call's id. A lane is a subflow in which a model is called; the tool's own housekeeping belongs to the lane
that it is done for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.agentfootprint.prompts import Committed, PromptParts, committed_calls, tool_blocks
from stashdbg_core.formats.readers.agentfootprint.types import channel_of, is_failure, is_known, short_type
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import Chat, RunSink
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript_labels import reply_label, tool_label

_INTERNAL = "sf-"
"""What the names of subflows begin with that the tool itself puts in."""
_PLACEHOLDERS = frozenset({"[REDACTED]", "REDACTED"})
_TELLING = ("error", "message", "lastError", "contentSummary", "content", "reason", "why", "rationale", "outcome")
_FOLDED = {"stream.token": "content", "stream.thinking_delta": "content"}
_USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
    "thinking": "thinking_tokens",
}
_Path = tuple[str, ...]
Event = Mapping[str, Any]


@dataclass(slots=True)
class _ModelCall:
    seq: int
    stage: str
    told: Mapping[str, Any]
    committed: Committed | None
    asked: list[Json]
    """Tool calls that began after it: what it asked for, where the commit log does not say."""
    tokens: list[str] = field(default_factory=list)
    thoughts: list[Json] = field(default_factory=list)


@dataclass(slots=True)
class _Lane:
    name: str | None
    chat: Chat
    parts: PromptParts = field(default_factory=PromptParts)
    agent: str = "agent"
    turn: int | None = None
    calls: list[_ModelCall] = field(default_factory=list)
    """Open ones."""
    made: int = 0


class RunEvents:
    """Writes the events of a run.

    Args:
        sink: Where they go.
        snapshot: The state that the recording ends with; it may hold what the events do not.
    """

    def __init__(self, sink: RunSink, snapshot: Json) -> None:
        self._sink = sink
        self._committed = committed_calls(snapshot)
        self._lanes: dict[_Path, _Lane] = {}
        self._paths: set[_Path] = set()
        self._tools: dict[str, list[tuple[int, str]]] = {}
        self._asked: dict[int, list[Json]] = {}
        self._fatal: Mapping[str, Any] | None = None
        self.redacted: set[str] = set()
        """Names whose values the tool had replaced."""
        self._kinds: dict[str, Callable[[Mapping[str, Any], Event, _Lane], None]] = {
            "agent.turn_start": self._turn_start,
            "agent.turn_end": self._turn_end,
            "agent.run_configured": self._configured,
            "agent.iteration_end": self._iteration_end,
            "stream.llm_start": self._llm_start,
            "stream.llm_end": self._llm_end,
            "stream.tool_start": self._tool_start,
            "stream.tool_end": self._tool_end,
            "stream.token": self._token,
            "stream.thinking_delta": self._token,
            "stream.thinking_end": self._thinking_end,
            "context.injected": self._injected,
            "context.slot_composed": self._composed,
            "error.retried": self._retried,
            "reliability.retried": self._retried,
            "error.fatal": self._failed_for_good,
        }

    def write(self, events: Sequence[Event]) -> None:
        """Write them, and settle what has no end."""
        self._paths = {_path(event) for event in events if _kind(event) in ("stream.llm_start", "agent.turn_start")}
        self._look_ahead(events)
        for event in events:
            kind, told, lane = _kind(event), _payload(event), self._lane(_path(event))
            write = self._kinds.get(kind)
            if write is not None:
                write(told, event, lane)
            else:
                if not is_known(kind):
                    self._sink.unknown(f"event {event.get('type')}")
                self._plain(told, event, lane)
        self._settle()

    def _look_ahead(self, events: Sequence[Event]) -> None:
        """Find which tool calls began after each model call of a lane, and before the next one."""
        latest: dict[_Path, list[Json]] = {}
        calls = 0
        for event in events:
            kind, path, told = _kind(event), self._lane_path(_path(event)), _payload(event)
            if kind == "stream.llm_start":
                latest[path] = self._asked[id(event)] = []
                calls += not path
            elif kind == "stream.tool_start" and path in latest:
                call = {"id": told.get("toolCallId"), "name": told.get("toolName"), "args": told.get("args")}
                latest[path].append(call)
        if calls != len(self._committed):
            self._committed = []

    def _lane_path(self, path: _Path) -> _Path:
        while path and path not in self._paths:
            path = path[:-1]
        return path

    def _lane(self, path: _Path) -> _Lane:
        path = self._lane_path(path)
        lane = self._lanes.get(path)
        if lane is None:
            name = "/".join(path) or None
            lane = self._lanes[path] = _Lane(name, self._sink.chat(), agent=path[-1] if path else "agent")
        return lane

    def _around(self, lane: _Lane) -> int | None:
        """Return the turn that something happens in: its lane's, else the main one's."""
        main = self._lanes.get(())
        return lane.turn if lane.turn is not None or main is None else main.turn

    def _where(self, event: Event, lane: _Lane) -> dict[str, Any]:
        return {"at": _at(event), "thread": lane.name, "parent": self._around(lane)}

    def _configured(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        if isinstance(told.get("agentId"), str) and told["agentId"]:
            lane.agent = told["agentId"]
        self._plain(told, event, lane)

    def _turn_start(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        lane.turn = None
        said = told.get("userPrompt")
        label = said if isinstance(said, str) else None
        seq = self._sink.event("user", "prompt", value=said, label=label, **self._where(event, lane))
        self._mark(seq, said)
        if not lane.parts.history and isinstance(said, str):
            lane.parts.history = [{"role": "user", "content": said}]
        where = self._where(event, lane)
        lane.turn = self._sink.start("agent", lane.agent, input=_turn(told), label=label, **where)

    def _turn_end(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        said = told.get("finalContent")
        if lane.turn is None:
            self._plain(told, event, lane)
            return
        self._sink.finish(
            lane.turn, _turn(told), at=_at(event), ms=_ms(told), label=said if isinstance(said, str) and said else None
        )
        lane.turn = None

    def _iteration_end(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        history = told.get("history")
        if isinstance(history, list):
            lane.parts.history = history
            self._sink.skipped("history at the end of an iteration, which the next prompt repeats")
            told = {name: value for name, value in told.items() if name != "history"}
        self._plain(told, event, lane)

    def _injected(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        lane.parts.inject(told)
        self._plain(told, event, lane)

    def _composed(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        lane.parts.close(str(told.get("slot")))
        self._plain(told, event, lane)

    def _llm_start(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        committed = None
        if lane.name is None and lane.made < len(self._committed):
            committed = self._committed[lane.made]
        lane.made += 1
        prompt = lane.parts.prompt(told, committed.history if committed is not None else ())
        lane.parts.close()
        lane.chat.extend_to(prompt.messages)
        model = told.get("model") or told.get("provider") or "unknown"
        seq = self._sink.start("llm", str(model), input=lane.chat.input(**prompt.others), **self._where(event, lane))
        self._mark(seq, [prompt.messages, prompt.others])
        if prompt.lacks is not None:
            self._sink.cut(seq, prompt.lacks)
        lane.calls.append(_ModelCall(seq, _stage(event), told, committed, self._asked.get(id(event), [])))

    def _llm_end(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        call = self._call(event, lane)
        if call is not None:
            lane.calls.remove(call)
        value = _answer(told, call)
        if call is None:
            seq = self._sink.event("llm", "unknown", value=value, ms=_ms(told), **self._where(event, lane))
            self._sink.cut(seq, "its start is not in the recording")
        else:
            seq = call.seq
            self._sink.finish(seq, value, at=_at(event), ms=_ms(told), label=reply_label(value) or None)
        self._mark(seq, value)

    def _call(self, event: Event, lane: _Lane) -> _ModelCall | None:
        """Return the open call that an event belongs to: of the same stage, else the last one."""
        stage = _stage(event)
        same = [call for call in lane.calls if stage and call.stage == stage]
        found = same or lane.calls
        return found[-1] if found else None

    def _token(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        kind = _kind(event)
        self._sink.skipped(f"{kind}: the answer holds it")
        call = self._call(event, lane)
        piece = told.get(_FOLDED[kind])
        if call is not None and kind == "stream.token" and isinstance(piece, str):
            call.tokens.append(piece)

    def _thinking_end(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        call, said = self._call(event, lane), told.get("content")
        if call is not None and isinstance(said, str):
            call.thoughts.append({"type": "thinking", "thinking": said})
            self._sink.skipped("stream.thinking_end: the answer holds it")
        else:
            self._plain(told, event, lane)

    def _tool_start(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        name, call_id, given = str(told.get("toolName") or "unknown"), told.get("toolCallId"), told.get("args")
        call_id = call_id if isinstance(call_id, str) else None
        label = tool_label(name, given)
        seq = self._sink.start("tool", name, input=given, label=label, call_id=call_id, **self._where(event, lane))
        self._mark(seq, given)
        self._tools.setdefault(call_id or "", []).append((seq, name))

    def _tool_end(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        call_id = told.get("toolCallId")
        call_id = call_id if isinstance(call_id, str) else None
        waiting = self._tools.get(call_id or "")
        result = told.get("result")
        failed = told.get("error") is True
        if failed and not (isinstance(result, dict) and ("error" in result or "message" in result)):
            result = {"error": result}
        outcome: Any = "throw" if failed else "return"
        if waiting:
            seq, _ = waiting.pop(0)
            self._sink.finish(seq, result, outcome=outcome, at=_at(event), ms=_ms(told))
        else:
            where = self._where(event, lane)
            seq = self._sink.event(
                "tool", "unknown", value=result, outcome=outcome, ms=_ms(told), call_id=call_id, **where
            )
            self._sink.cut(seq, "its start is not in the recording")
        self._mark(seq, result)

    def _retried(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        """A model call that is open when something is tried again is the one that failed."""
        if lane.calls:
            self._fail(lane.calls.pop(), told.get("lastError") or told.get("error") or told.get("reason"))
        self._plain(told, event, lane)

    def _failed_for_good(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        self._fatal = told
        self._plain(told, event, lane)

    def _fail(self, call: _ModelCall, error: Json) -> None:
        value: dict[str, Json] = {"error": error}
        if call.tokens:
            value["partial"] = "".join(call.tokens)
        self._sink.inferred(call.seq)
        self._sink.finish(call.seq, value, outcome="throw")

    def _plain(self, told: Mapping[str, Any], event: Event, lane: _Lane) -> None:
        kind = _kind(event)
        said = next((told[name] for name in _TELLING if isinstance(told.get(name), str) and told[name]), None)
        seq = self._sink.event(
            channel_of(kind),
            kind,
            value=dict(told),
            outcome="throw" if is_failure(kind) else "return",
            label=said,
            **self._where(event, lane),
        )
        self._mark(seq, told)

    def _settle(self) -> None:
        """Give calls that never ended the error that the run ended with; without one they stay pending."""
        for lane in self._lanes.values():
            for call in lane.calls:
                if self._fatal is not None:
                    self._fail(call, self._fatal.get("error"))
                elif call.tokens:
                    self._sink.cut(call.seq, "it had streamed: " + "".join(call.tokens)[:200])
            if lane.turn is not None and self._fatal is not None:
                self._sink.inferred(lane.turn)
                self._sink.finish(lane.turn, dict(self._fatal), outcome="throw")
        lost = sum(len(waiting) for waiting in self._tools.values())
        if lost:
            self._sink.note("no-result", f"{lost} tool calls have no result in the recording")

    def _mark(self, seq: int, tree: Json) -> None:
        names = redacted_names(tree)
        if names:
            self.redacted |= names
            self._sink.cut(seq, "redacted when it was recorded: " + ", ".join(sorted(names)))


def _answer(told: Mapping[str, Any], call: _ModelCall | None) -> dict[str, Json]:
    """Return a model's answer as Anthropic's messages have it."""
    said, content = told.get("content"), []
    if call is not None:
        content += call.thoughts
    if isinstance(said, str) and said:
        content.append({"type": "text", "text": said})
    wanted = told.get("toolCallCount")
    if call is not None and type(wanted) is int and wanted > 0:
        held = call.committed.tool_calls if call.committed is not None else None
        calls = held if isinstance(held, list) and len(held) == wanted else call.asked[:wanted]
        content += tool_blocks(calls)
    value: dict[str, Json] = {"role": "assistant", "content": content}
    if call is not None and call.told.get("model") is not None:
        value["model"] = call.told["model"]
    value["stop_reason"] = told.get("stopReason")
    usage = told.get("usage")
    if isinstance(usage, dict):
        value["usage"] = {_USAGE.get(name, name): count for name, count in usage.items()}
    if told.get("providerResponseRef") is not None:
        value["id"] = told["providerResponseRef"]
    return value


def redacted_names(tree: Json) -> set[str]:
    """Return the names of the values of a tree that are placeholders of the tool."""
    found: set[str] = set()
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            found |= {str(name) for name, value in node.items() if isinstance(value, str) and value in _PLACEHOLDERS}
            pending += [value for value in node.values() if isinstance(value, dict | list)]
        elif isinstance(node, list):
            pending += [value for value in node if isinstance(value, dict | list)]
    return found


def _kind(event: Event) -> str:
    return short_type(str(event.get("type")))


def _payload(event: Event) -> Mapping[str, Any]:
    return object_of(event.get("payload"))


def _meta(event: Event) -> Mapping[str, Any]:
    return object_of(event.get("meta"))


def _path(event: Event) -> _Path:
    path = _meta(event).get("subflowPath")
    return tuple(str(step) for step in path if not str(step).startswith(_INTERNAL)) if isinstance(path, list) else ()


def _turn(told: Mapping[str, Any]) -> Json:
    """Return what a turn began or ended with, its number last: it says least."""
    said = {name: value for name, value in told.items() if name != "turnIndex"}
    return {**said, "turnIndex": told["turnIndex"]} if "turnIndex" in told else said


def _stage(event: Event) -> str:
    return str(_meta(event).get("runtimeStageId") or "")


def _at(event: Event) -> float | None:
    return epoch_ms(_meta(event).get("wallClockMs"))


def _ms(told: Mapping[str, Any]) -> float | None:
    took: Any = told.get("durationMs")
    return float(took) if type(took) in (int, float) and took >= 0 else None
