"""What the items of a Codex rollout say: pure functions over parsed payloads."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.images import data_url, image
from stashdbg_core.parse import parse_json

MODEL_MADE = frozenset(
    {
        "reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call",
        "image_generation_call", "computer_call", "mcp_call",
    }
)  # fmt: skip
"""Types of items that a model writes, beside its messages."""
_WRAPPERS = (
    "<environment_context>", "<user_instructions>", "<permissions", "<turn_aborted>", "<subagent_notification>",
    "<user_shell_command>", "<skill>", "# AGENTS.md instructions",
)  # fmt: skip
_EXIT = re.compile(
    r"\A(?:Exit code: (-?\d{1,10})$|(?:[^\n]{0,200}\n){0,6}?Process exited with code (-?\d{1,10})$)", re.MULTILINE
)
_ARGUMENTS = 16 << 20


@dataclass(slots=True)
class CallFacts:
    """What the log beside the items says of a tool call."""

    exit_code: int | None = None
    failed: bool = False
    ms: float | None = None
    key: str | None = None
    """Of a call to an MCP server."""
    error: Json = None

    def take(self, told: dict[str, Any]) -> None:
        """Take what an ``item_completed`` item or an ``…_end`` event says."""
        code = told.get("exit_code")
        if isinstance(code, int) and not isinstance(code, bool):
            self.exit_code = code
        if told.get("status") == "failed":
            self.failed = True
        started, ended = told.get("started_at_ms"), told.get("completed_at_ms")
        if isinstance(started, int) and isinstance(ended, int) and ended >= started > 0:
            self.ms = float(ended - started)
        duration = told.get("duration")
        if self.ms is None and isinstance(duration, dict):
            seconds, nanos = duration.get("secs"), duration.get("nanos")
            if isinstance(seconds, int) and isinstance(nanos, int) and seconds + nanos > 0:
                self.ms = seconds * 1000 + nanos / 1e6
        named = told.get("invocation")
        invocation: dict[str, Any] = named if isinstance(named, dict) else told
        if isinstance(invocation.get("server"), str) and isinstance(invocation.get("tool"), str):
            self.key = f"{invocation['server']}/{invocation['tool']}"
        result = told.get("result")
        if isinstance(result, dict) and (result.get("Err") is not None or _is_error(result.get("Ok", result))):
            self.failed = True
            self.error = result.get("Err", result.get("Ok", result))


def is_model_made(item: dict[str, Any]) -> bool:
    """Tell whether a model wrote an item."""
    kind = item.get("type")
    if kind == "message":
        return item.get("role") == "assistant"
    return kind in MODEL_MADE


def is_output(item: dict[str, Any]) -> bool:
    """Tell whether an item is what came of a call."""
    kind = item.get("type")
    return isinstance(kind, str) and kind.endswith("_output")


def is_wrapper(text: str) -> bool:
    """Tell whether a user's message was written by Codex itself."""
    return text.lstrip().startswith(_WRAPPERS)


def message_text(item: dict[str, Any]) -> str:
    """Return the text of a message."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts)


def own_text(item: dict[str, Any]) -> str:
    """Return what a user wrote, without the parts that Codex put before it."""
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    plain = next((text for text in texts if not text.lstrip().startswith("<") and not is_wrapper(text)), None)
    return plain or next((text for text in texts if not is_wrapper(text)), message_text(item))


def call_key(item: dict[str, Any]) -> str:
    """Return the key of a call: the tool's name; of one on an MCP server ``server/tool``."""
    name, space = item.get("name"), item.get("namespace")
    if not isinstance(name, str) or not name:
        return str(item.get("type", "unknown")).removesuffix("_call")
    if isinstance(space, str) and space.startswith("mcp__"):
        return f"{space.removeprefix('mcp__').strip('_')}/{name}"
    if name.startswith("mcp__") and "__" in name[5:]:
        server, tool = name[5:].split("__", 1)
        return f"{server}/{tool}"
    return name


def call_input(item: dict[str, Any]) -> Json:
    """Return the arguments of a call, parsed where they are JSON in a text."""
    given = next((item[name] for name in ("arguments", "input", "action", "revised_prompt") if name in item), None)
    if item.get("type") == "custom_tool_call" or not isinstance(given, str):
        return given
    return parsed(given)


def parsed(text: str) -> Json:
    """Return the object or list that a text is in JSON, else the text."""
    if text[:1] not in ("{", "[") or len(text) > _ARGUMENTS:
        return text
    try:
        return parse_json(text.encode("utf-8", "surrogatepass"))
    except StashError:
        return text


def exit_code(output: Json) -> int | None:
    """Return the exit code that the output of a call tells, in any of the ways in which Codex wrote it."""
    if isinstance(output, dict):
        facts = output.get("metadata")
        code = facts.get("exit_code") if isinstance(facts, dict) else None
        return code if isinstance(code, int) and not isinstance(code, bool) else None
    found = _EXIT.match(output) if isinstance(output, str) else None
    return int(found.group(1) or found.group(2)) if found is not None else None


def usage_of(told: Json) -> Json:
    """Return token counts with the cached ones where other providers' answers have them."""
    if not isinstance(told, dict):
        return None
    cached = told.get("cached_input_tokens")
    return {**told, "input_tokens_details": {"cached_tokens": cached}} if isinstance(cached, int) else told


def with_images(item: Json) -> Json:
    """Return an item with ``data:`` URLs and generated images put apart; the same object if it has none."""
    if not isinstance(item, dict):
        return item
    if (
        item.get("type") == "image_generation_call"
        and isinstance(item.get("result"), str)
        and len(item["result"]) > 200
    ):
        return {**item, "result": image("image/png", item["result"])}
    for name in ("content", "output"):
        parts = item.get(name)
        if isinstance(parts, list) and any(isinstance(part, dict) and "image_url" in part for part in parts):
            return {**item, name: [_with_image(part) for part in parts]}
    return item


def _with_image(part: Json) -> Json:
    url = part.get("image_url") if isinstance(part, dict) else None
    stored = data_url(url) if isinstance(url, str) else None
    return {**part, "image_url": stored} if stored is not None and isinstance(part, dict) else part


def _is_error(result: Json) -> bool:
    return isinstance(result, dict) and (result.get("isError") is True or result.get("is_error") is True)
