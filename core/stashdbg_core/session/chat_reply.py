"""What a model answered, as messages: a whole answer of any provider's shape, or the chunks of a streamed one."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.session.chat_messages import Entry, Message, is_message, read_message, said_by
from stashdbg_core.session.gist import chunk_text
from stashdbg_core.tags import STREAM, opened, tag_of

_DEPTH = 4
_WRAPPERS = ("fields", "value", "body", "data", "result", "response")
_TEXTS = ("text", "response", "output", "output_text", "transcript", "refusal")
_BODIES = ("content", "parts", "tool_calls")
_CHUNKS = 100_000
_CALLS = 1000


def reply_of(tree: Json) -> list[Message]:
    """Return the messages of an answer; empty where it does not look like one."""
    return [message for place, item in entries_of(tree) for message in read_message(item, place)]


def entries_of(tree: Json, pointer: str = "", depth: int = _DEPTH, *, every: bool = False) -> list[Entry]:
    """Return the messages of an answer where they stand, not read yet; empty where it does not look like one.

    Args:
        tree: What a call returned.
        pointer: Where it stands.
        depth: How far wrappers are looked into.
        every: Whether of several answers to one question all count, else the first.
    """
    if isinstance(tree, str):
        return [said_by("assistant", tree, pointer)]
    if not isinstance(tree, dict) or not depth:
        return []
    if opened(tree) is not tree:
        return entries_of(opened(tree), f"{pointer}/fields", depth - 1, every=every)
    if tag_of(tree) == STREAM:
        return _streamed(tree, pointer)
    if is_response(tree):
        return _responded(tree, pointer, every)
    for name, inner in (("choices", "message"), ("candidates", "content")):
        options = tree.get(name)
        if isinstance(options, list) and options and isinstance(opened(options[0]), dict):
            chosen = options if every else options[:1]
            return [entry for at, one in enumerate(chosen) for entry in _option(one, inner, f"{pointer}/{name}/{at}")]
    output = tree.get("output")
    if isinstance(output, list) and output and isinstance(output[0], dict):
        return [entry for at, item in enumerate(output) for entry in _spoken(item, f"{pointer}/output/{at}")]
    if is_message(tree) or "role" in tree or any(isinstance(tree.get(name), (str, list)) for name in _BODIES):
        return _spoken(tree, pointer)
    if isinstance(tree.get("message"), dict):
        return _spoken(tree["message"], f"{pointer}/message")
    if isinstance(output, dict) and isinstance(output.get("message"), dict):
        return _spoken(output["message"], f"{pointer}/output/message")
    for name in _WRAPPERS:
        inside = tree.get(name)
        found = entries_of(inside, f"{pointer}/{name}", depth - 1, every=every) if isinstance(inside, dict) else []
        if found:
            return found
    said = next((name for name in _TEXTS if isinstance(tree.get(name), str)), None)
    return [] if said is None else [said_by("assistant", tree[said], f"{pointer}/{said}")]


def _option(option: Json, inner: str, place: str) -> list[Entry]:
    """Return what one of the answers to a question says."""
    if opened(option) is not option:
        option, place = opened(option), f"{place}/fields"
    if not isinstance(option, dict):
        return []
    if inner == "message" and isinstance(option.get("text"), str):
        return [said_by("assistant", option["text"], f"{place}/text")]
    return _spoken(option.get(inner), f"{place}/{inner}")


def _responded(tree: dict[str, Json], pointer: str, every: bool) -> list[Entry]:
    """Return what an HTTP response says; of a streamed one, the message it spelled."""
    body = tree["body"]
    if isinstance(body, (dict, list)) and tag_of(body) is None:
        return entries_of(body, f"{pointer}/body", every=every)
    place = f"{pointer}/body/chunks" if tag_of(body) == STREAM else f"{pointer}/body"
    return [(place, item) for _, item in entries_of(answer_of(tree), every=every)]


def _spoken(item: Json, pointer: str) -> list[Entry]:
    if isinstance(item, str):
        return [said_by("assistant", item, pointer)]
    if opened(item) is not item:
        item, pointer = opened(item), f"{pointer}/fields"
    if isinstance(item, dict) and "role" not in item and item.get("type") in (None, "message"):
        item = {"role": "assistant", **item}
    return [(pointer, item)]


def _streamed(tree: dict[str, Json], pointer: str) -> list[Entry]:
    """Return the one message that chunks add up to: their texts, and tool calls whose arguments came in pieces."""
    chunks = tree.get("chunks")
    if not isinstance(chunks, list):
        return []
    text: list[str] = []
    calls: dict[Any, dict[str, str]] = {}
    for chunk in chunks[:_CHUNKS]:
        text.append(chunk_text(chunk))
        for number, call_id, name, arguments in _call_pieces(chunk):
            if number in calls or len(calls) < _CALLS:
                held = calls.setdefault(number, {"id": "", "name": "", "arguments": ""})
                held["id"], held["name"] = held["id"] or call_id, held["name"] or name
                held["arguments"] += arguments
    message: dict[str, Json] = {"role": "assistant", "content": "".join(text), "tool_calls": list(calls.values())}
    return [(f"{pointer}/chunks", message)] if message["content"] or calls else []


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
