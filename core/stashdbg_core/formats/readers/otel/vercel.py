"""The telemetry of Vercel's AI SDK: ``ai.*`` attributes, and its messages as the chats that the session reads."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.readers.otel.facts import Attributes, Facts, usage_facts
from stashdbg_core.formats.sink import ABSENT

_ASKS = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject", "ai.embed")


def vercel_facts(a: Attributes, name: str) -> Facts:
    """Return what a span says in these conventions."""
    operation = a.text("ai.operationId")
    if operation is None:
        return Facts()
    if operation == "ai.toolCall":
        return Facts(
            "tool",
            a.text("ai.toolCall.name") or name,
            input=a.json("ai.toolCall.args"),
            output=a.json("ai.toolCall.result"),
            call_id=a.text("ai.toolCall.id"),
        )
    if not operation.startswith(_ASKS):
        return Facts()
    model = a.text("ai.response.model", "ai.model.id")
    answer = {"model": model, "id": a.text("ai.response.id"), "stop_reason": a.text("ai.response.finishReason")}
    facts = Facts("llm", model, answer={key: value for key, value in answer.items() if value is not None})
    facts.messages = _messages(a)
    tools = a.get("ai.prompt.tools")
    if isinstance(tools, list):
        facts.request["tools"] = [parsed(tool)[0] for tool in tools]
    facts.usage = usage_facts(
        input=a.count("ai.usage.promptTokens", "ai.usage.inputTokens"),
        output=a.count("ai.usage.completionTokens", "ai.usage.outputTokens"),
        cached=a.count("ai.usage.cachedInputTokens"),
        reasoning=a.count("ai.usage.reasoningTokens"),
    )
    facts.output = _answer(a)
    return facts


def vercel_message(node: Json) -> Json:
    """Return one message of the SDK as a chat message; one of another shape as it is."""
    if not isinstance(node, dict) or not isinstance(node.get("content"), list):
        return node
    return {**node, "content": [_block(block) for block in node["content"]]}


def vercel_calls(listed: Json) -> list[Json] | None:
    """Return a list of the SDK's tool calls as content blocks; None if it is none."""
    if not isinstance(listed, list) or not listed or not all(isinstance(c, dict) and "toolName" in c for c in listed):
        return None
    return [_block({"type": "tool-call", **call}) for call in listed]


def _messages(a: Attributes) -> list[Json] | None:
    given = a.json("ai.prompt.messages", "ai.prompt")
    if isinstance(given, dict):
        system = [{"role": "system", "content": given["system"]}] if given.get("system") else []
        inner = given.get("messages", given.get("prompt"))
        given = [*system, *inner] if isinstance(inner, list) else [*system, {"role": "user", "content": inner}]
    return [vercel_message(node) for node in given] if isinstance(given, list) else None


def _answer(a: Attributes) -> Json:
    said, calls = a.text("ai.response.text"), vercel_calls(a.json("ai.response.toolCalls"))
    thought, thing = a.text("ai.response.reasoning"), a.json("ai.response.object")
    blocks: list[Json] = [{"type": "thinking", "thinking": thought}] if thought is not None else []
    if said is not None or thing is not ABSENT:
        blocks.append({"type": "text", "text": said if said is not None else a.held["ai.response.object"]})
    blocks += calls or []
    return {"role": "assistant", "content": blocks} if blocks else ABSENT


def _block(block: Json) -> Json:
    if not isinstance(block, dict):
        return block
    kind = block.get("type")
    if kind == "reasoning":
        return {"type": "thinking", "thinking": block.get("text"), **_rest(block, "type", "text")}
    if kind == "tool-call":
        given = parsed(block.get("input", block.get("args")))[0]
        rest = _rest(block, "type", "toolCallId", "toolName", "input", "args")
        return {
            "type": "tool_use",
            "id": block.get("toolCallId"),
            "name": block.get("toolName"),
            "input": given,
            **rest,
        }
    if kind == "tool-result":
        came = block.get("output", block.get("result"))
        if isinstance(came, dict) and came.keys() == {"type", "value"}:
            came = came["value"]
        rest = _rest(block, "type", "toolCallId", "output", "result")
        return {"type": "tool_result", "tool_use_id": block.get("toolCallId"), "content": came, **rest}
    return block


def _rest(block: dict[str, Any], *names: str) -> dict[str, Json]:
    return {name: value for name, value in block.items() if name not in names}
