"""What the lines of a Claude Code session say, one at a time: pure functions over parsed records."""

from __future__ import annotations

import re
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.images import image
from stashdbg_core.formats.transcript import returned, text_of

PROGRESS = b'"type":"progress","data":{'
"""In the raw line of every progress record: quotes inside texts are escaped, so it stands in no other."""
AGENT_PROGRESS = b'"type":"agent_progress"'

KNOWN_TYPES = frozenset(
    {
        "assistant", "user", "system", "progress", "attachment", "summary", "file-history-snapshot", "queue-operation",
        "mode", "permission-mode", "last-prompt", "ai-title", "custom-title", "agent-name", "agent-setting",
        "agent-color", "pr-link", "relocated", "worktree-state", "frame-link", "started", "result", "bridge-session",
        "atis-latch", "tag", "task-summary", "content-replacement", "speculation-accept", "attribution-snapshot",
        "marble-origami-commit", "marble-origami-snapshot", "session-start",
    }
)  # fmt: skip
ENVELOPE = frozenset(
    {
        "type", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp", "cwd", "gitBranch",
        "version", "isSidechain", "userType", "requestId", "agentId", "slug", "message", "toolUseResult", "isMeta",
        "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage", "error", "apiErrorStatus", "entrypoint",
        "sourceToolAssistantUUID", "sourceToolUseID", "permissionMode", "thinkingMetadata", "todos", "imagePasteIds",
        "promptId", "promptSource", "origin", "effort", "attributionAgent", "attributionPlugin", "attributionSkill",
        "attributionMcpServer", "attributionMcpTool", "sessionKind", "interruptedByShutdown", "teamName", "agentName",
        "project", "parent_tool_use_id", "mcpMeta", "planContent", "summarizeMetadata", "queuePriority",
        "interruptedMessageId", "toolUseID", "parentToolUseID", "isReplay", "isSynthetic", "tool_use_result",
    }
)  # fmt: skip
"""Fields of ``assistant`` and ``user`` records that are known."""
_MARKUP = re.compile(r"\s*<((?:command|local-command|bash)-[a-z-]{1,40})>")
_MCP = re.compile(r"mcp__(.+?)__(.+)", re.DOTALL)
_PREFIX = ("Error: ", "Error:")


def blocks_of(content: Json) -> list[Json]:
    """Return a message's content as blocks."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content if isinstance(content, list) else []


def is_markup(content: Json) -> bool:
    """Tell whether a user's message is nothing but the markup of a command run in the terminal."""
    text = text_of(content)
    if not text.lstrip().startswith("<") or (isinstance(content, list) and any(_kind(b) != "text" for b in content)):
        return False
    place = 0
    while (tag := _MARKUP.match(text, place)) is not None:
        end = text.find(f"</{tag.group(1)}>", tag.end())
        if end < 0:
            return False
        place = end + len(tag.group(1)) + 3
    return place > 0 and not text[place:].strip()


def is_result_line(content: Json) -> bool:
    """Tell whether a user's message carries results of tools."""
    return isinstance(content, list) and any(_kind(block) == "tool_result" for block in content)


def tool_key(name: Json) -> str:
    """Return the key of a tool: its name; of one on an MCP server ``server/tool``."""
    if not isinstance(name, str) or not name:
        return "unknown"
    found = _MCP.fullmatch(name)
    return f"{found.group(1)}/{found.group(2)}" if found else name


def with_images(content: Json) -> Json:
    """Return a message's content with base64 data put apart; the same object if it has none."""
    if not isinstance(content, list):
        return content
    changed = [_with_image(block) for block in content]
    return changed if any(new is not old for new, old in zip(changed, content, strict=True)) else content


def result_value(content: Json, rich: Json, given: Json) -> Json:
    """Return the value of a tool's result.

    Args:
        content: What the model saw, which is the value.
        rich: What the tool itself returned; put beside it only where it adds something.
        given: The tool's input, which ``rich`` may repeat.
    """
    more = added(rich, text_of(content), given)
    return returned(content) if more is None else {"content": content, "toolUseResult": more}


def added(rich: Json, shown: str, given: Json) -> Json:
    """Return what a tool's own result says beyond the text that was shown; None if nothing."""
    if isinstance(rich, str):
        for prefix in _PREFIX:
            rich = rich.removeprefix(prefix)
        return None if rich.strip() in shown else rich
    if isinstance(rich, list):
        return None if all(_is_shown(item, shown, ()) for item in rich) else rich
    if not isinstance(rich, dict):
        return None
    inputs = tuple(given.values()) if isinstance(given, dict) else (given,)
    kept = {
        name: value
        for name, value in rich.items()
        if name not in ("originalFile", "persistedOutputPath")
        and not _is_shown(value, shown, inputs)
        and not _is_read(name, value)
    }
    telling = any(name != "type" and not isinstance(value, int | float) for name, value in kept.items())
    return kept if telling else None


def _is_read(name: str, value: Json) -> bool:
    """Tell whether it is the file that a Read returned: the shown text is the same with line numbers."""
    return name == "file" and isinstance(value, dict) and ("content" in value or "base64" in value)


def _is_shown(value: Json, shown: str, inputs: tuple[Json, ...]) -> bool:
    if value is None or value is False or value == "" or value == [] or value == {}:
        return True
    if isinstance(value, str):
        return value in inputs or value.strip() in shown
    if isinstance(value, list):
        return value in inputs or all(_is_shown(item, shown, inputs) for item in value)
    if isinstance(value, dict):
        return value in inputs or all(
            isinstance(v, str) and (n == "type" or _is_shown(v, shown, inputs)) for n, v in value.items()
        )
    return False


def _with_image(block: Json) -> Json:
    if not isinstance(block, dict):
        return block
    source = block.get("source")
    if isinstance(source, dict) and source.get("type") == "base64" and isinstance(source.get("data"), str):
        stored = image(str(source.get("media_type") or "application/octet-stream"), source["data"])
        return {**block, "source": {**source, "data": stored}}
    if isinstance(block.get("content"), list):
        inner = with_images(block["content"])
        return block if inner is block["content"] else {**block, "content": inner}
    return block


def _kind(block: Json) -> Any:
    return block.get("type") if isinstance(block, dict) else None
