"""Anthropic's streamed message put together from its blocks and their pieces."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.parse import parse_json

_MOST = 10_000


def joined_anthropic(events: list[dict[str, Any]]) -> Json:
    """Return the message that events spelled; the input of a tool is an object if its pieces are one."""
    message: dict[str, Any] = {"type": "message", "role": "assistant"}
    blocks: dict[int, dict[str, Any]] = {}
    inputs: dict[int, str] = {}
    for event in events:
        kind, index, delta = event.get("type"), event.get("index"), event.get("delta")
        said = event.get("message")
        if kind == "message_start" and type(said) is dict:
            message |= said
        elif kind == "message_delta":
            message |= delta if type(delta) is dict else {}
            if type(event.get("usage")) is dict:
                before = message.get("usage")
                message["usage"] = {**(before if type(before) is dict else {}), **event["usage"]}
        elif type(index) is int and (index in blocks or len(blocks) < _MOST):
            if kind == "content_block_start" and type(event.get("content_block")) is dict:
                blocks[index] = dict(event["content_block"])
            elif kind == "content_block_delta" and type(delta) is dict:
                _add(blocks.setdefault(index, {}), index, inputs, delta)
    for index, text in inputs.items():
        blocks[index]["input"] = _input(text, blocks[index].get("input"))
    message["content"] = [blocks[index] for index in sorted(blocks)]
    return message


def _add(block: dict[str, Any], index: int, inputs: dict[int, str], delta: dict[str, Any]) -> None:
    if type(delta.get("partial_json")) is str:
        inputs[index] = inputs.get(index, "") + delta["partial_json"]
    elif delta.get("type") == "citations_delta":
        cited = block.get("citations")
        block["citations"] = [*(cited if type(cited) is list else ()), delta.get("citation")]
    else:
        for name in ("text", "thinking", "signature"):
            if type(delta.get(name)) is str:
                block.setdefault("type", "thinking" if name == "signature" else name)
                before = block.get(name)
                block[name] = (before if type(before) is str else "") + delta[name]


def _input(text: str, before: Json) -> Json:
    if not text.strip():
        return before if before is not None else {}
    try:
        return parse_json(text.encode("utf-8", "replace"))
    except StashError:
        return text
