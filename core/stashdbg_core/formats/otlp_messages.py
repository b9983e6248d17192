"""Model calls and errors of a recording in the words of the OpenTelemetry GenAI conventions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.formats.shapes import object_of
from stashdbg_core.parse import parse_json
from stashdbg_core.session.chat_messages import Message
from stashdbg_core.session.chat_reply import reply_of
from stashdbg_core.session.chat_request import messages_of
from stashdbg_core.session.gist import error
from stashdbg_core.session.usage import usage_of
from stashdbg_core.tags import STREAM, TAG

_WRAPPERS = ("kwargs", "body", "json", "request", "params", "arguments", "fields", "data")
_DEPTH = 3
_MESSAGES = 2000
_SCALARS = ("temperature", "top_p", "top_k", "max_tokens", "seed", "frequency_penalty", "presence_penalty")
_PROVIDERS = (
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "gcp.gemini"),
    ("mistral", "mistral_ai"),
    ("deepseek", "deepseek"),
    ("command", "cohere"),
    ("grok", "x_ai"),
)


def model_attributes(key: str, given: Json, value: Json, *, has_input: bool) -> dict[str, Json]:
    """Return the attributes of a model call.

    Args:
        key: Its key, a model's name as a rule.
        given: What it was given.
        value: What it answered; None if it failed.
        has_input: Whether it was given anything.
    """
    request = _request_of(given)
    asked = request.get("model")
    model = asked if isinstance(asked, str) and asked else key
    found: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": next((name for start, name in _PROVIDERS if start in key.lower()), "unknown"),
        "gen_ai.request.model": model,
    }
    for name in _SCALARS:
        if isinstance(request.get(name), int | float):
            found[f"gen_ai.request.{name}"] = request[name]
    if isinstance(request.get("tools"), list):
        found["gen_ai.tool.definitions"] = _text(request["tools"])
    listed = messages_of(given) if given is not None else None
    if listed is not None and not listed[1]:
        found["gen_ai.input.messages"] = _text(_turns(listed[0]))
    elif has_input:
        found["stashdbg.input"] = _text(given)
    if value is not None:
        found |= _answer(key, value)
    return found


def _answer(key: str, value: Json) -> dict[str, Json]:
    said = reply_of(value)
    told = object_of(value)
    answered, identity = told.get("model"), told.get("id")
    found: dict[str, Json] = {
        "gen_ai.response.model": answered if isinstance(answered, str) else key,
        "gen_ai.response.id": identity if isinstance(identity, str) else None,
    }
    if said:
        reason = _reason(told)
        found["gen_ai.response.finish_reasons"] = [reason] if reason else None
        parts = [part for message in said for part in _parts(message)]
        turn = {"role": said[0].role, "parts": parts, "finish_reason": reason or "stop"}
        found["gen_ai.output.messages"] = _text([turn])
    else:
        found["stashdbg.value"] = _text(value)
    usage = usage_of(value)
    if usage is not None:
        found["gen_ai.usage.input_tokens"] = usage.input
        found["gen_ai.usage.output_tokens"] = usage.output
        found["gen_ai.usage.cache_read.input_tokens"] = usage.cached or None
    return found


def _reason(told: dict[str, Any]) -> str | None:
    if told.get(TAG) == STREAM:
        return None
    choices = told.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    given = (told.get("stop_reason"), first.get("finish_reason"), first.get("stop_reason"))
    return next((reason for reason in given if isinstance(reason, str) and reason), None)


def _turns(messages: Sequence[Message]) -> list[Json]:
    return [{"role": message.role, "parts": _parts(message)} for message in messages]


def _parts(message: Message) -> list[dict[str, Json]]:
    parts: list[dict[str, Json]] = []
    if message.call_id is not None:
        answer: dict[str, Json] = {"type": "tool_call_response", "id": message.call_id, "response": message.text}
        return [{**answer, "is_error": True} if message.is_error else answer]
    if message.thinking:
        parts.append({"type": "reasoning", "content": message.thinking})
    if message.text:
        parts.append({"type": "text", "content": message.text})
    parts += [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": _parsed(call.arguments)}
        for call in message.tool_calls
    ]
    return parts or [{"type": "text", "content": ""}]


def _parsed(arguments: str) -> Json:
    try:
        return parse_json(arguments.encode("utf-8", "surrogatepass")) if arguments else None
    except StashError:
        return arguments


def _request_of(given: Json, depth: int = _DEPTH) -> dict[str, Json]:
    """Return the object that holds the messages of a request."""
    if not isinstance(given, dict) or not depth:
        return {}
    if any(isinstance(given.get(name), list) for name in ("messages", "input", "contents")):
        return given
    inner = (_request_of(given[name], depth - 1) for name in _WRAPPERS if name in given)
    return next((found for found in inner if found), given if depth == _DEPTH else {})


def error_event(value: Json) -> dict[str, Json]:
    """Return the attributes of the ``exception`` event of a failed call."""
    told = object_of(value)
    kind = next((told[name] for name in ("type", "type_name", "class") if isinstance(told.get(name), str)), None)
    trace = next((told[name] for name in ("stacktrace", "traceback") if isinstance(told.get(name), str)), None)
    return {
        "exception.type": kind,
        "exception.message": error(value, 4000),
        "exception.stacktrace": trace,
    }


def _text(value: Json) -> str:
    return stored_form(value).decode("utf-8", "surrogatepass")
