"""Chats as lists of messages: one list, or rows of ``{"messages": […]}`` such as fine-tuning files have, a run each.

A list of messages is no log: it tells what was said and which tools were called, and neither when nor by which model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder
from typing import TYPE_CHECKING, Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.format import Format, RunSummary
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.labels import label_of
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.model_calls import calls_of, results_of
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript import Transcript, text_of
from stashdbg_core.parse import parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.words import counted

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

MAX_ROWS = 100_000
"""Rows that are listed as runs."""
_MESSAGES = re.compile(rb'"(?:messages|conversations)"\s*:\s*\[\s*\{')
_ROLES = {"human": "user", "gpt": "assistant", "chatgpt": "assistant", "model": "assistant", "function": "tool"}
_SAYS = ("content", "tool_calls", "function_call", "parts", "value", "text", "refusal", "audio")


def detect(head: Head) -> bool:
    """Tell whether a file is a chat, or rows of them."""
    if head.first is not None:
        return _is_message(head.first) or _messages_in(head.first) is not None
    if head.lines and _messages_in(head.lines[0]) is not None:
        return True
    if head.top is None or not {"messages", "conversations"} & head.top.keys():
        return False
    found = _MESSAGES.search(head.data)
    if found is None:
        return False
    try:
        first, _ = JSONDecoder(strict=False).raw_decode(
            head.data.decode("utf-8", "replace"), _characters(head.data, found)
        )
    except (ValueError, RecursionError):  # longer than what detection looks at
        return b'"role"' in head.data
    return isinstance(first, dict) and _is_message(first)


def _characters(data: bytes, found: re.Match[bytes]) -> int:
    """Return where the first message begins, in characters."""
    return len(data[: found.end() - 1].decode("utf-8", "replace"))


def runs(source: ForeignSource) -> Sequence[RunSummary]:
    """Return the chats of a file."""
    found = []
    for number, messages in enumerate(_chats(source), 1):
        asked = next((message for message in messages if message.get("role") == "user"), messages[0])
        said = label_of(text_of(asked.get("content"))) or f"chat {number}"
        found.append(RunSummary(said, detail=counted(len(messages), "message")))
        if len(found) == MAX_ROWS:
            break
    return found or (RunSummary(source.name),)


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read one chat."""
    chat = next((messages for number, messages in enumerate(_chats(source)) if number == run), None)
    if chat is None:
        raise invalid_recording(f"{shorten(source.name, 200)} holds no chat of that number")
    transcript = Transcript(sink)
    lane = transcript.lane()
    for number, message in enumerate(chat):
        message = with_media(message)
        role = message.get("role")
        results = list(results_of(message))
        for result in results:
            value = {"error": result.value} if result.failed else result.value
            transcript.result(transcript.asked(lane, result.id, None), value, failed=result.failed, at=None)
        if role == "assistant":
            answer = lane.answer(str(number), _text(message.get("model")), None)
            answer.value = message
            answer.messages = [message]
            for call in calls_of(message):
                transcript.call(lane, call.id, call.name, call.given, None)
        elif role == "user" and len(results) < _parts(message):
            lane.prompt(message, text_of(message.get("content")), None)
        else:
            lane.say(message)
    transcript.close()


def _chats(source: ForeignSource) -> Iterator[list[dict[str, Any]]]:
    """Yield the chats of a file, their messages in the shape of OpenAI's."""
    head = source.head(4096).lstrip()
    tree: Json = None
    if head[:1] == b"[" or (head[:1] == b"{" and not _is_row(source)):
        tree = source.json()
        listed = tree if isinstance(tree, list) else [tree]
        if listed and isinstance(listed[0], dict) and _is_message(listed[0]):
            yield [_usual(item) for item in listed if isinstance(item, dict)]
            return
        rows: Iterator[Json] = iter(listed)
    else:
        rows = _rows(source)
    for row in rows:
        messages = _messages_in(row) if isinstance(row, dict) else None
        if messages:
            yield [_usual(item) for item in messages if isinstance(item, dict)]


def _rows(source: ForeignSource) -> Iterator[Json]:
    for line in source.lines():
        try:
            yield parse_json(line.raw)
        except StashError:
            continue


def _is_row(source: ForeignSource) -> bool:
    first = next(source.lines(), None)
    try:
        return first is not None and isinstance(parse_json(first.raw), dict)
    except StashError:
        return False


def _messages_in(row: dict[str, Any]) -> list[Any] | None:
    for name in ("messages", "conversations", "conversation"):
        listed = row.get(name)
        if isinstance(listed, list) and listed and isinstance(listed[0], dict) and _is_message(listed[0]):
            return listed
    return None


def _is_message(item: dict[str, Any]) -> bool:
    role = item.get("role", item.get("from"))
    return isinstance(role, str) and any(name in item for name in _SAYS)


def _usual(item: dict[str, Any]) -> dict[str, Any]:
    """Return a message with the role and content that chats usually have."""
    role = item.get("role", item.get("from"))
    usual = {"role": _ROLES.get(role, role) if isinstance(role, str) else role}
    if "from" in item and "value" in item:
        usual["content"] = item["value"]
    return {**usual, **{name: value for name, value in item.items() if name not in ("role", "from", "value")}}


def _parts(message: dict[str, Any]) -> int:
    content = message.get("content")
    return len(content) if isinstance(content, list) else 1


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None


FORMAT = Format(
    "chat-messages",
    "chat messages",
    detect,
    runs,
    read,
    exact=("what was said, the tools called and their results",),
    inferred=("where one model call ends and the next begins: at each message of the assistant",),
    missing=("times, token counts, the model, in most files", "whether a tool failed"),
)
