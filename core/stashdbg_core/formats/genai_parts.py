"""Messages of the OpenTelemetry GenAI conventions in the shape of chats that the session reads.

A part keeps every key it has under the names that a provider would use: ``text``, ``thinking``, ``tool_use``,
``tool_result``, images as binary content.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.images import image


def message_of(node: Json) -> Json:
    """Return one message of ``gen_ai.input.messages`` as a chat message; one of another shape as it is."""
    if not isinstance(node, dict) or not isinstance(node.get("parts"), list):
        return node
    rest = {
        name: value
        for name, value in node.items()
        if name not in ("role", "parts", "finish_reason") and value is not None
    }
    return {"role": node.get("role") or "assistant", "content": content_of(node["parts"]), **rest}


def content_of(parts: Sequence[Json]) -> Json:
    """Return the parts of a message as its content; the text itself if that is all there is."""
    blocks = [part_of(part) for part in parts]
    only = blocks[0] if len(blocks) == 1 else None
    if isinstance(only, dict) and only.keys() == {"type", "text"} and isinstance(only["text"], str):
        return only["text"]
    return blocks


def part_of(part: Json) -> Json:
    """Return one part as a content block."""
    if not isinstance(part, dict):
        return part
    kind = part.get("type")
    if kind == "text":
        return _renamed(part, "text", content="text")
    if kind in ("reasoning", "thinking"):
        return _renamed(part, "thinking", content="thinking")
    if kind == "tool_call":
        return _renamed(part, "tool_use", arguments="input")
    if kind == "tool_call_response":
        return _renamed(part, "tool_result", id="tool_use_id", response="content", result="content")
    if kind == "blob" and isinstance(part.get("content"), str):
        held = image(str(part.get("mime_type") or "application/octet-stream"), part["content"])
        rest = {name: value for name, value in part.items() if name not in ("type", "content", "mime_type")}
        return {"type": part.get("modality") or "blob", "source": held, **rest}
    if kind in ("uri", "file") and isinstance(part.get("modality"), str):
        return {**part, "type": part["modality"], "part": kind}
    return part


def _renamed(part: Mapping[str, Any], kind: str, **names: str) -> dict[str, Json]:
    renamed: dict[str, Json] = {"type": kind}
    for name, value in part.items():
        known = names.get(name, name)
        if name != "type":
            renamed[name if known in renamed else known] = value
    return renamed


def reply_of_messages(messages: Sequence[Json]) -> dict[str, Json]:
    """Return ``gen_ai.output.messages`` as a model's answer: one message, or the choices of several."""
    choices = []
    for node in messages:
        said = message_of(node)
        if not isinstance(said, dict):
            said = {"role": "assistant", "content": said}
        reason = node.get("finish_reason") if isinstance(node, dict) else None
        choices.append((said, reason))
    if len(choices) == 1:
        said, reason = choices[0]
        return {**said, "stop_reason": reason} if reason is not None else said
    return {"choices": [{"message": said, "finish_reason": reason} for said, reason in choices]}
