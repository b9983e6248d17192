"""The messages of an opencode session as a transcript.

An answer consists of parts in the order in which they came; a step of it, up to its ``step-finish``, is one model call,
and the tools among its parts ran within it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.shapes import object_of, objects_of
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.transcript import Answer, Transcript, text_of

_QUIET = frozenset({"snapshot", "agent"})
_ASKED = "What did we do so far?"
"""What opencode asks its model for a summary with."""
_CLEARED = "[Old tool result content cleared]"
"""What a model is given in the place of results that were taken out of its context."""


class OpencodeSession:
    """Takes the messages of a session, in order.

    Args:
        sink: Where events go.
        reverted: The message from which on its user undid what was said; None if nothing was undone.
    """

    def __init__(self, sink: RunSink, reverted: str | None = None) -> None:
        self.transcript = Transcript(sink)
        self._sink = sink
        self._reverted = reverted
        self._is_undone = False
        self._lane = self.transcript.lane()
        self._answers = 0

    def message(self, message: Mapping[str, Any]) -> None:
        """Take one message: ``{"info", "parts"}``."""
        info, parts = object_of(message.get("info")), objects_of(message.get("parts"))
        self._is_undone |= self._reverted is not None and info.get("id") == self._reverted
        first = len(self._sink)
        if info.get("role") == "user":
            self._prompt(info, parts)
        elif info.get("role") == "assistant":
            self._reply(info, parts)
        else:
            self._sink.unknown(f"message role {info.get('role')}")
            self._sink.event("state", f"message {info.get('role')}", value=dict(message))
        if self._is_undone:
            for seq in range(first, len(self._sink)):
                self._sink.abandoned(seq)

    def close(self) -> None:
        """Say that there is no more."""
        self.transcript.close()

    def _prompt(self, info: Mapping[str, Any], parts: Sequence[dict[str, Any]]) -> None:
        at = epoch_ms(object_of(info.get("time")).get("created"))
        compaction = next((part for part in parts if part.get("type") == "compaction"), None)
        if compaction is not None:
            facts = {name: fact for name, fact in compaction.items() if name in ("auto", "overflow", "tail_start_id")}
            self._sink.event("note", "compaction", value=facts, at=at, label="conversation compacted")
            self._lane.say({"role": "user", "content": _ASKED}, at)
            return
        content = [block for part in parts if (block := self._said(part)) is not None]
        own = [part["text"] for part in parts if part.get("type") == "text" and not part.get("synthetic")]
        if info.get("system"):
            self._lane.others["system"] = info["system"]
        said: Json = {"role": "user", "content": content}
        if own or not content:
            self._lane.prompt(said, " ".join(map(str, own)) or text_of(content), at)
        else:
            self._lane.say(said, at)  # what opencode itself told the model

    def _said(self, part: dict[str, Any]) -> Json | None:
        """Return a part of a prompt as a block of content; None for what the model is not told."""
        kind = part.get("type")
        if kind == "text":
            return None if part.get("ignored") else {"type": "text", "text": part.get("text")}
        if kind == "file":
            return with_media({name: part.get(name) for name in ("type", "filename", "mime", "url") if part.get(name)})
        if kind == "subtask":
            return {"type": "text", "text": part.get("prompt")}
        if kind in _QUIET:
            self._sink.skipped(f"{kind} parts")
        else:
            self._unknown(part)
        return None

    def _reply(self, info: Mapping[str, Any], parts: Sequence[dict[str, Any]]) -> None:
        """Write an answer, step by step."""
        time = object_of(info.get("time"))
        began: float | None = epoch_ms(time.get("created"))
        steps: list[list[dict[str, Any]]] = [[]]
        for part in parts:
            steps[-1].append(part)
            if part.get("type") == "step-finish":
                steps.append([])
        if len(steps) > 1 and not any(_is_content(part) for part in steps[-1]) and not info.get("error"):
            rest = steps.pop()
            steps[-1] += rest
        for number, step in enumerate(steps):
            error = info.get("error") if number == len(steps) - 1 else None
            ended = _latest(step) or (epoch_ms(time.get("completed")) if number == len(steps) - 1 else None)
            self._step(info, step, error, (began, ended))
            began = _latest(step, tools=True) or began

    def _step(
        self, info: Mapping[str, Any], step: Sequence[dict[str, Any]], error: Json, times: tuple[float | None, ...]
    ) -> None:
        self._answers += 1
        began, ended = times
        for part in step:
            if part.get("type") == "retry":
                at = epoch_ms(object_of(part.get("time")).get("created"))
                self._sink.event("note", "retry", value=part.get("error"), outcome="throw", at=at, label=_why(part))
        model = info.get("modelID")
        answer = self._lane.answer(
            f"answer {self._answers}", model if isinstance(model, str) else None, ended, named=False
        )
        answer.started = began
        self._fill(answer, info, step)
        if error:
            answer.failed = True
            answer.error = {"error": error, **answer.value}
        elif object_of(info.get("time")).get("completed") is None and not any(
            part.get("type") == "step-finish" for part in step
        ):
            self._sink.cut(answer.seq, "it was still being written")
        for part in step:
            self._beside(part)
        if info.get("summary") is True and not error:
            self._lane.restart()
            for said in ({"role": "user", "content": _ASKED}, *answer.messages):
                self._lane.say(said)

    def _fill(self, answer: Answer, info: Mapping[str, Any], step: Sequence[dict[str, Any]]) -> None:
        content = [block for part in step if (block := _answered(part)) is not None]
        finish = next((part for part in step if part.get("type") == "step-finish"), {})
        answer.value.update({"role": "assistant", "model": info.get("modelID"), "content": content})
        for name, fact in (
            ("provider", info.get("providerID")), ("agent", info.get("agent") or info.get("mode")),
            ("stop_reason", finish.get("reason")), ("usage", _usage(finish.get("tokens"))),
            ("cost", finish.get("cost")), ("structured", info.get("structured")),
        ):  # fmt: skip
            if fact not in (None, {}):
                answer.value[name] = fact
        if content:
            answer.messages.append({"role": "assistant", "content": content})

    def _beside(self, part: dict[str, Any]) -> None:
        """Write what a part is apart from the answer: a tool call, a change of files."""
        kind = part.get("type")
        if kind == "tool":
            self._tool(part)
        elif kind == "patch":
            value = {"hash": part.get("hash"), "files": part.get("files")}
            files = part["files"] if isinstance(part.get("files"), list) else []
            self._sink.event("state", "patch", value=value, label=label_of(", ".join(map(str, files[:20]))))
        elif kind in _QUIET:
            self._sink.skipped(f"{kind} parts")
        elif kind not in ("text", "reasoning", "step-start", "step-finish", "retry"):
            self._unknown(part)

    def _tool(self, part: dict[str, Any]) -> None:
        state, call_id = object_of(part.get("state")), part.get("callID")
        time, status = object_of(state.get("time")), state.get("status")
        run = self.transcript.call(
            self._lane,
            call_id if isinstance(call_id, str) else None,
            str(part.get("tool") or "unknown"),
            state.get("input"),
            epoch_ms(time.get("start")),
        )
        self.transcript.forget(run)
        if status not in ("completed", "error"):
            return
        failed = status == "error"
        said = state.get("error") if failed else state.get("output")
        self.transcript.result(run, _value(state, said, failed), failed=failed, at=epoch_ms(time.get("end")))
        block: dict[str, Json] = {"type": "tool_result", "tool_use_id": call_id, "content": said}
        if failed:
            block["is_error"] = True
        elif time.get("compacted"):
            block["content"] = _CLEARED
        self._lane.say({"role": "user", "content": [block]}, epoch_ms(time.get("end")))

    def _unknown(self, part: dict[str, Any]) -> None:
        self._sink.unknown(f"part type {part.get('type')}")
        self._sink.event("state", f"part {part.get('type')}", value=with_media(part))


def _answered(part: dict[str, Any]) -> dict[str, Json] | None:
    """Return a part of an answer as a block of content; None for what the model did not write."""
    kind = part.get("type")
    if kind == "text":
        return {"type": "text", "text": part.get("text")}
    if kind == "reasoning":
        return {"type": "thinking", "thinking": part.get("text")}
    if kind == "tool":
        given = object_of(part.get("state")).get("input")
        return {"type": "tool_use", "id": part.get("callID"), "name": part.get("tool"), "input": given}
    return None


def _is_content(part: dict[str, Any]) -> bool:
    return part.get("type") in ("text", "reasoning", "tool", "step-start")


def _value(state: Mapping[str, Any], said: Json, failed: bool) -> Json:
    """Return what a tool call gave, and what it kept beside that without repeating it."""
    metadata = {name: fact for name, fact in object_of(state.get("metadata")).items() if fact not in (None, said)}
    more = {"metadata": metadata} if metadata else {}
    if state.get("attachments"):
        more["attachments"] = with_media(state["attachments"])
    if failed:
        return {"error": said, **more}
    return {"content": said, **more} if more else said


def _usage(tokens: Json) -> dict[str, Json]:
    """Return token counts under Anthropic's names, which split input as opencode does."""
    if not isinstance(tokens, dict):
        return {}
    cache = object_of(tokens.get("cache"))
    counts = {
        "input_tokens": tokens.get("input"),
        "output_tokens": tokens.get("output"),
        "reasoning_tokens": tokens.get("reasoning"),
        "cache_read_input_tokens": cache.get("read"),
        "cache_creation_input_tokens": cache.get("write"),
    }
    return {name: count for name, count in counts.items() if type(count) is int}


def _latest(step: Sequence[dict[str, Any]], *, tools: bool = False) -> float | None:
    """Return when the last part that the model wrote was there; with tools, when the last tool was done."""
    ends = []
    for part in step:
        is_tool = part.get("type") == "tool"
        time = object_of((object_of(part.get("state")) if is_tool else part).get("time"))
        found = epoch_ms(time.get("start" if is_tool and not tools else "end"))
        if found is not None:
            ends.append(found)
    return max(ends, default=None)


def _why(part: dict[str, Any]) -> str:
    error = object_of(part.get("error"))
    return f"retry {part.get('attempt')}: {object_of(error.get('data')).get('message') or error.get('name') or ''}"
