"""The OpenInference conventions (Arize, Phoenix): whole requests and answers as values, and messages flattened.

The value is the provider's own and is believed first; the flattened messages stand in where it is no chat.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.readers.otel.facts import Attributes, Facts, usage_facts
from stashdbg_core.formats.readers.otel.genai import agent_name
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.formats.sink import ABSENT
from stashdbg_core.session.chat_reply import reply_of
from stashdbg_core.session.chat_request import messages_of

_CHANNELS = {"LLM": "llm", "EMBEDDING": "llm", "TOOL": "tool", "AGENT": "agent"}


def openinference_facts(a: Attributes, name: str) -> Facts:
    """Return what a span says in these conventions."""
    kind = a.text("openinference.span.kind")
    if kind is None and "llm.model_name" not in a.held:
        return Facts()
    channel = _CHANNELS.get((kind or "LLM").upper())
    given, came = a.json("input.value"), a.json("output.value")
    a.get("input.mime_type", "output.mime_type")
    if channel == "tool":
        if given is ABSENT:
            given = a.json("tool.parameters")
        called = a.text("tool_call.id", "tool.id")
        return Facts(channel, a.text("tool.name") or name, input=given, output=came, call_id=called)
    if channel != "llm":
        key = agent_name(a, name) if channel == "agent" else None
        return Facts(channel, key, input=given, output=came)
    model = a.text("llm.model_name", "embedding.model_name")
    messages, request = _asked(given, a.tree("llm.input_messages"))
    facts = Facts(channel, model, messages=messages, request=request, usage=_usage(a))
    if messages is None:
        facts.input = given
    for key, value in _parameters(a).items():
        facts.request.setdefault(key, value)
    tools = [parsed(tool)[0] for tool in _each(a.tree("llm.tools"), "tool", "json_schema")]
    if tools:
        facts.request.setdefault("tools", tools)
    facts.output = _answer(came, a.tree("llm.output_messages"))
    reason = a.text("llm.finish_reason")
    facts.answer = {key: value for key, value in (("model", model), ("stop_reason", reason)) if value is not None}
    return facts


def _asked(given: Json, flat: Json) -> tuple[list[Json] | None, dict[str, Json]]:
    """Return the messages of a request and what else it holds."""
    if isinstance(given, dict) and messages_of(given) is not None:
        for name in ("messages", "input", "contents"):
            if isinstance(given.get(name), list):
                return given[name], {key: value for key, value in given.items() if key != name}
        if isinstance(given.get("input"), str):
            rest = {key: value for key, value in given.items() if key != "input"}
            return [{"role": "user", "content": given["input"]}], rest
    messages = [_message(item) for item in _each(flat, "message")]
    if messages:
        return messages, {}
    if isinstance(given, list) and messages_of(given) is not None:
        return given, {}
    return None, {}


def _answer(came: Json, flat: Json) -> Json:
    if isinstance(came, dict) and reply_of(came):
        return came
    said = [_message(item) for item in _each(flat, "message")]
    if said:
        return said[0] if len(said) == 1 else {"choices": [{"message": message} for message in said]}
    return {"role": "assistant", "content": came} if isinstance(came, str) else came


def _parameters(a: Attributes) -> dict[str, Json]:
    return object_of(a.json("llm.invocation_parameters"))


def _usage(a: Attributes) -> dict[str, Json]:
    return usage_facts(
        input=a.count("llm.token_count.prompt"),
        output=a.count("llm.token_count.completion"),
        total=a.count("llm.token_count.total"),
        cached=a.count("llm.token_count.prompt_details.cache_read"),
        written=a.count("llm.token_count.prompt_details.cache_write"),
        reasoning=a.count("llm.token_count.completion_details.reasoning"),
    )


def _message(item: Json) -> Json:
    """Return one flattened message as a provider would write it."""
    if not isinstance(item, dict):
        return {"role": "user", "content": item}
    message = {key: value for key, value in item.items() if key not in ("contents", "tool_calls")}
    blocks = [_block(block) for block in _each(item.get("contents"), "message_content")]
    if blocks:
        message["content"] = blocks
    asked = _each(item.get("tool_calls"), "tool_call")
    calls = [{**call, "type": "function"} if isinstance(call, dict) else call for call in asked]
    if calls:
        message["tool_calls"] = calls
        message.setdefault("content", None)
    message.setdefault("role", "user")
    return message


def _block(block: Json) -> Json:
    picture = block.get("image") if isinstance(block, dict) else None
    inner = picture.get("image") if isinstance(picture, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("url"), str):
        return {**block, "image": {"url": inner["url"]}}
    return block


def _each(flat: Json, *names: str) -> list[Any]:
    """Return the items of a flattened list, each below these names if it has them."""
    found = []
    for item in flat if isinstance(flat, list) else ():
        for name in names:
            item = item.get(name, item) if isinstance(item, dict) else item
        found.append(item)
    return found
