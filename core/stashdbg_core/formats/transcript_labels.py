"""Labels of a session's events: what a tool call is about, what a model said, in a line."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.shapes import objects_of

_TELLING = (
    "command", "cmd", "file_path", "path", "filePath", "notebook_path", "dir_path", "absolute_path", "pattern",
    "query", "url", "description", "skill", "prompt", "message", "task_id", "name", "title",
)  # fmt: skip
"""Names of the inputs that say most about a call, best first."""
_HEAD = 400


def tool_label(key: str, given: Json) -> str:
    """Return a tool call in a line, such as ``Bash: ls -la``."""
    said = _telling(given)
    return label_of(f"{key}: {said}" if said else key)


def reply_label(answer: dict[str, Any]) -> str:
    """Return a model's answer in a line: its text, else the tools it asks for, else its thoughts.

    Knows content blocks as Anthropic's, and the output items of OpenAI's responses.
    """
    texts: list[str] = []
    tools: list[str] = []
    thoughts: list[str] = []
    content = answer.get("content")
    if isinstance(content, str):
        texts.append(content)
    for block in (*objects_of(content), *objects_of(answer.get("output"))):
        kind = block.get("type")
        if kind == "message":
            texts += [part["text"] for part in objects_of(block.get("content")) if isinstance(part.get("text"), str)]
        elif kind == "thinking" and isinstance(block.get("thinking"), str):
            thoughts.append(block["thinking"])
        elif kind == "reasoning":
            thoughts += [part["text"] for part in objects_of(block.get("summary")) if isinstance(part.get("text"), str)]
        elif isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif isinstance(kind, str) and (kind == "tool_use" or kind.endswith("_call")):
            tools.append(str(block.get("name") or kind.removesuffix("_call"))[:60])
    for said in (texts, thoughts if not tools else []):
        line = label_of(" ".join(text[:_HEAD] for text in said if text.strip()))
        if line:
            return line
    return label_of("→ " + ", ".join(tools)) if tools else ""


def prompt_text(content: Json) -> str:
    """Return the words of a prompt that its user wrote, as far as they can be told from what was put before them."""
    if isinstance(content, str):
        return content
    texts = [block["text"] for block in objects_of(content) if isinstance(block.get("text"), str)]
    own = [text for text in texts if not text.lstrip().startswith("<")]
    if own or texts:
        return str((own or texts)[0])
    kinds = [str(block.get("type"))[:40] for block in objects_of(content)]
    return f"[{', '.join(kinds)}]" if kinds else ""


def _telling(given: Json) -> str:
    if isinstance(given, str):
        return given[:_HEAD]
    if not isinstance(given, dict):
        return ""
    for name in _TELLING:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return str(value[:_HEAD])
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(map(str, value))[:_HEAD]
    return next((str(value[:_HEAD]) for value in given.values() if isinstance(value, str) and value.strip()), "")
