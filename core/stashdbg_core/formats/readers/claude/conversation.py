"""The messages of Claude Code as a transcript: answers told block by block, tool results, prompts.

Serves session files, what they embed of sub-agents, and the stream of ``--output-format stream-json``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.claude.lines import (
    ENVELOPE,
    added,
    blocks_of,
    is_markup,
    is_result_line,
    result_value,
    tool_key,
    with_images,
)
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Answer, Lane, ToolRun, Transcript, text_of, thrown
from stashdbg_core.formats.transcript_labels import prompt_text

SYNTHETIC = "<synthetic>"
_DURATIONS = ("durationMs", "totalDurationMs")


class ClaudeConversation:
    """Takes ``assistant`` and ``user`` records.

    Args:
        transcript: Where they go.
        on_call: Told of each tool call as it is asked for.
        on_result: Told of each result, with what the tool itself returned, before the call is finished.
        full_output: Returns the whole output of a call whose result names a file that holds it, if it is there.
    """

    def __init__(
        self,
        transcript: Transcript,
        *,
        on_call: Callable[[ToolRun], object] | None = None,
        on_result: Callable[[ToolRun, Json], object] | None = None,
        full_output: Callable[[ToolRun, Json, Json], str | None] | None = None,
    ) -> None:
        self._transcript = transcript
        self._sink = transcript.sink
        self._on_call = on_call
        self._on_result = on_result
        self._full_output = full_output
        self._nameless = 0

    def assistant(self, record: dict[str, Any], lane: Lane) -> None:
        """Take a piece of an answer: usually one content block."""
        message = record.get("message")
        if not isinstance(message, dict):
            self._sink.unknown("assistant record without a message")
            return
        at = epoch_ms(record.get("timestamp"))
        content = blocks_of(with_images(message.get("content")))
        identity, named = self._identity(record, message)
        model = message.get("model") if isinstance(message.get("model"), str) else None
        if record.get("isApiErrorMessage") is True:
            self._api_error(record, lane.answer(identity, None, at, named=named), content)
            return
        if model == SYNTHETIC:
            self._sink.skipped("answers that no model gave")
            lane.say({"role": "assistant", "content": content})
            return
        answer = lane.answer(identity, model, at, named=named)
        if not answer.value:
            answer.value.update({"role": "assistant", **message, "content": []})
            answer.messages.append({"role": "assistant", "content": answer.value["content"]})
        answer.value.update({name: fact for name, fact in message.items() if name != "content"})
        answer.value["content"] += content
        unknown = self._unknown_fields(record, "assistant")
        if unknown:
            answer.value["record"] = {**answer.value.get("record", {}), **unknown}
        for block in content:
            if isinstance(block, dict) and block.get("type") == "tool_use":
                call_id = block.get("id") if isinstance(block.get("id"), str) else None
                run = self._transcript.call(lane, call_id, tool_key(block.get("name")), block.get("input"), at)
                if self._on_call is not None:
                    self._on_call(run)

    def user(self, record: dict[str, Any], lane: Lane) -> None:
        """Take a prompt, results of tools, or what Claude Code itself told the model."""
        message = record.get("message")
        if not isinstance(message, dict):
            self._sink.unknown("user record without a message")
            return
        at = epoch_ms(record.get("timestamp"))
        content = with_images(message.get("content"))
        said = {"role": "user", "content": content}
        if is_result_line(content):
            lane.say(said, at)
            self._results(record, content, lane, at)
        elif is_prompt(record):
            unknown = self._unknown_fields(record, "user")
            lane.prompt(said, prompt_text(content), at, value={**said, "record": unknown} if unknown else None)
        else:
            lane.say(said, at)

    def _results(self, record: dict[str, Any], content: Any, lane: Lane, at: float | None) -> None:
        results = [block for block in content if isinstance(block, dict) and block.get("type") == "tool_result"]
        rich = record.get("toolUseResult", record.get("tool_use_result")) if len(results) == 1 else None
        unknown = self._unknown_fields(record, "user")
        if isinstance(rich, dict) and rich.get("originalFile"):
            self._sink.skipped("files as they were before an edit")
        for block in results:
            named = block.get("tool_use_id", record.get("sourceToolUseID"))
            run = self._transcript.asked(lane, named if isinstance(named, str) else None, at)
            if self._on_result is not None:
                self._on_result(run, rich)
            shown, failed = block.get("content"), block.get("is_error") is True
            whole = self._full_output(run, rich, shown) if self._full_output is not None else None
            value: Json
            if failed:
                value = thrown(shown)
                more = added(rich, text_of(shown), run.input)
                if more is not None:
                    value["toolUseResult"] = more
            else:
                value = result_value(shown, rich, run.input)
            if whole is not None or unknown:
                value = value if isinstance(value, dict) else {"content": value}
                value |= {"fullOutput": whole} if whole is not None else {}
                value |= {"record": unknown} if unknown else {}
            self._transcript.result(run, value, failed=failed, at=at, ms=_duration(rich))

    def _api_error(self, record: dict[str, Any], answer: Answer, content: list[Json]) -> None:
        answer.failed = True
        answer.value.update({"role": "assistant", "content": content})
        error: dict[str, Json] = {"error": text_of(content) or content}
        for name in ("error", "apiErrorStatus"):
            if record.get(name) is not None:
                error["type" if name == "error" else name] = record[name]
        answer.error = error

    def _identity(self, record: dict[str, Any], message: dict[str, Any]) -> tuple[str, bool]:
        """Return what the pieces of an answer have in common, and whether the file says so."""
        for name in (message.get("id"), record.get("requestId"), record.get("uuid")):
            if isinstance(name, str) and name:
                return name, True
        self._nameless += 1
        return f"answer {self._nameless}", False

    def _unknown_fields(self, record: dict[str, Any], kind: str) -> dict[str, Json]:
        unknown = record.keys() - ENVELOPE
        for name in unknown:
            self._sink.unknown(f"field {kind}.{name}")
        return {name: record[name] for name in record if name in unknown} if unknown else {}


def is_prompt(record: dict[str, Any]) -> bool:
    """Tell whether a ``user`` record is what a person, or the agent above, asked."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if record.get("isMeta") is True or record.get("isCompactSummary") is True or is_result_line(content):
        return False
    return not is_markup(content)


def _duration(rich: Json) -> float | None:
    if not isinstance(rich, dict):
        return None
    found = next((rich[name] for name in _DURATIONS if name in rich), None)
    return found if isinstance(found, int | float) and not isinstance(found, bool) and found >= 0 else None
