"""Calls of models and tools, as the messages tell that the nodes of a graph wrote.

An assistant's message is a model's answer if it has an id of a model's run, or says what it cost; to messages that the
program put together, the graph gives bare UUIDs. What a subgraph wrote and its parent passed on counts once, where it
was made.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.langchain_messages import langchain_answer, langchain_message
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.readers.langgraph.store import Write
from stashdbg_core.formats.readers.langgraph.values import class_of, fields_of
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.formats.sink import ABSENT, Chat, Input, RunSink
from stashdbg_core.formats.transcript import UNKNOWN_MODEL, UNKNOWN_TOOL, returned, text_of, thrown
from stashdbg_core.formats.transcript_labels import reply_label, tool_label

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_MESSAGES = "messages"
"""The channel that most graphs keep their conversation in."""


@dataclass(frozen=True, slots=True)
class Spot:
    """Where and when a task ran."""

    namespace: str
    values: Mapping[str, Any]
    """The channels, as they were."""
    lane: str | None
    at: float | None


class Calls:
    """Writes calls; one for each thread."""

    def __init__(self, sink: RunSink) -> None:
        self._sink = sink
        self._chats: dict[str | None, Chat] = {}
        self._asked: dict[str, tuple[str, Json]] = {}
        """Names and inputs of tool calls, by id."""
        self._told: set[str] = set()
        """Messages that were events."""
        self._homes: dict[tuple[str, str], int] = {}
        """How deep in subgraphs messages were made, for those that were made in one."""

    def claim(self, namespace: str, writes: Sequence[Write]) -> None:
        """Note which messages were made in a subgraph."""
        for _, fields in _messages(writes):
            name = _identity(fields)
            self._homes[name] = max(_depth(namespace), self._homes.get(name, 0))

    def take(self, writes: Sequence[Write], spot: Spot, parent: int) -> None:
        """Write the calls that a task's messages tell of."""
        for channel, fields in _messages(writes):
            message = langchain_message(fields)
            role = message.get("role") if isinstance(message, dict) else None
            if role == "assistant":
                for call in objects_of(fields.get("tool_calls")):
                    self._asked[str(call.get("id"))] = (str(call.get("name") or UNKNOWN_TOOL), call.get("args"))
            if self._is_new(fields, spot):
                if role == "assistant" and _is_answer(fields):
                    self._answer(channel, fields, spot, parent)
                elif role == "tool":
                    self._result(fields, spot, parent)

    def _is_new(self, fields: Mapping[str, Any], spot: Spot) -> bool:
        if self._homes.get(_identity(fields), 0) > _depth(spot.namespace):
            return False
        name = fields.get("id")
        if not isinstance(name, str):
            return True
        known = name in self._told
        self._told.add(name)
        return not known

    def _answer(self, channel: str, fields: Mapping[str, Any], spot: Spot, parent: int) -> None:
        answer = with_media(langchain_answer({"generations": [[{"message": fields}]]}))
        if not isinstance(answer, dict):
            return
        model = answer.get("model")
        asked = [str(call.get("name")) for call in objects_of(fields.get("tool_calls"))]
        prompt = self._prompt(channel, spot)
        seq = self._sink.event(
            "llm",
            model if isinstance(model, str) else UNKNOWN_MODEL,
            value=answer,
            input=prompt,
            at=spot.at,
            label=reply_label(answer) or "→ " + ", ".join(asked),
            thread=spot.lane,
            parent=parent,
            call_id=fields["id"] if isinstance(fields.get("id"), str) else None,
        )
        self._sink.inferred(seq)
        if prompt is ABSENT:
            self._sink.cut(seq, "its prompt is not in the state")

    def _prompt(self, channel: str, spot: Spot) -> Json | Input:
        said = next((spot.values[name] for name in (channel, _MESSAGES) if spot.values.get(name)), None)
        if not isinstance(said, list):
            return ABSENT
        chat = self._chats.get(spot.lane)
        if chat is None:
            chat = self._chats[spot.lane] = self._sink.chat()
        chat.extend_to(
            [{"role": "user", "content": node} if isinstance(node, str) else _chat_message(node) for node in said]
        )
        return chat.input()

    def _result(self, fields: Mapping[str, Any], spot: Spot, parent: int) -> None:
        call_id = fields.get("tool_call_id")
        name, given = self._asked.get(str(call_id), (None, ABSENT))
        key = str(fields.get("name") or name or UNKNOWN_TOOL)
        failed = fields.get("status") == "error"
        content, artifact = with_media(fields.get("content")), fields.get("artifact")
        value = thrown(content) if failed else returned(content)
        if artifact is not None:
            value = {**(value if isinstance(value, dict) else {"content": value}), "artifact": artifact}
        seq = self._sink.event(
            "tool",
            key,
            value=value,
            outcome="throw" if failed else "return",
            input=given,
            at=spot.at,
            label=tool_label(key, None if given is ABSENT else given),
            thread=spot.lane,
            parent=parent,
            call_id=call_id if isinstance(call_id, str) else None,
        )
        self._sink.inferred(seq)


def prompts_in(writes: Sequence[Write]) -> list[dict[str, Any]]:
    """Return what a person said, among what was written."""
    said = [_chat_message(node) for write in writes for node in _nodes(write.value)]
    return [message for message in said if isinstance(message, dict) and message.get("role") == "user"]


def said_in(writes: Sequence[Write]) -> str:
    """Return the first words of what was put into a graph: of a person's message, or any text."""
    texts = [text_of(message.get("content")) for message in prompts_in(writes)]
    texts += [write.value for write in writes if isinstance(write.value, str)]
    return next((label_of(text) for text in texts if text), "")


def _chat_message(node: Json) -> Json:
    """Return a message in any of the spellings that a graph takes as a chat message."""
    return with_media(langchain_message(fields_of(node)))


def _messages(writes: Sequence[Write]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the messages among what was written, each with its channel: objects of LangChain, no look-alikes."""
    for write in writes:
        for node in _nodes(write.value):
            fields = fields_of(node)
            if isinstance(node, dict) and node.get("type") == "constructor" and isinstance(node.get("kwargs"), dict):
                fields = node["kwargs"]
            elif not class_of(node).removesuffix("Chunk").endswith("Message"):
                continue
            if isinstance(fields, dict):
                yield write.channel, fields


def _is_answer(fields: Mapping[str, Any]) -> bool:
    name = fields.get("id")
    if fields.get("response_metadata") or fields.get("usage_metadata"):
        return True
    return isinstance(name, str) and bool(name) and _UUID.fullmatch(name) is None


def _nodes(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def _identity(fields: Mapping[str, Any]) -> tuple[str, str]:
    call = fields.get("tool_call_id")
    return ("message", str(fields.get("id"))) if call is None else ("result", str(call))


def _depth(namespace: str) -> int:
    return namespace.count("|") + 1 if namespace else 0
