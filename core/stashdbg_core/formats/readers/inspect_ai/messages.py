"""Messages of Inspect in the shape of chats that the session reads, attachments put back in.

Every key of a message is kept; tool calls, reasoning and failed results take the names that a provider would use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.media import with_media

_PROTOCOLS = ("attachment://", "tc://")
_DEPTH = 64


def resolver(attachments: Mapping[str, Json]) -> Callable[[Json], Json]:
    """Return what puts attachments back into a tree, pictures as binary content; the tree itself if it has none."""

    def resolved(tree: Json, depth: int = _DEPTH) -> Json:
        if isinstance(tree, str):
            for protocol in _PROTOCOLS:
                if tree.startswith(protocol):
                    return attachments.get(tree[len(protocol) :], tree)
            return tree
        if not depth:
            return tree
        if isinstance(tree, list):
            items = [resolved(item, depth - 1) for item in tree]
            return items if any(new is not old for new, old in zip(items, tree, strict=True)) else tree
        if isinstance(tree, dict):
            made = {name: resolved(value, depth - 1) for name, value in tree.items()}
            return made if any(made[name] is not tree[name] for name in made) else tree
        return tree

    return lambda tree: with_media(resolved(tree))


def chat_message(node: Json) -> Json:
    """Return one message as a chat message; what is none as it is."""
    if not isinstance(node, dict):
        return node
    message = dict(node)
    if isinstance(node.get("content"), list):
        message["content"] = [_block(block) for block in node["content"]]
    if isinstance(node.get("tool_calls"), list):
        message["tool_calls"] = [_call(call) for call in node["tool_calls"]]
    error = node.get("error")
    if node.get("role") == "tool" and isinstance(error, dict):
        said = node.get("content") or error.get("message")
        result = {"type": "tool_result", "tool_use_id": node.get("tool_call_id"), "content": said, "is_error": True}
        message["content"] = [result]
        message.pop("tool_call_id", None)  # the block has it
    return message


def answer_of(output: Json) -> Json:
    """Return a model's output as an answer."""
    if not isinstance(output, dict):
        return output
    answer: dict[str, Any] = dict(output)
    if isinstance(output.get("choices"), list):
        answer["choices"] = [
            {**choice, "message": chat_message(choice.get("message"))} if isinstance(choice, dict) else choice
            for choice in output["choices"]
        ]
    usage = output.get("usage")
    if isinstance(usage, dict):
        answer["usage"] = {_USAGE.get(name, name): count for name, count in usage.items()}
    return {name: value for name, value in answer.items() if value is not None}


_USAGE = {
    "input_tokens_cache_read": "cache_read_input_tokens",
    "input_tokens_cache_write": "cache_creation_input_tokens",
}


def _block(block: Json) -> Json:
    if isinstance(block, dict) and block.get("type") == "reasoning":
        rest = {name: value for name, value in block.items() if name not in ("type", "reasoning")}
        return {"type": "thinking", "thinking": block.get("reasoning") or block.get("summary") or "", **rest}
    return block


def _call(call: Json) -> Json:
    if not isinstance(call, dict) or not isinstance(call.get("function"), str):
        return call
    inner = {"name": call["function"], "arguments": call.get("arguments")}
    rest = {name: value for name, value in call.items() if name not in ("function", "arguments") and value is not None}
    return {**rest, "function": inner}
