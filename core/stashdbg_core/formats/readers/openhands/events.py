"""Events of OpenHands V1, as its software agent SDK writes them, as a transcript.

A model call is what shares a ``llm_response_id``: the actions that one answer asked for, or a message. The conversation
is a tree: each event names its parent, and the state names the leaf that lives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.openhands.blocks import (
    arguments_of,
    block_of,
    content_of,
    failure_of,
    thinking,
)
from stashdbg_core.formats.readers.openhands.metrics import Metrics
from stashdbg_core.formats.readers.openhands.view import Earlier, View
from stashdbg_core.formats.record_by_record import reading
from stashdbg_core.formats.shapes import word
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Answer, Lane, ToolRun, Transcript, text_of

_ROOT = "__root__"
_QUIET = {
    "CondensationRequest": "requests for a condensation",
    "TokenEvent": "token ids",
    "StreamingDeltaEvent": "pieces of streamed answers",
    "LLMCompletionLogEvent": "logs of completions",
}
_WHOLE_STATE = ("full_state", "stats")
_ENDED = ("completed", "failed")


class EventReader:
    """Takes the events of one conversation.

    Args:
        transcript: Takes what they tell.
        lane: The lane of the conversation.
        metrics: What was counted of its model calls.
        model: The model that was asked for.
        called: Told of each tool call when it was begun: a sub-agent may be behind it.
    """

    def __init__(
        self,
        transcript: Transcript,
        lane: Lane,
        metrics: Metrics,
        model: str | None,
        called: Callable[[ToolRun], object] | None = None,
    ) -> None:
        self._transcript = transcript
        self._sink: RunSink = transcript.sink
        self._lane = lane
        self._metrics = metrics
        self._model = model
        self._called = called
        self._view = View(lane)
        self._zone = 0.0
        self._answers: dict[str, Answer] = {}
        self.title = ""
        """The first prompt."""
        self.told: set[str] = set()
        """The responses that events told of."""

    def read(self, events: Sequence[dict[str, Any]], leaf: Json) -> None:
        """Read all events, in the order in which they were written.

        Args:
            events: The events.
            leaf: Id of the last event of the branch that lives; the last event if it is none.
        """
        self._set_zone(events)
        names = [word(event.get("id")) or f"event {place}" for place, event in enumerate(events)]
        parents = _parents(events, names)
        left = {parent for place, parent in enumerate(parents) if place and parent != names[place - 1]}
        states: dict[str, Earlier] = {}
        spans: list[tuple[int, int]] = []
        for place, event in enumerate(events):
            parent = parents[place]
            if place and parent != names[place - 1]:
                self._view.back_to(states.get(parent) if parent is not None else None)
            first = len(self._sink)
            with reading(event, self._sink, kind="kind"):
                self._take(names[place], event)
            spans.append((first, len(self._sink)))
            if names[place] in left:
                states[names[place]] = self._view.earlier()
        self._mark_abandoned(names, parents, spans, leaf)

    def _set_zone(self, events: Sequence[dict[str, Any]]) -> None:
        times = ((word(event.get("llm_response_id")), epoch_ms(event.get("timestamp"))) for event in events)
        zone = self._metrics.zone((response, at) for response, at in times if response is not None and at is not None)
        if zone is None:
            self._sink.note("no-zone", "times are local ones of a zone that is not written down; they are read as UTC")
        self._zone = zone or 0.0

    def _mark_abandoned(
        self, names: list[str], parents: list[str | None], spans: list[tuple[int, int]], leaf: Json
    ) -> None:
        above = dict(zip(names, parents, strict=True))
        here = leaf if isinstance(leaf, str) and leaf in above else names[-1] if names else None
        live: set[str] = set()
        while here is not None and here in above and here not in live:
            live.add(here)
            here = above[here]
        for name, (first, end) in zip(names, spans, strict=True):
            if name not in live:
                for seq in range(first, end):
                    self._sink.abandoned(seq)

    def _take(self, name: str, event: dict[str, Any]) -> None:
        kind = str(event.get("kind"))
        at = _time(event.get("timestamp"), self._zone)
        if kind == "SystemPromptEvent":
            self._system(name, event)
        elif kind == "MessageEvent":
            self._message(name, event, at)
        elif kind == "ActionEvent":
            self._action(name, event, at)
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            self._result(name, event, at)
        elif kind == "ACPToolCallEvent":
            self._acp(event, at)
        elif kind == "Condensation":
            self._condensation(event, at)
        elif kind == "CondensationSummaryEvent":
            self._view.say(name, {"role": "user", "content": event.get("summary")})
        elif kind in _QUIET:
            self._sink.skipped(_QUIET[kind])
        else:
            self._aside(kind, event, at)

    def _system(self, name: str, event: dict[str, Any]) -> None:
        blocks = [block_of(event[part]) for part in ("system_prompt", "dynamic_context") if event.get(part) is not None]
        self._view.say(name, {"role": "system", "content": blocks})
        if event.get("tools"):
            self._lane.others["tools"] = event["tools"]

    def _message(self, name: str, event: dict[str, Any], at: float | None) -> None:
        message = event["llm_message"]
        content = content_of(message.get("content")) + content_of(event.get("extended_content"))
        role = str(message.get("role") or "user")
        if role == "assistant":
            answer, said = self._answer(name, event, at, {**event, **message})
            said["content"] += content
            answer.value["content"] = list(said["content"])
            return
        said = {"role": role, "content": content}
        if event.get("source") != "user":
            self._view.say(name, said, at)
            self._sink.skipped("messages of the environment (in the prompts, no events)")
            return
        text = text_of(content_of(message.get("content")))
        self.title = self.title or label_of(text)
        self._lane.prompt(said, text, at)
        self._view.hold(name, said)

    def _action(self, name: str, event: dict[str, Any], at: float | None) -> None:
        answer, said = self._answer(name, event, at, event)
        call = event["tool_call"] if isinstance(event.get("tool_call"), dict) else {}
        call_id = word(event.get("tool_call_id"))
        key = word(event.get("tool_name")) or "unknown"
        given = arguments_of(call.get("arguments"), event.get("action"))
        said["content"] += [block for block in content_of(event.get("thought")) if block.get("text") != ""]
        said["content"].append({"type": "tool_use", "id": call_id, "name": key, "input": given})
        answer.value["content"] = list(said["content"])
        run = self._transcript.call(self._lane, call_id, key, given, at)
        if self._called is not None:
            self._called(run)

    def _answer(
        self, name: str, event: dict[str, Any], at: float | None, thoughts: dict[str, Any]
    ) -> tuple[Answer, dict[str, Any]]:
        """Return the answer that an event is a piece of, and the message that it is in later prompts."""
        response = word(event.get("llm_response_id"))
        answer = self._answers.get(response) if response is not None else None
        if answer is not None:
            said: Any = answer.messages[0]
            self._view.hold(name, said)
            return answer, said
        model = (self._metrics.model(response) if response is not None else None) or self._model
        answer = self._lane.answer(response or name, model, at, named=response is not None)
        said = {"role": "assistant", "content": thinking(thoughts)}
        answer.value = {"role": "assistant", "model": self._lane.model, "content": list(said["content"])}
        answer.messages = [said]
        self._view.hold(name, said)
        if response is not None:
            self.told.add(response)
            self._answers[response] = answer
            usage, latency = self._metrics.usage(response), self._metrics.latency(response)
            if usage is not None:
                answer.value["usage"] = usage
            if latency is not None and at is not None:
                answer.started = at - latency
        return answer, said

    def _result(self, name: str, event: dict[str, Any], at: float | None) -> None:
        call_id = word(event.get("tool_call_id"))
        run = self._transcript.asked(self._lane, call_id, at)
        observation = event.get("observation")
        failed = True
        if isinstance(observation, dict):
            content: Json = content_of(observation.get("content", observation.get("output")))
            failed = observation.get("is_error") is True
            value = with_media(failure_of(observation) if failed else observation)
        elif event.get("kind") == "UserRejectObservation":
            reason = event.get("rejection_reason")
            content = f"Action rejected: {reason}"
            value = {"error": content, "rejection_source": event.get("rejection_source") or "user"}
        else:
            content = event.get("error")
            value = {"error": content, "classification": event.get("classification")}
        self._transcript.result(run, value, failed=failed, at=at)
        extended = content_of(event.get("extended_content"))
        content = [*content, *extended] if isinstance(content, list) else content
        block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        said: Json = {"role": "user", "content": [{**block, "is_error": True} if failed else block]}
        self._view.say(name, said, at)

    def _acp(self, event: dict[str, Any], at: float | None) -> None:
        """Take a tool call of an agent that is driven over ACP, told again whenever its status changes."""
        call_id = word(event.get("tool_call_id"))
        known = self._transcript.calls.get(call_id) if call_id is not None else None
        if known is not None and known.answered and call_id is not None:
            del self._transcript.calls[call_id]
        key = word(event.get("tool_kind")) or "tool"
        run = self._transcript.call(
            self._lane, call_id, key, with_media(event.get("raw_input")), at, label=word(event.get("title"))
        )
        failed = event.get("is_error") is True or event.get("status") == "failed"
        if failed or event.get("status") in _ENDED:
            value = {"content": event.get("content"), "raw_output": event.get("raw_output")}
            self._transcript.result(run, with_media({"error": value} if failed else value), failed=failed, at=at)

    def _condensation(self, event: dict[str, Any], at: float | None) -> None:
        forgotten = {name for name in event.get("forgotten_event_ids") or () if isinstance(name, str)}
        offset, response = event.get("summary_offset"), word(event.get("llm_response_id"))
        facts: dict[str, Json] = {"summary": event.get("summary"), "forgotten_events": len(forgotten)}
        if response is not None:
            self.told.add(response)
            facts["usage"] = self._metrics.usage(response)
        self._sink.event(
            "note", "compaction", value=facts, at=at, label="conversation condensed", thread=self._lane.name
        )
        self._view.condense(forgotten, event.get("summary"), offset if type(offset) is int else None)

    def _aside(self, kind: str, event: dict[str, Any], at: float | None) -> None:
        """Take an event that the model is not told of."""
        lane = self._lane.name
        if kind == "ConversationStateUpdateEvent":
            key = word(event.get("key")) or "state"
            if key in _WHOLE_STATE:
                self._sink.skipped(f"state updates of {key}")
            else:
                self._sink.event("state", key, value=event.get("value"), at=at, thread=lane)
        elif kind == "ConversationErrorEvent":
            error = {"error": event.get("detail"), "code": event.get("code")}
            label = f"{event.get('code')}: {event.get('detail')}"
            self._sink.event("note", "error", value=error, outcome="throw", at=at, label=label, thread=lane)
        elif kind == "PauseEvent":
            self._sink.event("note", "pause", value=None, at=at, label="paused by its user", thread=lane)
        elif kind == "InterruptEvent":
            error = {"error": "interrupted by its user"}
            self._sink.event("note", "interrupt", value=error, outcome="throw", at=at, thread=lane)
        elif kind == "HookExecutionEvent":
            self._hook(event, at)
        else:
            self._sink.unknown(f"event kind {kind}")
            self._sink.event("state", f"event {kind}", value=event, at=at, thread=lane)

    def _hook(self, event: dict[str, Any], at: float | None) -> None:
        asked = {name: event[name] for name in ("hook_command", "tool_name", "hook_input") if event.get(name)}
        names = ("exit_code", "stdout", "stderr", "blocked", "reason", "additional_context", "error")
        value = {name: event[name] for name in names if event.get(name) not in (None, "", False)}
        failed = event.get("success") is False and event.get("blocked") is not True
        self._sink.event(
            "hook",
            word(event.get("hook_event_type")) or "hook",
            input=asked,
            value=value,
            outcome="throw" if failed else "return",
            at=at,
            label=word(event.get("hook_command")),
            thread=self._lane.name,
        )


def _parents(events: Sequence[dict[str, Any]], names: list[str]) -> list[str | None]:
    """Return what each event follows: what it names, else the one before it, as those of older versions do."""
    known = set(names)
    found: list[str | None] = []
    for place, event in enumerate(events):
        named = event.get("parent_id")
        if named == _ROOT:
            found.append(None)
        else:
            found.append(named if named in known else names[place - 1] if place else None)
    return found


def _time(timestamp: Json, zone: float) -> float | None:
    at = epoch_ms(timestamp)
    if at is None or not isinstance(timestamp, str) or timestamp.endswith("Z") or "+" in timestamp[10:]:
        return at
    return at - zone
