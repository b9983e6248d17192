"""mini-swe-agent trajectories: messages, each with what the agent noted beside it.

From version 2 on a message keeps the provider's raw response and the commands it asked for. Before, a command is a
fenced block of the answer, and the user message after it holds what it printed. The agent's configuration, which may
hold an API key, is left out.
"""

from __future__ import annotations

import re
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Lane, Transcript, text_of

_COMMAND = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL)
_PRINTED = re.compile(r"<returncode>(-?\d+)</returncode>\s*(?:<output>\n?(.*?)\n?</output>)?", re.DOTALL)
_TOOL = "bash"


def detect(head: Head) -> bool:
    """Tell whether a file is a mini-swe-agent trajectory; the oldest are bare lists of messages."""
    if head.top is not None:
        return str(head.top.get("trajectory_format")).startswith("mini-swe-agent") and "messages" in head.top
    return head.first is not None and "role" in head.first and b"<returncode>" in head.data


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read the one run of a file."""
    tree = source.json()
    info = object_of(tree.get("info") if isinstance(tree, dict) else None)
    messages = tree.get("messages") if isinstance(tree, dict) else tree
    if not isinstance(messages, list):
        raise invalid_recording(f"{label_of(source.name)} has no messages", hint="it is no mini-swe-agent trajectory")
    if "config" in info:
        sink.skipped("info.config")
    sink.meta(version=info.get("mini_version"), modelStats=info.get("model_stats"))
    reading = _Reading(Transcript(sink))
    for number, message in enumerate(messages):
        if isinstance(message, dict):
            reading.message(message, number)
        else:
            sink.unknown("message that is no object")
    reading.transcript.close()
    if info.get("exit_status") is not None and not reading.ended:
        _ending(sink, info["exit_status"], info.get("submission"), None)


class _Reading:
    """One run being read."""

    def __init__(self, transcript: Transcript) -> None:
        self.transcript = transcript
        self.lane: Lane = transcript.lane()
        self.ended = False
        self._fenced = False
        """Whether the last answer asked for a command in a fenced block."""

    def message(self, message: dict[str, Any], number: int) -> None:
        """Read one message."""
        extra = message["extra"] if isinstance(message.get("extra"), dict) else {}
        at = epoch_ms(extra.get("timestamp"))
        role, content = message.get("role"), message.get("content")
        plain = {key: message[key] for key in ("role", "content", "tool_calls", "tool_call_id") if message.get(key)}
        if role == "assistant":
            self._answer(plain, extra, number, at)
        elif role == "exit":
            self.ended = True
            _ending(self.transcript.sink, extra.get("exit_status"), extra.get("submission"), at)
        elif role == "tool" or (role == "user" and self._fenced and "<returncode>" in text_of(content)):
            self._result(plain, extra, at)
        elif role == "user":
            self.lane.prompt(plain, text_of(content), at)
        else:
            self.lane.say(plain, at)

    def _answer(self, plain: dict[str, Any], extra: dict[str, Any], number: int, at: float | None) -> None:
        response = extra.get("response")
        model = response.get("model") if isinstance(response, dict) else None
        answer = self.lane.answer(f"message {number}", model if isinstance(model, str) else None, at)
        answer.value = {**response} if isinstance(response, dict) else {**plain}
        answer.messages = [plain]
        self.lane.settle()
        self.lane.close()
        actions = extra.get("actions")
        commands: list[tuple[str | None, str]] = [
            (action.get("tool_call_id"), str(action.get("command")))
            for action in (actions if isinstance(actions, list) else ())
            if isinstance(action, dict)
        ]
        if not commands:
            commands = [(None, text) for text in _COMMAND.findall(text_of(plain.get("content")))[:1]]
        self._fenced = any(call_id is None for call_id, _ in commands)
        for call_id, command in commands:
            self.transcript.call(self.lane, call_id, _TOOL, {"command": command}, at)

    def _result(self, plain: dict[str, Any], extra: dict[str, Any], at: float | None) -> None:
        call_id = plain.get("tool_call_id")
        found = _PRINTED.search(text_of(plain.get("content")))
        code = extra.get("returncode", int(found[1]) if found else None)
        printed = extra.get("raw_output", found[2] if found else None)
        value: dict[str, Json] = {
            "returncode": code,
            "output": printed if printed is not None else plain.get("content"),
        }
        if extra.get("exception_info"):
            value["exception"] = extra["exception_info"]
        failed = bool(extra.get("exception_info")) or (type(code) is int and code != 0)
        run = self.transcript.asked(self.lane, call_id if isinstance(call_id, str) else None, at)
        self.transcript.result(run, value, failed=failed, at=at)
        self.lane.say(plain, at)


def _ending(sink: RunSink, status: Json, submission: Json, at: float | None) -> None:
    failed = str(status).lower() != "submitted"
    value = {"exit_status": status, "submission": submission}
    sink.event("note", "exit", value=value, outcome="throw" if failed else "return", at=at, label=label_of(str(status)))


FORMAT = Format(
    "mini-swe-agent",
    "mini-swe-agent trajectory",
    detect,
    one_run,
    read,
    exact=("answers, commands, what they printed and returned", "the provider's raw response, from version 2 on"),
    inferred=("which command a result answers, before version 2",),
    missing=("times, before version 2", "tools given to the model"),
)
