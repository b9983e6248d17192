"""A model call read as a chat: the messages that went in, the reply, and each tool call with its result beneath it.

Data only; the screen lays it out. Texts are recorded and unsanitised. What is not a chat gives None.
"""

from __future__ import annotations

from dataclasses import replace

from stashdbg_core.calls import MODEL_CHANNELS
from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.session.chat_messages import Message, ToolCall
from stashdbg_core.session.chat_reply import reply_of
from stashdbg_core.session.chat_request import messages_of
from stashdbg_core.session.gist import error

__all__ = ["Conversation", "Message", "ToolCall", "conversation_of"]

_LARGEST = 16_000_000
"""Bytes of an input beyond which it is not read as a chat."""


class Conversation:
    """A chat in order.

    Args:
        messages: Tool results still among them; they move beneath their calls.
        reply: How many of the last messages are the reply.
        omitted: Messages left out before the first.
    """

    def __init__(self, messages: list[Message], reply: int, omitted: int) -> None:
        results = {message.call_id: message for message in messages if message.call_id is not None}
        asked = {call.id for message in messages for call in message.tool_calls if call.id}
        placed: set[str] = set()
        self.messages: list[Message] = []
        """In order; a tool result stands in its call, or here if nobody asked for it."""
        for message in messages:
            if message.call_id is not None and message.call_id in asked:
                continue
            calls = []
            for call in message.tool_calls:
                result = results.get(call.id) if call.id and call.id not in placed else None
                if result is not None and call.id:
                    placed.add(call.id)
                calls.append(replace(call, result=result))
            self.messages.append(replace(message, tool_calls=tuple(calls)))
        self.replies = reply
        self.omitted = omitted


def conversation_of(recording: Recording, event: RecordedEvent) -> Conversation | None:
    """Return a call as a chat; None where its input holds no messages, or cannot be read.

    Raises:
        StashError: ``ERR_NOT_FOUND``: the file was changed or cannot be read any more.
    """
    if event.input_ref is None or len(recording.blobs.payload(event.input_ref).raw) > _LARGEST:
        return None
    try:
        found = messages_of(recording.blobs.tree(event.input_ref), to_model=event.channel in MODEL_CHANNELS)
    except StashError:
        return None
    if found is None:
        return None
    messages, omitted = found
    reply = _reply(recording, event)
    return Conversation([*messages, *reply], len(reply), omitted)


def _reply(recording: Recording, event: RecordedEvent) -> list[Message]:
    if len(recording.blobs.payload(event.ref).raw) > _LARGEST:
        return []
    try:
        tree = recording.blobs.tree(event.ref)
    except StashError:
        return []
    if event.outcome == THROW:
        return [Message("error", error(tree, 2000), "")]
    return reply_of(tree)
