"""A message of a chat, whichever provider's shape it has.

Knows those of OpenAI chat and responses, Anthropic, Gemini, Cohere and Bedrock, plain ``{role, content}``, and the
objects of their libraries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.session.chat_tools import (
    AskedCall,
    ToolResult,
    asked_by,
    call_item,
    is_call_item,
    listed_calls,
    result_of,
    results_in,
)
from stashdbg_core.tags import opened

_BLOCKS = 1000
_DEPTH = 4
_TEXTS = ("text", "refusal", "transcript", "output_text")
_ROLES = {
    "model": "assistant",
    "ai": "assistant",
    "chatbot": "assistant",
    "human": "user",
    "user": "user",
    "developer": "system",
    "system": "system",
    "tool": "tool",
}
_PLAIN = frozenset({"text", "input_text", "output_text"})
_CONTENTS = ("content", "parts", "message", "text")
_BODIES = (*_CONTENTS, "tool_calls", "function_call")
_COMPACTED = frozenset({"compaction", "compaction_summary", "context_compaction"})
_UNREADABLE = "[earlier messages, compacted and encrypted]"
"""What is shown of a summary that only the provider can read."""
Entry: TypeAlias = tuple[str, Json]
"""Where something stands that ``read_message`` reads, and what it is."""
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


def read_message(item: Json, pointer: str, depth: int = _DEPTH) -> Iterator[Message]:
    """Yield what one entry of a list of messages says: a message, and tool results that stand inside it."""
    said = opened(item)
    if isinstance(said, dict):
        yield from _read(said, pointer if said is item else f"{pointer}/fields", depth)


def said_by(role: str, text: Json, pointer: str) -> Entry:
    """Return a text that stands alone as the message it is."""
    return pointer, {"role": role, "content": text}


def is_message(item: Json) -> bool:
    """Tell whether ``read_message`` knows what an entry of a list is."""
    item = opened(item)
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    return (isinstance(item.get("role"), str) and any(name in item for name in _BODIES)) or (
        isinstance(kind, str)
        and ("call_id" in item or kind == "reasoning" or kind.endswith("_call") or kind in _COMPACTED)
    )


def _read(item: dict[str, Json], pointer: str, depth: int) -> Iterator[Message]:
    kind = _word(item.get("type")) or ""
    if is_call_item(item):
        call = _asked(call_item(item))
        yield Message("assistant", "", pointer, (call,))
        if item.get("output") is not None:  # the provider ran it itself
            yield Message("tool", _text(item["output"]), f"{pointer}/output", call_id=call.id)
    elif kind == "tool_search_output":
        yield Message("tool", "\n".join(_tool_names(item.get("tools"))), pointer, call_id=_word(item.get("call_id")))
    elif kind.endswith("_call_output"):
        yield from (_result(result, pointer) for result in results_in(item))
    elif kind in _COMPACTED:
        yield Message("system", _text(item.get("summary")) or _text(item.get("text")) or _UNREADABLE, pointer)
    elif kind == "reasoning":
        yield Message("assistant", "", pointer, thinking=_text(item.get("summary")) or _text(item.get("content")))
    elif depth and isinstance(opened(item.get("message")), dict):
        yield from read_message(item["message"], f"{pointer}/message", depth - 1)
    else:
        yield from _spoken(item, pointer)


def _tool_names(tools: Json, group: str = "") -> Iterator[str]:
    """Yield the names of tools that a search found, those of a group behind its name."""
    for tool in tools[:_BLOCKS] if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            name = group + (_word(tool.get("name")) or "?")
            inner = tool.get("tools") if not group else None
            yield from _tool_names(inner, name + ".") if isinstance(inner, list) else (name,)


def _spoken(item: dict[str, Json], pointer: str) -> Iterator[Message]:
    """Yield a message with a role, and before it the tool results it carries."""
    kind = _word(item.get("type"))
    role = _word(item.get("role")) or ("agent" if kind == "agent_message" else kind or "?")
    content = next((item[name] for name in _CONTENTS if item.get(name) is not None), None)
    texts, thoughts, calls = [], [], []
    for block in map(opened, islice(content, _BLOCKS)) if isinstance(content, list) else ():
        if not isinstance(block, dict):
            texts.append(_text(block))
            continue
        result = result_of(block)
        call = asked_by(block)
        if result is not None:
            yield _result(result, pointer)
        elif call is not None:
            calls.append(_asked(call))
        elif "thinking" in block or block.get("thought") is True:
            thoughts.append(_text(block.get("thinking", block.get("text"))))
        else:
            texts.append(_block_text(block))
    if not isinstance(content, list):
        texts.append(_text(content))
    calls += map(_asked, islice(listed_calls(item), _BLOCKS))
    thoughts += [_text(item[name]) for name in ("reasoning_content", "reasoning") if isinstance(item.get(name), str)]
    text = "\n".join(part for part in texts if part) or _text(item.get("refusal")) or _transcript(item)
    if not (text or calls or thoughts or "role" in item):
        text = _text(item)
    role = _ROLES.get(role.lower(), role)
    call_id = _word(item.get("tool_call_id")) if role == "tool" else None
    if text or calls or thoughts or call_id or not isinstance(content, list):
        yield Message(role, text, pointer, tuple(calls), "\n".join(thoughts), call_id)


def _transcript(item: dict[str, Json]) -> str:
    """Return the words of a message that is a sound."""
    audio = opened(item.get("audio"))
    return _text(audio.get("transcript")) if isinstance(audio, dict) else ""


def _asked(call: AskedCall) -> ToolCall:
    return ToolCall(call.name or "?", _text(call.given), call.id)


def _result(result: ToolResult, pointer: str) -> Message:
    return Message("tool", _text(result.value), pointer, (), "", result.id or result.name, result.failed)


def _block_text(block: dict[str, Json]) -> str:
    kind = _word(block.get("type")) or ""
    if kind in _PLAIN or (not kind and "text" in block):
        return _text(block.get("text"))
    said = next((block[name] for name in _TEXTS if _word(block.get(name))), None)
    if said is not None:
        return str(said)
    if any(name in kind for name in _MEDIA) or "inlineData" in block or "inline_data" in block:
        return f"[{kind or 'data'}]"
    return _text(block)


def _text(node: Json, depth: int = _DEPTH) -> str:
    """Return a text as itself, a list of blocks as their texts, anything else as JSON."""
    if isinstance(node, str):
        return node
    if node is None:
        return ""
    if isinstance(node, list) and node and depth:
        blocks = list(map(opened, node[:_BLOCKS]))
        if all(isinstance(block, dict) and "text" in block for block in blocks):
            return "\n".join(_text(block["text"], depth - 1) for block in blocks)
    inner = opened(node)
    if isinstance(inner, dict) and isinstance(inner.get("parts"), list) and depth:
        return _text(inner["parts"], depth - 1)
    return stored_form(node).decode("utf-8", "replace")


def _word(node: Json) -> str | None:
    return node if isinstance(node, str) and node else None
