"""A message of a chat, whichever provider's shape it has.

Knows those of OpenAI chat and responses, Anthropic, Gemini, Cohere and Bedrock, plain ``{role, content}``, and the
objects of their libraries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.session.gist import opened

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
_ARGUMENTS = ("arguments", "input", "args", "action", "queries", "code")
_CONTENTS = ("content", "parts", "message", "text")
_BODIES = (*_CONTENTS, "tool_calls", "function_call")
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


def read_message(item: Json, pointer: str, depth: int = _DEPTH) -> Iterator[Message]:
    """Yield what one entry of a list of messages says: a message, and tool results that stand inside it."""
    said = opened(item)
    if isinstance(said, dict):
        yield from _read(said, pointer if said is item else f"{pointer}/fields", depth)


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
        result = _result(block, pointer)
        call = _asked(block)
        if result is not None:
            yield result
        elif call is not None:
            calls.append(call)
        elif "thinking" in block or block.get("thought") is True:
            thoughts.append(_text(block.get("thinking", block.get("text"))))
        else:
            texts.append(_block_text(block))
    if not isinstance(content, list):
        texts.append(_text(content))
    asked = item.get("tool_calls")
    calls += [_tool_call(call) for call in map(opened, asked[:_BLOCKS])] if isinstance(asked, list) else []
    calls += [_tool_call(item["function_call"])] if item.get("function_call") else []
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


def _asked(block: dict[str, Json]) -> ToolCall | None:
    """Return the tool that a block of a message's content asks for."""
    call = opened(block.get("functionCall") or block.get("function_call") or block.get("toolUse"))
    if isinstance(call, dict):
        return _call(call, "id", "toolUseId")
    return _call(block, "id") if (_word(block.get("type")) or "").endswith("tool_use") else None


def _result(block: dict[str, Json], pointer: str) -> Message | None:
    if (_word(block.get("type")) or "").endswith("tool_result"):
        failed = block.get("is_error") is True
        return Message("tool", _text(block.get("content")), pointer, (), "", _word(block.get("tool_use_id")), failed)
    answer = opened(block.get("functionResponse") or block.get("function_response") or block.get("toolResult"))
    if isinstance(answer, dict):
        call_id = _word(answer.get("id")) or _word(answer.get("toolUseId")) or _word(answer.get("name"))
        return Message("tool", _text(answer.get("response", answer.get("content"))), pointer, call_id=call_id)
    return None


def _tool_call(call: Json) -> ToolCall:
    call = opened(call)
    if not isinstance(call, dict):
        return ToolCall("?", _text(call))
    inner = opened(call.get("function"))
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
