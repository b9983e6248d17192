"""What a model was asked, rebuilt: an agentfootprint recording states how many messages a prompt had, and not which.

They are in what was put into the prompt's slots (``context.injected``), in the history that the end of an iteration
repeats, and in the commit log. The count that the recording states decides which of them is whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.shapes import object_of, objects_of

_SEPARATOR = "\n\n"
_ROLES = {"user", "assistant", "tool", "system"}


@dataclass(slots=True)
class Committed:
    """What the commit log holds of one model call."""

    log: list[Json]
    """Messages said, those after it among them."""
    before: int
    """How many of them were said before it."""
    tool_calls: Json
    """What it asked for."""

    @property
    def history(self) -> Sequence[Json]:
        """The messages before it."""
        return self.log[: self.before]


def committed_calls(snapshot: Json) -> list[Committed]:
    """Return the model calls of a commit log, in order; empty where there is none, or it is no whole one."""
    log = snapshot.get("commitLog") if isinstance(snapshot, dict) else None
    found: list[Committed] = []
    history: list[Json] = []
    calls: Json = []
    for bundle in log if isinstance(log, list) else ():
        verbs = _verbs(bundle)
        written = object_of(bundle.get("overwrite") if verbs else None)
        answered = "userMessage" not in verbs and ("llmLatestToolCalls" in verbs or "llmLatestContent" in verbs)
        if "llmLatestToolCalls" in verbs:
            calls = written.get("llmLatestToolCalls")
        if answered:
            found.append(Committed(history, len(history), calls if isinstance(calls, list) else []))
        if "history" in verbs:
            more = written.get("history")
            more = more if isinstance(more, list) else []
            if verbs["history"] in ("append", "merge"):
                history += more
            else:
                history = list(more)
    return found


def _verbs(bundle: Json) -> dict[str, str]:
    trace = bundle.get("trace") if isinstance(bundle, dict) else None
    steps = objects_of(trace)
    return {str(step.get("path")): str(step.get("verb")) for step in steps}


@dataclass(slots=True)
class Prompt:
    """A prompt as far as it could be rebuilt."""

    messages: list[Json]
    others: dict[str, Json]
    lacks: str | None = None
    """What is missing, in words; None if nothing is."""


@dataclass(slots=True)
class PromptParts:
    """What was put into the prompts of one lane so far."""

    history: Sequence[Json] = ()
    """As it was said last; messages as the tool writes them."""
    _slots: dict[str, list[Mapping[str, Any]]] = field(default_factory=dict)
    _closed: set[str] = field(default_factory=set)

    def inject(self, told: Mapping[str, Any]) -> None:
        """Take in a ``context.injected``."""
        slot = str(told.get("slot"))
        if slot in self._closed or slot not in self._slots:
            self._closed.discard(slot)
            self._slots[slot] = []
        self._slots[slot].append(told)

    def close(self, slot: str | None = None) -> None:
        """Say that a slot, or every one, is composed: what is put into it now belongs to the next prompt."""
        self._closed |= set(self._slots) if slot is None else {slot}

    def prompt(self, told: Mapping[str, Any], before: Sequence[Json] = ()) -> Prompt:
        """Return the prompt of a call, from its ``llm_start`` and the history that the commit log has before it."""
        stated = told.get("messagesCount")
        given = self._injected()
        known = [list(messages) for messages in (before, self.history) if messages]
        choices = [given, *known]
        whole = [messages for messages in choices if len(messages) == stated]
        chosen = whole[0] if whole else max(choices, key=len)
        if chosen is given and given:
            chosen = _completed(given, [message for messages in known for message in messages])
        lacks = None
        if type(stated) is int and not whole:
            lacks = f"its prompt had {stated} messages; {len(chosen)} could be rebuilt"
        others = self._others(told)
        wanted, system = told.get("systemPromptChars"), others.get("system")
        if lacks is None and type(wanted) is int and wanted > 0 and system is None:
            lacks = f"its system prompt, of {wanted} characters, is not in the recording"
        return Prompt([shown_message(message) for message in chosen], others, lacks)

    def _injected(self) -> list[Json]:
        return [
            {"role": _role(told), "content": told["rawContent"], "toolCallId": told.get("sourceId")}
            for told in self._slots.get("messages", ())
            if isinstance(told.get("rawContent"), str)
        ]

    def _others(self, told: Mapping[str, Any]) -> dict[str, Json]:
        texts = [told.get("rawContent") for told in self._slots.get("system-prompt", ())]
        said = _SEPARATOR.join(text for text in texts if isinstance(text, str))
        system = told.get("systemPromptText") or said or None
        found = {"model": told.get("model"), "provider": told.get("provider"), "system": system}
        found["tools"], found["temperature"] = told.get("tools"), told.get("temperature")
        return {name: value for name, value in found.items() if value is not None}


def _role(told: Mapping[str, Any]) -> str:
    role = told.get("asRole")
    if role in _ROLES:
        return str(role)
    return {"assistant": "assistant", "tool-result": "tool"}.get(str(told.get("source")), "user")


def _completed(given: list[Json], known: list[Json]) -> list[Json]:
    """Give messages, of which only the text was put down, the tool calls that the history has with the same text."""
    held: dict[tuple[str, str], list[Json]] = {}
    for message in known:
        if isinstance(message, dict) and isinstance(message.get("content"), str):
            held.setdefault((str(message.get("role")), message["content"]), []).append(message)
    found: list[Json] = []
    for message in given:
        same = held.get((message["role"], message["content"]), [])
        same = [one for one in same if message["role"] != "tool" or one.get("toolCallId") == message["toolCallId"]]
        if same:
            found.append(same[0])
            if len(same) > 1:
                held[message["role"], message["content"]].remove(same[0])
        else:
            found.append(message)
    return found


def shown_message(message: Json) -> Json:
    """Return a message with its tool calls and results as blocks, which every view knows."""
    if not isinstance(message, dict):
        return message
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        call = message.get("toolCallId")
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": content}]}
    blocks = tool_blocks(message.get("toolCalls"))
    if not blocks:
        return {"role": role, "content": content}
    said: list[Json] = [{"type": "text", "text": content}] if isinstance(content, str) and content else []
    return {"role": role, "content": [*said, *blocks]}


def tool_blocks(calls: Json) -> list[Json]:
    """Return tool calls as blocks of a message."""
    asked = objects_of(calls)
    return [
        {"type": "tool_use", "id": call.get("id"), "name": call.get("name"), "input": call.get("args")}
        for call in asked
    ]
