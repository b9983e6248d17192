"""Events of OpenHands V0: actions, and the observations that they cause.

An action of the agent is what a model's answer asked for; where the raw answer is beside it, it is the model call. A
result names its action (``cause``), stands with it in a pair, or, in old histories without ids, is that of the oldest
action that waits for one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.openhands.blocks import arguments_of, content_of
from stashdbg_core.formats.readers.openhands.metrics import Metrics
from stashdbg_core.formats.readers.openhands.view import View
from stashdbg_core.formats.record_by_record import reading
from stashdbg_core.formats.shapes import object_of, objects_of, word
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import ToolRun, Transcript, text_of

_ENVELOPE = frozenset(
    {"id", "timestamp", "source", "message", "cause", "action", "observation", "tool_call_metadata", "llm_metrics"}
)
_QUIET = frozenset({"null", "change_agent_state", "condensation_request", "start"})
_ENDING = frozenset({"finish", "reject"})
"""Actions that have no result."""
_NO_TOOLS = frozenset({"message", "system", "recall", "condensation", "pause", "resume", "stop", "loop_recovery"})


class HistoryReader:
    """Takes the events of one run.

    Args:
        sink: Takes what they tell.
        metrics: What was counted of its model calls.
        model: The model that was asked for.
    """

    def __init__(self, sink: RunSink, metrics: Metrics, model: str | None) -> None:
        self._sink = sink
        self._metrics = metrics
        self._transcript = Transcript(sink)
        self._lane = self._transcript.lane()
        self._lane.model = model or self._lane.model
        self._view = View(self._lane)
        self._runs: dict[str, ToolRun] = {}
        """Tool calls by the id of their action."""
        self._ids: dict[int, str] = {}
        """What a call is named by in the conversation, by its ``seq``."""
        self._answered: set[str] = set()
        self._zone = 0.0
        self._has_prompt = False
        self.title = ""
        """The first prompt."""

    def read(self, history: Sequence[Json]) -> None:
        """Read all events; an item is one, or a pair of an action and its observation."""
        self._set_zone(history)
        for place, item in enumerate(history):
            pair = objects_of(item) if isinstance(item, list) else [item]
            run: ToolRun | None = None
            for event in pair:
                if not isinstance(event, dict):
                    self._sink.unknown("item of a history that is no event")
                    continue
                with reading(event, self._sink, kind="action" if event.get("action") else "observation"):
                    run = self._event(event, f"event {place}", run)
        self._transcript.close()

    def _set_zone(self, history: Sequence[Json]) -> None:
        events = [event for item in history for event in (objects_of(item) if isinstance(item, list) else [item])]
        times = [(_response(event), epoch_ms(event.get("timestamp"))) for event in events if isinstance(event, dict)]
        if not any(at is not None for _, at in times):
            return
        for response, _ in times:
            if response is not None:
                self._metrics.note(response["id"], epoch_ms(response.get("created")))
        zone = self._metrics.zone((said["id"], at) for said, at in times if said is not None and at is not None)
        if zone is None:
            self._sink.note("no-zone", "times are local ones of a zone that is not written down; they are read as UTC")
        self._zone = zone or 0.0

    def _event(self, event: dict[str, Any], name: str, before: ToolRun | None) -> ToolRun | None:
        """Take an event; return the tool call that an action began."""
        name = str(event["id"]) if type(event.get("id")) is int else name
        at = epoch_ms(event.get("timestamp"))
        at = at if at is None else at - self._zone
        action, observation = word(event.get("action")), word(event.get("observation"))
        if action is None and observation is None:
            self._sink.unknown("event that is neither action nor observation")
            self._sink.event("state", "event", value=event, at=at)
        elif observation is not None:
            self._observation(event, observation, name, at, before)
        elif action in _QUIET:
            self._sink.skipped(f"{action} actions")
        elif action == "system":
            self._view.say(name, {"role": "system", "content": _args(event).get("content")})
            tools = _args(event).get("tools")
            if tools:
                self._lane.others["tools"] = tools
        elif action == "condensation":
            self._condensation(event, at)
        elif action == "message" and self._is_prompt(event):
            self._prompt(event, name, at)
        elif action in ("recall", "pause", "resume", "stop", "loop_recovery"):
            self._sink.event("note", action, value=_args(event), at=at)
        elif event.get("source") in ("user", "environment"):
            return self._call(event, str(action), name, at)
        else:
            return self._agent(event, str(action), name, at)
        return None

    def _is_prompt(self, event: dict[str, Any]) -> bool:
        if "source" in event:
            return bool(event["source"] != "agent")
        return not self._has_prompt or event.get("wait_for_response") is not True

    def _prompt(self, event: dict[str, Any], name: str, at: float | None) -> None:
        args = _args(event)
        content: list[Json] = content_of(args.get("content"))
        urls = args.get("image_urls") or args.get("images_urls") or ()
        content += [{"type": "image_url", "image_url": {"url": with_media(url)}} for url in urls]
        said: Json = {"role": "user", "content": content}
        self._has_prompt = True
        self.title = self.title or text_of(content)
        self._lane.prompt(said, text_of(content), at)
        self._view.hold(name, said)

    def _agent(self, event: dict[str, Any], action: str, name: str, at: float | None) -> ToolRun | None:
        """Take an action of the agent: a model call, unless an earlier action was asked for by the same one."""
        response = _response(event)
        if response is None or response["id"] not in self._answered:
            self._answer(event, action, name, at, response)
        if action in _NO_TOOLS or action in _ENDING:
            return None
        return self._call(event, action, name, at)

    def _answer(
        self, event: dict[str, Any], action: str, name: str, at: float | None, response: dict[str, Any] | None
    ) -> None:
        if response is not None:
            self._answered.add(response["id"])
            answer = self._lane.answer(response["id"], word(response.get("model")), at)
            latency = self._metrics.latency(response["id"])
            answer.started = at - latency if latency is not None and at is not None else answer.started
            choices = objects_of(response.get("choices"))
            said: Json = choices[0].get("message") if choices else None
            answer.value = {**response}
        else:
            answer = self._lane.answer(name, None, at, named=False)
            content: list[Json] = content_of(_thought(event) or None)
            if action == "message":
                content = content_of(_args(event).get("content"))
            else:
                content.append(
                    {"type": "tool_use", "id": _identity(event, name), "name": action, "input": _given(event)}
                )
            said = {"role": "assistant", "content": content}
            answer.value = {**said, "model": self._lane.model}
            self._sink.inferred(answer.seq)
        if said is not None:
            answer.messages = [said]
            self._view.hold(name, said)

    def _call(self, event: dict[str, Any], action: str, name: str, at: float | None) -> ToolRun:
        identity = _identity(event, name)
        given, key = _asked(event, identity), word(_metadata(event).get("function_name")) or action
        call_id = identity if "id" in event or identity != name else None
        run = self._transcript.call(self._lane, call_id, key, _given(event) if given is None else given, at)
        self._runs[name], self._ids[run.seq] = run, identity
        return run

    def _observation(
        self, event: dict[str, Any], kind: str, name: str, at: float | None, before: ToolRun | None
    ) -> None:
        cause, value = event.get("cause"), {key: part for key, part in event.items() if key not in _ENVELOPE}
        failed = kind in ("error", "user_rejected") or event.get("success") is False
        run = before or (self._runs.get(str(cause)) if type(cause) is int else None)
        if kind in ("agent_state_changed", "null", "condense", "loop_detection") or (kind == "recall" and run is None):
            self._aside(event, kind, name, value, at)
            return
        if run is None:
            call_id = word(_metadata(event).get("tool_call_id"))
            if call_id is None and ("id" in event or not self._waits()):
                self._aside(event, kind, name, value, at)
                return
            run = self._transcript.asked(self._lane, call_id, at)
        self._transcript.forget(run)
        content = event.get("content")
        self._transcript.result(run, with_media({"error": content, **value} if failed else value), failed=failed, at=at)
        self._view.say(name, {"role": "tool", "tool_call_id": self._ids.get(run.seq), "content": content}, at)

    def _waits(self) -> bool:
        """Tell whether a call without an id waits for its result."""
        return any(not run.answered for run in self._runs.values())

    def _aside(self, event: dict[str, Any], kind: str, name: str, value: dict[str, Json], at: float | None) -> None:
        """Take an observation that no action waits for."""
        if kind == "agent_state_changed":
            extras = event.get("extras")
            state = extras.get("agent_state") if isinstance(extras, dict) else event.get("agent_state")
            self._sink.event("state", "agent_state", value=state, at=at, label=str(state))
        elif kind == "null":
            self._sink.skipped("null observations")
        else:
            failed = kind == "error"
            thrown = {"error": event.get("content"), **value} if failed else value
            self._sink.event("note", kind, value=thrown, outcome="throw" if failed else "return", at=at)
            if event.get("content"):
                self._view.say(name, {"role": "user", "content": event["content"]}, at)

    def _condensation(self, event: dict[str, Any], at: float | None) -> None:
        args = _args(event)
        forgotten = {str(name) for name in args.get("forgotten_event_ids") or ()}
        first, last = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
        if type(first) is int and type(last) is int:
            forgotten |= {str(number) for number in range(first, min(last, first + 1_000_000) + 1)}
        facts: dict[str, Json] = {"summary": args.get("summary"), "forgotten_events": len(forgotten)}
        self._sink.event("note", "compaction", value=facts, at=at, label="conversation condensed")
        offset = args.get("summary_offset")
        self._view.condense(forgotten, args.get("summary"), offset if type(offset) is int else None)


def _args(event: dict[str, Any]) -> dict[str, Any]:
    """Return what an action was given; old histories have it among its own keys."""
    args = event.get("args")
    return args if isinstance(args, dict) else {key: part for key, part in event.items() if key not in _ENVELOPE}


def _given(event: dict[str, Any]) -> Json:
    return {key: part for key, part in _args(event).items() if key not in ("thought", "kernel_init_code")}


def _thought(event: dict[str, Any]) -> str:
    thought = _args(event).get("thought")
    return thought if isinstance(thought, str) else ""


def _metadata(event: dict[str, Any]) -> dict[str, Any]:
    return object_of(event.get("tool_call_metadata"))


def _identity(event: dict[str, Any], name: str) -> str:
    """Return what the call of an action is named by: the model's id of it, else the event's."""
    return word(_metadata(event).get("tool_call_id")) or name


def _response(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the raw answer that asked for an action."""
    response = _metadata(event).get("model_response") if "action" in event else None
    return response if isinstance(response, dict) and word(response.get("id")) is not None else None


def _asked(event: dict[str, Any], call_id: str | None) -> Json:
    """Return the arguments of a call as the model wrote them."""
    response = _response(event)
    for choice in objects_of(response.get("choices")) if response is not None else ():
        message = choice.get("message")
        for call in objects_of(message.get("tool_calls")) if isinstance(message, dict) else ():
            function = call.get("function")
            if call.get("id") == call_id and isinstance(function, dict):
                return arguments_of(function.get("arguments"), None)
    return None
