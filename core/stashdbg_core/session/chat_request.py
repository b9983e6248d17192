"""The messages that a model was given: where they stand in a request, whichever provider's shape it has."""

from __future__ import annotations

from dataclasses import dataclass

from stashdbg_core.canonical import Json
from stashdbg_core.session.chat_messages import Entry, Message, is_message, read_message, said_by

MOST_MESSAGES = 2000
"""Messages read of one request by ``messages_of``, the last ones."""
_DEPTH = 3
_WRAPPERS = ("kwargs", "body", "json", "request", "params", "arguments", "fields", "data")
_SYSTEM = ("system", "instructions", "systemInstruction", "system_instruction", "preamble")
_LISTS = ("messages", "input", "contents")
_TEXTS = ("input", "prompt", "contents")


@dataclass(frozen=True, slots=True)
class Request:
    """The messages of a request, not read yet: cheaper to compare than to read."""

    lead: list[Entry]
    """What is said to the model before the chat."""
    turns: list[Entry]


def messages_of(tree: Json, *, to_model: bool = False) -> tuple[list[Message], int] | None:
    """Return the last messages of a request and how many were left out; None if it has none.

    Args:
        tree: What a call was given.
        to_model: Whether the call is known to be a model's, so that a text alone is a message too.
    """
    request = request_of(tree, to_model=to_model)
    if request is None:
        return None
    start = max(len(request.turns) - MOST_MESSAGES, 0)
    entries = [*request.lead, *request.turns[start:]]
    return [message for pointer, item in entries for message in read_message(item, pointer)], start


def request_of(tree: Json, *, to_model: bool = False) -> Request | None:
    """Return the messages of a request where they stand; None if it has none. Arguments as of ``messages_of``."""
    return _request(tree, "", _DEPTH, to_model)


def _request(tree: Json, pointer: str, depth: int, to_model: bool) -> Request | None:
    if isinstance(tree, str) and to_model:
        return Request([], [said_by("user", tree, pointer)])
    if isinstance(tree, list):
        return Request([], _listed(tree, pointer)) if _is_chat(tree) else None
    if not isinstance(tree, dict) or not depth:
        return None
    lead = [said_by("system", tree[name], f"{pointer}/{name}") for name in _SYSTEM if tree.get(name)]
    if isinstance(tree.get("message"), str) and isinstance(tree.get("chat_history", []), list):
        return Request(lead, _cohere(tree, pointer))
    for name in _LISTS:
        if _is_chat(tree.get(name)):
            return Request(lead, _listed(tree[name], f"{pointer}/{name}"))
    if to_model or "model" in tree or lead:
        for name in _TEXTS:
            if isinstance(tree.get(name), str):
                return Request(lead, [said_by("user", tree[name], f"{pointer}/{name}")])
    for name in _WRAPPERS:
        inner = tree.get(name)
        found = _request(inner, f"{pointer}/{name}", depth - 1, to_model) if isinstance(inner, (dict, list)) else None
        if found is not None:
            return found
    return Request(lead, []) if lead and to_model else None


def _cohere(tree: dict[str, Json], pointer: str) -> list[Entry]:
    """Return the chat of Cohere's first version: a history, and the message that it ends with."""
    history = _listed(tree.get("chat_history", []), f"{pointer}/chat_history")
    return [*history, said_by("user", tree["message"], f"{pointer}/message")] if tree["message"] else history


def _listed(items: list[Json], pointer: str) -> list[Entry]:
    return [(f"{pointer}/{at}", item) for at, item in enumerate(items)]


def _is_chat(items: Json) -> bool:
    return isinstance(items, list) and bool(items) and all(map(is_message, items[:4]))
