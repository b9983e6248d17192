"""Chat messages in recorded inputs and answers, whichever provider's shape they have.

Knows OpenAI chat and responses, Anthropic messages, Gemini, streams of their chunks, and plain ``{role, content}``;
what it does not know it leaves to the caller. Texts are recorded text, unsanitised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.session import gist
from stashdbg_core.tags import STREAM, TAG

MODEL_CHANNELS: Final = frozenset({"llm", "model", "chat"})
_LISTS: Final = ("messages", "contents", "input")
_SYSTEM: Final = ("system", "instructions", "system_instruction", "systemInstruction")
_TEXTS: Final = ("text", "thinking", "refusal", "output_text", "transcript", "summary")
_CALLS: Final = ("tool_use", "server_tool_use", "function_call", "custom_tool_call")
_RESULTS: Final = ("tool_result", "function_call_output", "custom_tool_call_output")
_DEPTH: Final = 6


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: str
    text: str
    calls: tuple[str, ...] = ()
    """Tools asked for, each as ``name arguments``."""


def input_messages(tree: Json) -> list[Message]:
    """Return the messages that a model was given; empty if ``tree`` holds none that are known."""
    return [read_message(item) for item in message_items(tree)]


def message_items(tree: Json) -> list[Json]:
    """Return the same as JSON objects that ``read_message`` reads; cheaper to compare than to read."""
    if type(tree) is list:
        return [item for item in tree if type(item) is dict and ("role" in item or item.get("type"))]
    if type(tree) is not dict:
        return []
    found = [{"role": "system", "content": text} for key in _SYSTEM if (text := _text(tree.get(key), _DEPTH))]
    for key in _LISTS:
        if type(tree.get(key)) is list:
            return found + message_items(tree[key])
    for key in ("prompt", "input"):
        if type(tree.get(key)) is str:
            return [*found, {"role": "user", "content": tree[key]}]
    return found


def answer(tree: Json) -> Message | None:
    """Return what a model answered, or None if this does not look like an answer."""
    if type(tree) is str:
        return Message("assistant", tree)
    if type(tree) is not dict:
        return None
    if tree.get(TAG) == STREAM:
        chunks = tree.get("chunks")
        text = "".join(map(gist.chunk_text, chunks)) if type(chunks) is list else ""
        return Message("assistant", text) if text else None
    texts, calls = list(_texts(tree, _DEPTH)), tuple(_calls(tree, _DEPTH))
    return Message("assistant", "\n".join(texts), calls) if texts or calls else None


def read_message(item: dict[str, Json]) -> Message:
    """Return a message of any provider's shape."""
    kind = item.get("type")
    role = item.get("role") or ("tool" if kind in _RESULTS else "assistant" if kind in _CALLS else kind or "?")
    content = item.get("content")
    if type(content) is list and content and all(type(b) is dict and b.get("type") in _RESULTS for b in content):
        role = "tool"
    return Message(str(role), _text(item, _DEPTH), tuple(_calls(item, _DEPTH)))


def _text(tree: Json, depth: int) -> str:
    return tree if type(tree) is str else "\n".join(_texts(tree, depth))


def _texts(tree: Json, depth: int) -> Iterator[str]:
    if depth and type(tree) is list:
        for item in tree:
            if type(item) is str:
                yield item
            else:
                yield from _texts(item, depth - 1)
    elif depth and type(tree) is dict and tree.get("type") not in _CALLS:
        for key in _TEXTS:
            if type(tree.get(key)) is str and tree[key]:
                yield tree[key]
        for key in ("content", "parts", "output"):
            if type(tree.get(key)) is str:
                yield tree[key]
            else:
                yield from _texts(tree.get(key), depth - 1)
        for inner in _inner(tree):
            yield from _texts(inner, depth - 1)


def _calls(tree: Json, depth: int) -> Iterator[str]:
    if depth and type(tree) is list:
        for item in tree:
            yield from _calls(item, depth - 1)
    elif depth and type(tree) is dict:
        call = tree.get("functionCall") or tree.get("function_call") or tree.get("toolUse")
        if type(call) is dict:
            yield _call(call)
        elif tree.get("type") in _CALLS:
            yield _call(tree)
        for called in tree["tool_calls"] if type(tree.get("tool_calls")) is list else ():
            function = called.get("function", called) if type(called) is dict else None
            if type(function) is dict:
                yield _call(function)
        for inner in (tree.get("content"), tree.get("parts"), tree.get("output"), *_inner(tree)):
            yield from _calls(inner, depth - 1)


def _inner(tree: dict[str, Json]) -> Iterator[Json]:
    """Yield what wraps a message: the first choice of several, ``message``, the fields of a stored object."""
    for key in ("choices", "candidates"):
        if type(tree.get(key)) is list:
            yield from tree[key][:1]
    for key in ("message", "fields", "value") if TAG in tree else ("message",):
        if type(tree.get(key)) is dict:
            yield tree[key]


def _call(call: dict[str, Json]) -> str:
    arguments = next((call[key] for key in ("arguments", "args", "input") if key in call), None)
    shown = arguments if type(arguments) is str else "" if arguments is None else spelled(arguments)
    return f"{call.get('name', '?')} {shown}".rstrip()


def spelled(tree: Json) -> str:
    """Return a tree as one line of JSON; a text as itself."""
    return tree if type(tree) is str else stored_form(tree).decode("utf-8", "replace")
