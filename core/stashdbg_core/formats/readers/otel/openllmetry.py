"""The older conventions of OpenLLMetry (Traceloop): prompts and completions as numbered attributes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.readers.otel.facts import Attributes, Facts
from stashdbg_core.formats.readers.otel.genai import agent_name, usage_of_attributes
from stashdbg_core.formats.sink import ABSENT

_KINDS = {"tool": "tool", "agent": "agent"}


def openllmetry_facts(a: Attributes, name: str) -> Facts:
    """Return what a span says in these conventions."""
    kind, asks = a.text("traceloop.span.kind"), a.text("llm.request.type")
    flat_prompt, flat_reply = a.tree("gen_ai.prompt"), a.tree("gen_ai.completion")
    if kind is None and asks is None and flat_prompt is None and flat_reply is None:
        return Facts()
    entity = a.text("traceloop.entity.name")
    given, came = a.json("traceloop.entity.input"), a.json("traceloop.entity.output")
    if asks is None and flat_prompt is None and flat_reply is None:
        channel = _KINDS.get(kind or "")
        key = agent_name(a, entity or name) if channel == "agent" else entity or name.removesuffix(f".{kind}")
        return Facts(channel, key, input=given, output=came)
    model = a.text("gen_ai.response.model", "gen_ai.request.model")
    messages = [_message(item, "user") for item in flat_prompt] if isinstance(flat_prompt, list) else None
    functions = a.tree("llm.request.functions")
    request: dict[str, Json] = {}
    if isinstance(functions, list):
        request["tools"] = [_function(item) for item in functions]
    return Facts(
        "llm",
        model,
        messages=messages,
        request=request,
        output=_reply(flat_reply),
        usage=usage_of_attributes(a),
        answer={} if model is None else {"model": model},
    )


def _reply(flat: Json) -> Json:
    if not isinstance(flat, list) or not flat:
        return ABSENT
    choices: list[dict[str, Any]] = []
    for item in flat:
        reason = item.get("finish_reason") if isinstance(item, dict) else None
        inner = item if reason is None else {key: value for key, value in item.items() if key != "finish_reason"}
        choices.append({"message": _message(inner, "assistant"), "finish_reason": reason})
    if len(choices) > 1:
        return {"choices": choices}
    only: dict[str, Any] = choices[0]["message"]
    return only if choices[0]["finish_reason"] is None else {**only, "stop_reason": choices[0]["finish_reason"]}


def _message(item: Json, role: str) -> dict[str, Any]:
    """Return one numbered message as a provider would write it."""
    if not isinstance(item, dict):
        return {"role": role, "content": item}
    message = {"role": role, **item}
    message["content"] = parsed(item.get("content"))[0]
    calls = item.get("tool_calls")
    if isinstance(calls, list):
        message["tool_calls"] = [_call(call) for call in calls]
    return message


def _call(call: Json) -> Json:
    if not isinstance(call, Mapping) or "function" in call:
        return call
    inner = {key: call[key] for key in ("name", "arguments") if key in call}
    return {"id": call.get("id"), "type": "function", "function": inner}


def _function(item: Json) -> Json:
    return {key: parsed(value)[0] for key, value in item.items()} if isinstance(item, dict) else item
