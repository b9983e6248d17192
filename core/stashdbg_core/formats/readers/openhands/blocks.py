"""Content of OpenHands' messages: texts, thoughts, pictures, and the arguments of tool calls."""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.formats.transcript import thrown
from stashdbg_core.parse import parse_json


def thinking(event: dict[str, Any]) -> list[Json]:
    """Return the thoughts that came with an answer: those of the provider's blocks, else their text."""
    blocks: list[Json] = [
        block for block in objects_of(event.get("thinking_blocks")) if block.get("thinking") or block.get("data")
    ]
    if blocks:
        return blocks
    item = event.get("responses_reasoning_item")
    texts = [event["reasoning_content"]] if isinstance(event.get("reasoning_content"), str) else []
    if not texts and isinstance(item, dict):
        texts = [text for part in ("summary", "content") for text in item.get(part) or () if isinstance(text, str)]
    return [{"type": "thinking", "thinking": text} for text in texts if text]


def content_of(parts: Json) -> list[Any]:
    """Return content blocks; a text is one."""
    if isinstance(parts, str):
        return [{"type": "text", "text": parts}]
    return [block for part in objects_of(parts) for block in _blocks(part)]


def _blocks(part: dict[str, Any]) -> list[Any]:
    if part.get("type") == "image" and isinstance(part.get("image_urls"), list):
        return [{"type": "image_url", "image_url": {"url": with_media(url)}} for url in part["image_urls"]]
    return [block_of(part)]


def block_of(part: Json) -> Json:
    """Return one content block, without what only steers OpenHands' cache."""
    if not isinstance(part, dict):
        return {"type": "text", "text": part}
    return {name: value for name, value in part.items() if name != "cache_prompt"}


def failure_of(observation: dict[str, Any]) -> dict[str, Json]:
    """Return what a failed tool threw: the text that the model saw, and what the tool told beside it."""
    content = observation.get("content", observation.get("output"))
    rest = {name: value for name, value in observation.items() if name not in ("content", "output", "is_error")}
    error = thrown(content)
    return {**error, **rest} if isinstance(error, dict) else rest


def arguments_of(text: Json, action: Json) -> Json:
    """Return the arguments of a call as the model wrote them, else the action that was made of them."""
    if isinstance(text, str) and text.lstrip()[:1] == "{":
        try:
            return parse_json(text.encode("utf-8", "surrogatepass"))
        except StashError:
            return text
    return text if text not in (None, "") else action
