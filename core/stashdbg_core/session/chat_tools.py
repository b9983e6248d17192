"""Tools in the messages of a chat: which of them a message asks for and what came back, whichever provider's shape.

Everything is JSON as it stands in the file, nothing is walked deeper than where a call is named, so that it costs the
same for a long chat as for a short one. ``chat_messages`` makes text of it, ``gist`` a few words, importers events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stashdbg_core.canonical import Json
from stashdbg_core.tags import opened

_GIVEN = ("arguments", "input", "args", "parameters", "action", "queries", "code")
_CALLS = ("functionCall", "function_call", "toolUse")
_RUN_BY_PROGRAMS = frozenset(
    f"{name}_call"
    for name in ("function", "custom_tool", "local_shell", "shell", "apply_patch", "computer", "tool_search")
)
"""Kinds of calls in OpenAI's responses whose results a program sends; the rest the provider runs itself."""
_RESULTS = ("functionResponse", "function_response", "toolResult")


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A tool that a message asks for."""

    name: str
    """Empty where it has none."""
    given: Json
    """What it is given, which some providers spell as JSON in a text."""
    id: str | None = None
    """None where the provider gives none: results then name the tool."""
    hosted: bool = False
    """Whether the provider runs the tool itself."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave back."""

    value: Json
    id: str | None
    """Of the call."""
    name: str | None = None
    failed: bool = False
    hosted: bool = False


def asked_in(item: Json) -> Iterator[AskedCall]:
    """Yield the tools that a message, or an item of OpenAI's responses, asks for."""
    item = opened(item)
    if not isinstance(item, dict):
        return
    if is_call_item(item):
        yield call_item(item)
        return
    for block in _blocks(item):
        call = asked_by(block)
        if call is not None:
            yield call
    yield from listed_calls(item)


def results_in(item: Json) -> Iterator[ToolResult]:
    """Yield the results that a message, or an item of OpenAI's responses, brings back."""
    item = opened(item)
    if not isinstance(item, dict):
        return
    if _kind(item).endswith("_call_output"):
        yield ToolResult(item.get("output"), _word(item, "call_id", "id"))
        return
    if item.get("role") == "tool":
        yield ToolResult(item.get("content"), _word(item, "tool_call_id"), _word(item, "tool_name", "name"))
    for block in _blocks(item):
        result = result_of(block)
        if result is not None:
            yield result


def is_call_item(item: dict[str, Json]) -> bool:
    """Tell whether an item of OpenAI's responses is a call of a tool."""
    return _kind(item).endswith("_call") and "role" not in item


def call_item(item: dict[str, Json]) -> AskedCall:
    """Return the call that an item of OpenAI's responses is."""
    return _call(item, "call_id", "id", hosted=_kind(item) not in _RUN_BY_PROGRAMS)


def listed_calls(message: dict[str, Json]) -> Iterator[AskedCall]:
    """Yield the calls that a message names beside its content."""
    asked = message.get("tool_calls")
    for call in asked if isinstance(asked, list) else ():
        yield _listed(call)
    if message.get("function_call"):
        yield _listed(message["function_call"])


def asked_by(block: dict[str, Json]) -> AskedCall | None:
    """Return the call that a block of a message's content is."""
    call = opened(next((block[name] for name in _CALLS if block.get(name)), None))
    if isinstance(call, dict):
        return _call(call, "id", "toolUseId")
    kind = _kind(block)
    return _call(block, "id", hosted=kind != "tool_use") if kind.endswith("tool_use") else None


def result_of(block: dict[str, Json]) -> ToolResult | None:
    """Return the result that a block of a message's content is."""
    kind = _kind(block)
    if kind.endswith("tool_result"):
        failed = block.get("is_error") is True
        return ToolResult(block.get("content"), _word(block, "tool_use_id"), None, failed, kind != "tool_result")
    answer = opened(next((block[name] for name in _RESULTS if block.get(name)), None))
    if not isinstance(answer, dict):
        return None
    value = answer.get("response", answer.get("content"))
    return ToolResult(value, _word(answer, "id", "toolUseId"), _word(answer, "name"), answer.get("status") == "error")


def _listed(call: Json) -> AskedCall:
    call = opened(call)
    if not isinstance(call, dict):
        return AskedCall("", call)
    inner = opened(call.get("function"))
    return _call(inner if isinstance(inner, dict) else call, "call_id", id=_word(call, "id"))


def _call(call: dict[str, Json], *ids: str, id: str | None = None, hosted: bool = False) -> AskedCall:
    given = next((call[name] for name in _GIVEN if name in call), None)
    name = _word(call, "name") or _kind(call).removesuffix("_call")
    return AskedCall(name, given, id or _word(call, *ids), hosted)


def _blocks(item: dict[str, Json]) -> Iterator[dict[str, Json]]:
    content = item.get("content", item.get("parts"))
    for block in map(opened, content) if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def _kind(item: dict[str, Json]) -> str:
    return _word(item, "type") or ""


def _word(item: dict[str, Json], *names: str) -> str | None:
    """Return the first of an object's entries that is a text with anything in it."""
    return next((said for name in names if isinstance(said := item.get(name), str) and said), None)
