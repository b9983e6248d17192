"""The OpenTelemetry GenAI conventions: today's attributes, the span events and log records of earlier versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.genai_parts import content_of, message_of, reply_of_messages
from stashdbg_core.formats.readers.otel.attributes import parsed
from stashdbg_core.formats.readers.otel.facts import Attributes, Facts, usage_facts
from stashdbg_core.formats.readers.otel.spans import OtelEvent
from stashdbg_core.formats.sink import ABSENT

_MODEL_OPERATIONS = frozenset(
    ["chat", "text_completion", "completion", "generate_content", "embeddings", "call_llm", "responses"]
)
_AGENT_OPERATIONS = frozenset({"invoke_agent", "create_agent"})
_DETAILS = "gen_ai.client.inference.operation.details"
_ROLES = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


def genai_facts(a: Attributes, name: str, events: Sequence[OtelEvent]) -> Facts:
    """Return what a span says in these conventions."""
    facts = _own(a, name)
    for event in events:
        if event.name == _DETAILS or event.attributes.get("event.name") == _DETAILS:
            details = Attributes(event.attributes)
            facts.merge(_own(details, name))
            a.cut = a.cut or details.cut
    if facts.channel in (None, "llm"):
        facts.merge(_said(events, a))
    return facts


def usage_of_attributes(a: Attributes) -> dict[str, Json]:
    """Return the token counts of a span."""
    return usage_facts(
        input=a.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        output=a.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        total=a.count("gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
        cached=a.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
        written=a.count("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
        reasoning=a.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
    )


def _own(a: Attributes, name: str) -> Facts:
    channel = _channel(a, name)
    if channel == "tool":
        return Facts(
            channel,
            a.text("gen_ai.tool.name") or name.removeprefix("execute_tool ") or None,
            input=a.json("gen_ai.tool.call.arguments", "gen_ai.tool.args", "tool_arguments"),
            output=a.json("gen_ai.tool.call.result", "gen_ai.output", "tool_response"),
            call_id=a.text("gen_ai.tool.call.id"),
        )
    messages = _messages(a)
    output = _output(a)
    if channel == "agent":
        given = ABSENT if messages is None else {"messages": messages}
        return Facts(channel, agent_name(a, name), input=given, output=output)
    answered, asked = a.text("gen_ai.response.model"), a.text("gen_ai.request.model")
    request = {key: parsed(value)[0] for key, value in a.starting("gen_ai.request.").items()}
    tools = a.json("gen_ai.tool.definitions", "tools") if channel == "llm" else ABSENT
    if tools is not ABSENT:
        request["tools"] = tools
    reasons = a.get("gen_ai.response.finish_reasons")
    answer = {"model": answered or asked, "id": a.text("gen_ai.response.id")}
    if isinstance(reasons, list) and len(reasons) == 1:
        answer["stop_reason"] = reasons[0]
    return Facts(
        channel,
        answered or asked,
        messages=messages,
        request=request,
        output=output,
        usage=usage_of_attributes(a),
        answer={key: value for key, value in answer.items() if value is not None},
    )


def _channel(a: Attributes, name: str) -> str | None:
    operation = a.text("gen_ai.operation.name")
    if operation is not None:
        if operation in _MODEL_OPERATIONS:
            return "llm"
        if operation in _AGENT_OPERATIONS:
            return "agent"
        return "tool" if operation == "execute_tool" else None
    if "gen_ai.tool.name" in a.held:
        return "tool"
    if "gen_ai.agent.name" in a.held and (name.startswith("invoke_agent") or name.endswith((" run", "agent"))):
        return "agent"
    asks = "gen_ai.request.model" in a.held or "gen_ai.response.model" in a.held
    return "llm" if asks and ("gen_ai.system" in a.held or "gen_ai.provider.name" in a.held) else None


def agent_name(a: Attributes, name: str) -> str:
    """Return what an agent's span calls it."""
    return (
        a.text("gen_ai.agent.name", "agent.name", "agent_name") or name.removeprefix("invoke_agent ").strip() or "agent"
    )


def _messages(a: Attributes) -> list[Json] | None:
    system = a.json("gen_ai.system_instructions")
    given = a.listed("gen_ai.input.messages")
    if given is None and "gen_ai.input.messages" in a.held and isinstance(a.held["gen_ai.input.messages"], str):
        given = [{"role": "user", "content": a.held["gen_ai.input.messages"]}]
    if system is ABSENT:
        return None if given is None else [message_of(node) for node in given]
    first = {"role": "system", "content": content_of(system) if isinstance(system, list) else system}
    return [first, *(message_of(node) for node in given or ())]


def _output(a: Attributes) -> Json:
    said = a.json("gen_ai.output.messages")
    if isinstance(said, list) and said:
        return reply_of_messages(said)
    if said is not ABSENT and said != []:
        return {"role": "assistant", "content": said}
    plain = a.json("gen_ai.output")
    if plain is ABSENT:
        return ABSENT
    if isinstance(plain, list) and plain and all(isinstance(item, dict) and "tool.name" in item for item in plain):
        calls = [
            {"type": "tool_use", "name": item["tool.name"], "input": parsed(item.get("tool.args"))[0]} for item in plain
        ]
        return {"role": "assistant", "content": calls}
    return {"role": "assistant", "content": a.get("gen_ai.output")}


def _said(events: Sequence[OtelEvent], a: Attributes) -> Facts:
    """Return the messages that span events or log records hold."""
    facts, messages, choices = Facts(), [], []
    for event in [*events, *_listed_events(a)]:
        held = event.attributes
        if event.name in _ROLES:
            messages.append(_event_message(held, _ROLES[event.name]))
        elif event.name == "gen_ai.choice":
            message, cut = parsed(held.get("message", held))
            a.cut = a.cut or cut
            inner = message if isinstance(message, dict) else {"content": message}
            choices.append({"message": _event_message(inner, "assistant"), "finish_reason": held.get("finish_reason")})
        elif event.name in ("gen_ai.content.prompt", "gen_ai.content.completion"):
            field = "gen_ai.prompt" if event.name.endswith("prompt") else "gen_ai.completion"
            content, cut = parsed(held.get(field))
            a.cut = a.cut or cut
            _take_content(facts, field, content)
    if messages:
        facts.messages, facts.channel = messages, "llm"
    if choices:
        facts.channel = "llm"
        facts.output = {"choices": choices} if len(choices) > 1 else _single(choices[0])
    return facts


def _take_content(facts: Facts, field: str, content: Json) -> None:
    if content is None:
        return
    said = content if isinstance(content, list) else [{"role": "user", "content": content}]
    if field == "gen_ai.prompt":
        facts.messages = [message_of(node) for node in said]
    elif isinstance(content, list) and content:
        facts.output = reply_of_messages(content)
    else:
        facts.output = content if isinstance(content, dict) else {"role": "assistant", "content": content}


def _single(choice: dict[str, Any]) -> Json:
    reason = choice["finish_reason"]
    return {**choice["message"], "stop_reason": reason} if reason is not None else choice["message"]


def _event_message(held: dict[str, Json], role: str) -> Json:
    message: dict[str, Json] = {"role": held.get("role") or role, "content": parsed(held.get("content"))[0]}
    calls = parsed(held.get("tool_calls"))[0]
    if isinstance(calls, list):
        message["tool_calls"] = calls
    if role == "tool" and isinstance(held.get("id"), str):
        message["tool_call_id"] = held["id"]
    return message


def _listed_events(a: Attributes) -> list[OtelEvent]:
    """Return the events that some instrumentations put into one attribute, a JSON list."""
    listed = a.listed("events", "all_messages_events")
    return [
        OtelEvent(str(item.get("event.name")), item)
        for item in listed or ()
        if isinstance(item, dict) and "event.name" in item
    ]
