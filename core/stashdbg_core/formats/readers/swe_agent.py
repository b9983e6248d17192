"""SWE-agent trajectories (``.traj``), versions 0 and 1: one JSON object of steps beside the history of messages.

A step is a model's answer, the command it asked for and what that printed. Only how long a command took is written
down, never when. A demonstration holds the history alone; messages marked as a demonstration are no events.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript import Lane, Transcript, text_of
from stashdbg_core.parse import parse_json

_SUBMITTED = "submitted"
_ASSISTANT = "assistant"


def detect(head: Head) -> bool:
    """Tell whether a file is a SWE-agent trajectory, or the history of one."""
    top = head.top
    if top is None or "history" not in top:
        return False
    return "trajectory" in top or (len(top) == 1 and b'"message_type"' in head.data)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read the one run of a file."""
    tree = source.json()
    if not isinstance(tree, dict):
        raise invalid_recording(f"{label_of(source.name)} is no JSON object", hint="it is no SWE-agent trajectory")
    info = tree["info"] if isinstance(tree.get("info"), dict) else {}
    config = _object(tree.get("replay_config"))
    sink.meta(environment=tree.get("environment"), modelStats=info.get("model_stats"))
    transcript = Transcript(sink)
    lane = transcript.lane()
    lane.model = _model(config) or lane.model
    history = [message for message in objects_of(tree.get("history")) if _counts(message, sink)]
    steps = objects_of(tree.get("trajectory"))
    opening = next((at for at, message in enumerate(history) if message.get("role") == _ASSISTANT), len(history))
    for message in history[:opening]:
        _opening(lane, message)
    for number, step in enumerate(steps or _steps_of(history[opening:]), 1):
        _step(transcript, lane, step, number)
    transcript.close()
    _ending(sink, info)


def _opening(lane: Lane, message: dict[str, Any]) -> None:
    content = message.get("content")
    if message.get("role") == "user":
        lane.prompt({"role": "user", "content": content}, text_of(content), None)
    else:
        lane.say({"role": str(message.get("role")), "content": content})


def _step(transcript: Transcript, lane: Lane, step: dict[str, Any], number: int) -> None:
    prompt = step.get("messages") or step.get("query")
    if isinstance(prompt, list):
        lane.settle()
        lane.chat.extend_to([_plain(message) for message in prompt])
    answer = lane.answer(f"step {number}", None, None)
    said = {"role": _ASSISTANT, "content": step.get("response"), "tool_calls": step.get("tool_calls")}
    said = {key: value for key, value in said.items() if value is not None}
    answer.value = {**said, "thought": step["thought"]} if step.get("thought") else {**said}
    answer.messages = [said]
    lane.settle()
    lane.close()
    action = step.get("action")
    if not isinstance(action, str) or not action.strip():
        return
    call = objects_of(step.get("tool_calls"))
    call_id = call[0].get("id") if call else None
    given = {"command": action}
    run = transcript.call(lane, call_id if isinstance(call_id, str) else None, action.split()[0], given, None)
    seconds = step.get("execution_time")
    ms = seconds * 1000 if isinstance(seconds, int | float) else None
    value = {"observation": step.get("observation"), "state": _object(step.get("state"))}
    transcript.result(run, {key: part for key, part in value.items() if part}, failed=False, at=None, ms=ms)
    role = {"role": "tool", "tool_call_id": call_id} if call_id else {"role": "user"}
    lane.say({**role, "content": step.get("observation")})


def _steps_of(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps of a history: each answer with the message after it, which is what its command printed."""
    steps: list[dict[str, Any]] = []
    for message in history:
        if message.get("role") == _ASSISTANT:
            steps.append({**message, "response": message.get("content")})
        elif steps:
            steps[-1].setdefault("observation", message.get("content"))
    return steps


def _ending(sink: RunSink, info: dict[str, Any]) -> None:
    status = info.get("exit_status")
    if status is None:
        return
    value = {"exit_status": status, "submission": info.get("submission")}
    failed = status != _SUBMITTED
    sink.event("note", "exit", value=value, outcome="throw" if failed else "return", label=label_of(str(status)))


def _counts(message: dict[str, Any], sink: RunSink) -> bool:
    if message.get("is_demo"):
        sink.skipped("message of a demonstration")
        return False
    return True


def _plain(message: Json) -> Json:
    """Return a message as it was sent, without what SWE-agent notes beside it."""
    if not isinstance(message, dict):
        return message
    sent = {key: value for key, value in message.items() if key in ("role", "content", "tool_calls", "tool_call_id")}
    answered = message.get("tool_call_ids")
    if isinstance(answered, list) and answered:
        sent.setdefault("tool_call_id", answered[0])
    return sent


def _model(config: Json) -> str | None:
    for key in ("agent", "model", "name"):
        config = config.get(key) if isinstance(config, dict) else None
    return config if isinstance(config, str) else None


def _object(value: Json) -> Json:
    """Return an object that may be written as JSON text; other values as they are."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return parse_json(value.encode("utf-8", "surrogatepass"))
        except StashError:
            return value
    return value


FORMAT = Format(
    "swe-agent",
    "SWE-agent trajectory",
    detect,
    one_run,
    read,
    exact=("answers, commands and what they printed", "how long a command took, from version 1 on"),
    inferred=("prompts: all messages before an answer, where the step does not repeat them",),
    missing=("times", "token counts of a call", "whether a command failed"),
)
