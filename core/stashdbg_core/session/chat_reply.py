"""What a model answered, as messages: a whole answer of any provider's shape, or the chunks of a streamed one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.session.chat_messages import Message, ToolCall, is_message, read_message
from stashdbg_core.session.gist import chunk_text, opened, tag_of
from stashdbg_core.tags import STREAM

_DEPTH = 4
_WRAPPERS = ("fields", "value", "body", "data", "result", "response")
_TEXTS = ("text", "response", "output", "output_text", "transcript", "refusal")
_BODIES = ("content", "parts", "tool_calls")
_CHUNKS = 100_000
_CALLS = 1000


def reply_of(tree: Json, pointer: str = "", depth: int = _DEPTH) -> list[Message]:
    """Return the messages of an answer; empty where it does not look like one."""
    if isinstance(tree, str):
        return [Message("assistant", tree, pointer)]
    if not isinstance(tree, dict) or not depth:
        return []
    if opened(tree) is not tree:
        return reply_of(opened(tree), f"{pointer}/fields", depth - 1)
    if tag_of(tree) == STREAM:
        return _streamed(tree, pointer)
    if is_response(tree):
        return _responded(tree, pointer)
    for name, inner in (("choices", "message"), ("candidates", "content")):
        options = tree.get(name)
        first = opened(options[0]) if isinstance(options, list) and options else None
        if isinstance(first, dict):
            place = f"{pointer}/{name}/0" if first is options[0] else f"{pointer}/{name}/0/fields"
            if inner == "message" and isinstance(first.get("text"), str):
                return [Message("assistant", first["text"], f"{place}/text")]
            return _spoken(first.get(inner), f"{place}/{inner}")
    output = tree.get("output")
    if isinstance(output, list) and output and isinstance(output[0], dict):
        return [message for at, item in enumerate(output) for message in _spoken(item, f"{pointer}/output/{at}")]
    if is_message(tree) or "role" in tree or any(isinstance(tree.get(name), (str, list)) for name in _BODIES):
        return _spoken(tree, pointer)
    if isinstance(tree.get("message"), dict):
        return _spoken(tree["message"], f"{pointer}/message")
    if isinstance(output, dict) and isinstance(output.get("message"), dict):
        return _spoken(output["message"], f"{pointer}/output/message")
    for name in _WRAPPERS:
        found = reply_of(tree[name], f"{pointer}/{name}", depth - 1) if isinstance(tree.get(name), dict) else []
        if found:
            return found
    said = next((name for name in _TEXTS if isinstance(tree.get(name), str)), None)
    return [] if said is None else [Message("assistant", tree[said], f"{pointer}/{said}")]


def _responded(tree: dict[str, Json], pointer: str) -> list[Message]:
    """Return what an HTTP response says; of a streamed one, the message it spelled."""
    body = tree["body"]
    if isinstance(body, (dict, list)) and tag_of(body) is None:
        return reply_of(body, f"{pointer}/body")
    place = f"{pointer}/body/chunks" if tag_of(body) == STREAM else f"{pointer}/body"
    return [replace(message, pointer=place) for message in reply_of(answer_of(tree), place)]


def _spoken(item: Json, pointer: str) -> list[Message]:
    if isinstance(item, str):
        return [Message("assistant", item, pointer)]
    if opened(item) is not item:
        item, pointer = opened(item), f"{pointer}/fields"
    if isinstance(item, dict) and "role" not in item and item.get("type") in (None, "message"):
        item = {"role": "assistant", **item}
    return list(read_message(item, pointer))


def _streamed(tree: dict[str, Json], pointer: str) -> list[Message]:
    """Return the one message that chunks add up to: their texts, and tool calls whose arguments came in pieces."""
    chunks = tree.get("chunks")
    if not isinstance(chunks, list):
        return []
    text: list[str] = []
    calls: dict[Any, list[str]] = {}
    for chunk in chunks[:_CHUNKS]:
        text.append(chunk_text(chunk))
        for number, call_id, name, arguments in _call_pieces(chunk):
            held = calls.setdefault(number, ["", "", ""]) if len(calls) < _CALLS or number in calls else ["", "", ""]
            held[0], held[1] = held[0] or call_id, held[1] or name
            held[2] += arguments
    asked = tuple(ToolCall(name or "?", arguments, call_id or None) for call_id, name, arguments in calls.values())
    said = "".join(text)
    return [Message("assistant", said, f"{pointer}/chunks", asked)] if said or asked else []


def _call_pieces(chunk: Json) -> list[tuple[Any, str, str, str]]:
    """Return pieces of tool calls in a chunk: which call, its id, its name, more of its arguments."""
    chunk = opened(chunk)
    if not isinstance(chunk, dict):
        return []
    choices = chunk.get("choices")
    first = opened(choices[0]) if isinstance(choices, list) and choices else None
    delta = opened((first if isinstance(first, dict) else chunk).get("delta"))
    delta = delta if isinstance(delta, dict) else {}
    number = chunk.get("index") if type(chunk.get("index")) is int else 0
    block = opened(chunk.get("content_block"))
    if isinstance(block, dict) and block.get("type") == "tool_use":
        return [(number, _word(block.get("id")), _word(block.get("name")), "")]
    if isinstance(delta.get("partial_json"), str):
        return [(number, "", "", delta["partial_json"])]
    asked = delta.get("tool_calls")
    found = []
    for call in map(opened, asked[:_CALLS]) if isinstance(asked, list) else ():
        inner = opened(call.get("function")) if isinstance(call, dict) else None
        if isinstance(inner, dict):
            at = call.get("index") if type(call.get("index")) is int else 0
            found.append((at, _word(call.get("id")), _word(inner.get("name")), _word(inner.get("arguments"))))
    return found


def _word(node: Json) -> str:
    return node if isinstance(node, str) else ""
