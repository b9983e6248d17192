"""The messages of a model's request, whichever provider's shape they have.

Knows OpenAI chat and responses, Anthropic messages, Gemini contents, and any ``{"messages": [{role, content}]}``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from stashdbg_core.canonical import Json, stored_form

MOST_MESSAGES = 2000
"""Messages kept of one request, the last ones."""
_BLOCKS = 1000
_DEPTH = 3
_WRAPPERS = ("kwargs", "body", "json", "request", "params", "arguments", "fields", "data")
_PLAIN = frozenset({"text", "input_text", "output_text"})
_ARGUMENTS = ("arguments", "input", "args", "action", "queries", "code")
_COMPACTED = frozenset({"compaction", "compaction_summary", "context_compaction"})
_UNREADABLE = "[earlier messages, compacted and encrypted]"
"""What is shown of a summary that only the provider can read."""
_MEDIA = ("image", "audio", "file", "document", "video", "encrypted")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that a message asks for."""

    name: str
    arguments: str
    """JSON text, or whatever the model wrote."""
    id: str | None = None
    result: Message | None = None
    """What came back, if the chat has it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat."""

    role: str
    """``system``, ``user``, ``assistant``, ``tool``, ``error``, or the file's own word."""
    text: str
    pointer: str
    """Where it stands in the input, or in the value for a reply."""
    tool_calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    call_id: str | None = None
    """Of a tool's result: which call it answers."""
    is_error: bool = field(default=False)


def messages_of(tree: Json, depth: int = _DEPTH, pointer: str = "") -> tuple[list[Message], int] | None:
    """Return the last ``MOST_MESSAGES`` messages of a request and how many were left out; None if it has none."""
    if isinstance(tree, list):
        if not tree or not all(_is_message(item) for item in tree[:4]):
            return None
        return _listed(tree, pointer, [])
    if not isinstance(tree, dict) or not depth:
        return None
    before = [
        Message("system", _text(tree[name]), f"{pointer}/{name}")
        for name in ("system", "instructions", "systemInstruction", "system_instruction", "preamble")
        if tree.get(name)
    ]
    if isinstance(tree.get("message"), str) and isinstance(tree.get("chat_history", []), list):
        return _cohere(tree, before, pointer)
    for name in ("messages", "input", "contents"):
        items = tree.get(name)
        if name == "input" and isinstance(items, str) and ("model" in tree or before):
            return [*before, Message("user", items, f"{pointer}/input")], 0
        if isinstance(items, list) and items and all(_is_message(item) for item in items[:4]):
            return _listed(items, f"{pointer}/{name}", before)
    for name in _WRAPPERS:
        if isinstance(tree.get(name), (dict, list)):
            found = messages_of(tree[name], depth - 1, f"{pointer}/{name}")
            if found is not None:
                return found
    return None


def _cohere(tree: dict[str, Json], before: list[Message], pointer: str) -> tuple[list[Message], int]:
    """Return the chat of Cohere's first version: a history, and the message that it ends with."""
    history = [item for item in tree.get("chat_history", []) if isinstance(item, dict)]
    roles = {"CHATBOT": "assistant", "USER": "user", "SYSTEM": "system", "TOOL": "tool"}
    start = max(len(history) - MOST_MESSAGES, 0)
    said = [
        Message(
            roles.get(_text(item.get("role")).upper(), "user"),
            _text(item.get("message")),
            f"{pointer}/chat_history/{at}",
        )
        for at, item in enumerate(history[start:], start)
    ]
    last = [Message("user", tree["message"], f"{pointer}/message")] if tree["message"] else []
    return [*before, *said, *last], start


def read_message(item: Json, pointer: str) -> Iterator[Message]:
    """Yield what one entry of a list of messages says: a message, and tool results that stand inside it."""
    if not isinstance(item, dict):
        return
    kind = _word(item.get("type")) or ""
    if kind.endswith("_call") and "role" not in item:
        call = _call(item, "call_id", "id")
        yield Message("assistant", "", pointer, (call,))
        if item.get("output") is not None:  # the provider ran it itself
            yield Message("tool", _text(item["output"]), f"{pointer}/output", call_id=call.id)
    elif kind == "tool_search_output":
        yield Message("tool", "\n".join(_tool_names(item.get("tools"))), pointer, call_id=_word(item.get("call_id")))
    elif kind.endswith("_call_output"):
        yield Message("tool", _text(item.get("output")), pointer, call_id=_word(item.get("call_id")))
    elif kind in _COMPACTED:
        yield Message("system", _text(item.get("summary")) or _text(item.get("text")) or _UNREADABLE, pointer)
    elif kind == "reasoning":
        yield Message("assistant", "", pointer, thinking=_text(item.get("summary")) or _text(item.get("content")))
    else:
        yield from _spoken(item, pointer)


def _listed(items: list[Json], pointer: str, before: list[Message]) -> tuple[list[Message], int]:
    start = max(len(items) - MOST_MESSAGES, 0)
    said = [message for at in range(start, len(items)) for message in read_message(items[at], f"{pointer}/{at}")]
    return [*before, *said], start


def _is_message(item: Json) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    return (isinstance(item.get("role"), str) and any(name in item for name in ("content", "parts", "tool_calls"))) or (
        isinstance(kind, str)
        and ("call_id" in item or "summary" in item or kind.endswith("_call") or kind in _COMPACTED)
    )


def _tool_names(tools: Json, group: str = "") -> Iterator[str]:
    """Yield the names of tools that a search found, those of a group behind its name."""
    for tool in tools[:_BLOCKS] if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            name = group + (_word(tool.get("name")) or "?")
            inner = tool.get("tools") if not group else None
            yield from _tool_names(inner, name + ".") if isinstance(inner, list) else (name,)


def _spoken(item: dict[str, Json], pointer: str) -> Iterator[Message]:
    """Yield a message with a role, and before it the tool results it carries."""
    role = _word(item.get("role")) or ("agent" if item.get("type") == "agent_message" else "?")
    content = item.get("content", item.get("parts"))
    texts, thoughts, calls = [], [], []
    for block in islice(content, _BLOCKS) if isinstance(content, list) else ():
        if not isinstance(block, dict):
            texts.append(_text(block))
            continue
        result = _result(block, pointer)
        call = block.get("functionCall") or block.get("function_call") or block.get("toolUse")
        if result is not None:
            yield result
        elif isinstance(call, dict):
            calls.append(_call(call, "id", "toolUseId"))
        elif block.get("type") in ("tool_use", "server_tool_use"):
            calls.append(_call(block, "id"))
        elif "thinking" in block or block.get("thought") is True:
            thoughts.append(_text(block.get("thinking", block.get("text"))))
        else:
            texts.append(_block_text(block))
    if not isinstance(content, list):
        texts.append(_text(content))
    asked = item.get("tool_calls")
    calls += [_tool_call(call) for call in asked[:_BLOCKS] if isinstance(call, dict)] if isinstance(asked, list) else []
    thoughts += [_text(item[name]) for name in ("reasoning_content", "reasoning") if isinstance(item.get(name), str)]
    text = "\n".join(part for part in texts if part) or _text(item.get("refusal"))
    call_id = _word(item.get("tool_call_id")) if role == "tool" else None
    if text or calls or thoughts or call_id or not isinstance(content, list):
        role = {"model": "assistant", "ai": "assistant", "human": "user", "developer": "system"}.get(role, role)
        yield Message(role, text, pointer, tuple(calls), "\n".join(thoughts), call_id)


def _result(block: dict[str, Json], pointer: str) -> Message | None:
    if block.get("type") == "tool_result":
        failed = block.get("is_error") is True
        return Message("tool", _text(block.get("content")), pointer, (), "", _word(block.get("tool_use_id")), failed)
    answer = block.get("functionResponse") or block.get("function_response") or block.get("toolResult")
    if isinstance(answer, dict):
        call_id = _word(answer.get("id")) or _word(answer.get("toolUseId")) or _word(answer.get("name"))
        return Message("tool", _text(answer.get("response", answer.get("content"))), pointer, call_id=call_id)
    return None


def _tool_call(call: dict[str, Json]) -> ToolCall:
    inner = call.get("function")
    if isinstance(inner, dict):
        return ToolCall(_word(inner.get("name")) or "?", _text(inner.get("arguments")), _word(call.get("id")))
    return _call(call, "id", "call_id")


def _call(call: dict[str, Json], *ids: str) -> ToolCall:
    given = next((call[name] for name in _ARGUMENTS if name in call), None)
    name = _word(call.get("name")) or (_word(call.get("type")) or "?").removesuffix("_call")
    return ToolCall(name, _text(given), next((found for one in ids if (found := _word(call.get(one)))), name))


def _block_text(block: dict[str, Json]) -> str:
    kind = _word(block.get("type")) or ""
    if kind in _PLAIN or (not kind and "text" in block):
        return _text(block.get("text"))
    if any(name in kind for name in _MEDIA) or "inlineData" in block or "inline_data" in block:
        return f"[{kind or 'data'}]"
    return _text(block.get("text")) or _text(block)


def _text(node: Json) -> str:
    """Return a text as itself, a list of blocks as their texts, anything else as JSON."""
    if isinstance(node, str):
        return node
    if node is None:
        return ""
    if isinstance(node, list) and node and all(isinstance(item, dict) and "text" in item for item in node):
        return "\n".join(_text(item["text"]) for item in node[:_BLOCKS])
    if isinstance(node, dict) and isinstance(node.get("parts"), list):
        return _text(node["parts"])
    return stored_form(node).decode("utf-8", "replace")


def _word(node: Json) -> str | None:
    return node if isinstance(node, str) and node else None
