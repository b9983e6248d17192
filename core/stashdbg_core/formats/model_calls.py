"""Tools that a model's answer asks for and their results in a later request, in the shapes of every provider.

Knows OpenAI chat and responses, Anthropic, Gemini, Bedrock's converse, Cohere and Ollama.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.parse import parse_json

_CALLS = ("function_call", "custom_tool_call", "local_shell_call")


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool that a model asks for."""

    name: str
    input: Json
    id: str | None = None
    """None where the provider gives none: results then name the tool."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back, as it stands in a request."""

    value: Json
    id: str | None
    name: str | None = None
    failed: bool = False


def asked_calls(answer: Json) -> list[AskedCall]:
    """Return the tools that an answer asks for, in order."""
    if type(answer) is not dict:
        return []
    calls: list[AskedCall] = []
    for choice in objects_of(answer.get("choices")):
        calls += _openai(choice.get("message"))
    for candidate in objects_of(answer.get("candidates")):
        calls += _blocks(candidate.get("content"), "parts")
    for item in objects_of(answer.get("output")):
        if item.get("type") in _CALLS:
            name = item.get("name") or str(item["type"]).removesuffix("_call")
            given = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
            calls.append(AskedCall(str(name), _parsed(given), _word(item.get("call_id")) or _word(item.get("id"))))
    output = answer.get("output")
    for message in (answer, answer.get("message"), output.get("message") if type(output) is dict else None):
        calls += _openai(message)
        calls += _blocks(message, "content")
    return calls


def tool_results(request: Json) -> Iterator[ToolResult]:
    """Yield the tool results in a request, in order."""
    if type(request) is not dict:
        return
    for message in objects_of(request.get("messages")):
        if message.get("role") == "tool":
            named = _word(message.get("tool_name")) or _word(message.get("name"))
            yield ToolResult(message.get("content"), _word(message.get("tool_call_id")), named)
        yield from _results(message.get("content"))
    for item in objects_of(request.get("input")):
        kind = item.get("type")
        if type(kind) is str and kind.endswith("_call_output"):
            yield ToolResult(item.get("output"), _word(item.get("call_id")) or _word(item.get("id")))
    for content in objects_of(request.get("contents")):
        yield from _results(content.get("parts"))
    for result in objects_of(request.get("tool_results")):
        call = result.get("call")
        if type(call) is dict:
            yield ToolResult(result.get("outputs"), None, _word(call.get("name")))


def _openai(message: Json) -> Iterator[AskedCall]:
    for call in objects_of(message.get("tool_calls") if type(message) is dict else None):
        inner = call.get("function")
        inner = inner if type(inner) is dict else call
        given = next((inner[key] for key in ("arguments", "parameters", "input") if key in inner), None)
        yield AskedCall(_word(inner.get("name")) or "unknown", _parsed(given), _word(call.get("id")))


def _blocks(message: Json, name: str) -> Iterator[AskedCall]:
    for block in objects_of(message.get(name) if type(message) is dict else None):
        call = block.get("functionCall") or block.get("function_call")
        if block.get("type") == "tool_use":
            yield AskedCall(_word(block.get("name")) or "unknown", block.get("input"), _word(block.get("id")))
        elif type(call) is dict:
            yield AskedCall(_word(call.get("name")) or "unknown", call.get("args"), _word(call.get("id")))
        elif type(block.get("toolUse")) is dict:
            used = block["toolUse"]
            name = _word(used.get("name")) or "unknown"
            yield AskedCall(name, _parsed(used.get("input")), _word(used.get("toolUseId")))


def _results(content: Json) -> Iterator[ToolResult]:
    for block in objects_of(content):
        answer = block.get("functionResponse") or block.get("function_response")
        result = block.get("toolResult")
        if block.get("type") == "tool_result":
            failed = block.get("is_error") is True
            yield ToolResult(block.get("content"), _word(block.get("tool_use_id")), failed=failed)
        elif type(answer) is dict:
            yield ToolResult(answer.get("response"), _word(answer.get("id")), _word(answer.get("name")))
        elif type(result) is dict:
            failed = result.get("status") == "error"
            yield ToolResult(result.get("content"), _word(result.get("toolUseId")), failed=failed)


def _parsed(given: Json) -> Json:
    """Return arguments that are JSON in a text as what they spell."""
    if type(given) is not str or given[:1] not in ("{", "["):
        return given
    try:
        return parse_json(given.encode("utf-8", "surrogatepass"))
    except StashError:
        return given


def _word(value: Json) -> str | None:
    return value if type(value) is str and value else None
