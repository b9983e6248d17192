"""Messages of LangChain, as its constructors or as plain objects, in the shape of chats that the session reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.otel.facts import usage_facts
from stashdbg_core.formats.shapes import object_of

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
    "chat": "user",
    "developer": "system",
}
_TUPLE_ROLES = {**_ROLES, "user": "user", "assistant": "assistant"}


def langchain_message(node: Json) -> Json:
    """Return one message as a chat message; what is no message of LangChain as it is."""
    if isinstance(node, list) and len(node) == 2 and isinstance(node[0], str) and node[0] in _TUPLE_ROLES:
        return {"role": _TUPLE_ROLES[node[0]], "content": node[1]}
    if not isinstance(node, dict):
        return node
    kind, fields = node.get("type"), node
    if kind == "constructor" and isinstance(node.get("kwargs"), dict):
        name = node.get("id")
        named = str(name[-1]) if isinstance(name, list) and name else ""
        fields = node["kwargs"]
        kind = fields.get("type") or named.removesuffix("Chunk").removesuffix("Message").lower()
    if "role" in fields:
        return _lifted(fields)
    role = _ROLES.get(str(kind).removesuffix("Chunk").removesuffix("Message").lower())
    if role is None or "content" not in fields:
        return node
    return _lifted({"role": role, **{key: value for key, value in fields.items() if key != "type"}})


def _lifted(fields: Mapping[str, Any]) -> dict[str, Json]:
    """Return a message with its tool calls where a provider puts them, and without what is empty."""
    message = {key: value for key, value in fields.items() if value not in (None, {}, []) or key == "content"}
    inner = object_of(message.get("additional_kwargs"))
    blocks = message.get("content")
    asks = isinstance(blocks, list) and any(isinstance(b, dict) and b.get("type") == "tool_use" for b in blocks)
    if asks:
        message.pop("tool_calls", None)  # the same calls once more
    elif "tool_calls" not in message and isinstance(inner.get("tool_calls"), list):
        message["tool_calls"] = inner["tool_calls"]
    return message


def langchain_answer(outputs: Json) -> Json:
    """Return what a model run put out as an answer; what is none of LangChain's as it is."""
    if not isinstance(outputs, dict) or not isinstance(outputs.get("generations"), list):
        return outputs
    told = object_of(outputs.get("llm_output"))
    answers = [
        _generation(item)
        for group in outputs["generations"]
        for item in (group if isinstance(group, list) else [group])
    ]
    if len(answers) != 1 or not isinstance(answers[0], dict):
        return {"choices": [{"message": answer} for answer in answers], **_facts({}, told)}
    return {**answers[0], **_facts(answers[0], told)}


def _generation(item: Json) -> Json:
    if not isinstance(item, dict):
        return {"role": "assistant", "content": item}
    if isinstance(item.get("message"), dict):
        return langchain_message(item["message"])
    return {"role": "assistant", "content": item.get("text")}


def _facts(answer: Mapping[str, Any], told: Mapping[str, Any]) -> dict[str, Json]:
    metadata = object_of(answer.get("response_metadata"))
    facts: dict[str, Json] = {}
    model = next((m for m in (metadata.get("model_name"), metadata.get("model"), told.get("model_name")) if m), None)
    if model is not None:
        facts["model"] = model
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    if reason is not None:
        facts["stop_reason"] = reason
    stated = (metadata.get("token_usage"), metadata.get("usage"), told.get("token_usage"))
    usage: Json = usage_of_langchain(answer.get("usage_metadata")) or next((found for found in stated if found), None)
    if usage:
        facts["usage"] = usage
    return facts


def usage_of_langchain(node: Json) -> dict[str, Json]:
    """Return ``usage_metadata`` as an answer states its tokens."""
    if not isinstance(node, dict):
        return {}
    given, made = object_of(node.get("input_token_details")), object_of(node.get("output_token_details"))
    return usage_facts(
        input=_count(node.get("input_tokens")),
        output=_count(node.get("output_tokens")),
        total=_count(node.get("total_tokens")),
        cached=_count(given.get("cache_read")),
        written=_count(given.get("cache_creation")),
        reasoning=_count(made.get("reasoning")),
    )


def _count(node: Json) -> int | None:
    return node if type(node) is int else None
