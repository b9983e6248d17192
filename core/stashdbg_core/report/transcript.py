"""What was said: the turns of the models, and the tools between them, as plain text to read from top to bottom.

Of each model call only messages are shown that its lane has not shown yet. Text is indented, so that no recorded line
passes for one of the transcript's own, and sanitised; long text is cut and says by how much.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Final

from stashdbg_core.calls import MEASURED_CHANNELS, MODEL_CHANNELS
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.report.narrative import heading
from stashdbg_core.report.units import Conversation, is_in_flight
from stashdbg_core.sanitize import sanitize, shorten
from stashdbg_core.session import gist
from stashdbg_core.session.chat_messages import Entry, Message, read_message
from stashdbg_core.session.chat_reply import reply_of
from stashdbg_core.session.chat_request import request_of

_LONGEST: Final = 4000
_ARGUMENTS: Final = 400
_INDENT: Final = "    "


def transcript(recording: Recording, conversation: Conversation) -> str:
    """Return the transcript of a conversation; empty if nothing in it was said."""
    lines = list(_Speaker(recording, conversation).lines())
    return "\n".join([heading(conversation), "", *lines]) if lines else ""


class _Speaker:
    def __init__(self, recording: Recording, conversation: Conversation) -> None:
        self._recording = recording
        self._events = [recording.events[position] for position in conversation.positions]
        self._shown: set[tuple[str, ...]] = set()
        self._last: list[Entry] = []
        self._has_tools = any(event.channel not in MODEL_CHANNELS | MEASURED_CHANNELS for event in self._events)

    def lines(self) -> Iterator[str]:
        for event in self._events:
            if event.channel in MODEL_CHANNELS:
                yield from self._model(event)
            elif event.channel not in MEASURED_CHANNELS:
                yield from self._tool(event)

    def _model(self, event: RecordedEvent) -> Iterator[str]:
        given = self._tree(event.input_ref)
        request = request_of(given, to_model=True)
        if request is not None:
            for message in self._new([*request.lead, *request.turns]):
                yield from _said(event, f"{message.role} (failed)" if message.is_error else message.role, [message])
        elif given is not None:
            yield from _said(event, "input", [Message("input", _spelled(given), "")])
        me = f"assistant ({shorten(event.key, 60)})"
        ending = self._ending(event)
        if ending is not None:
            yield from _said(event, me, [Message("error", ending, "")])
            return
        value = self._tree(event.ref)
        reply = reply_of(value) or [Message("assistant", _spelled(value), "")]
        for role, messages in groupby(reply, attrgetter("role")):
            yield from _said(event, me if role == "assistant" else role, messages)
        self._shown.update(part for message in reply for part in _parts(message))

    def _tool(self, event: RecordedEvent) -> Iterator[str]:
        given = self._tree(event.input_ref)
        said = f" {shorten(_spelled(given), _ARGUMENTS)}" if event.input_ref is not None else ""
        yield f"[{event.seq}] {shorten(event.channel, 40)} {shorten(event.key, 80)}{said}"
        ending = self._ending(event)
        yield from _indented(ending if ending is not None else _spelled(self._tree(event.ref)), event.seq)
        yield ""

    def _ending(self, event: RecordedEvent) -> str | None:
        """Return how a call ended if it gave nothing back."""
        if is_in_flight(event):
            return "never finished: the run ended first"
        if event.outcome == THROW:
            return f"failed: {gist.error(self._tree(event.ref), _LONGEST)}"
        return None

    def _unseen(self, entries: list[Entry]) -> list[Entry]:
        """Return the messages that do not go on where those of the last call began; each call mostly repeats them."""
        start = 0
        while start < min(len(entries), len(self._last)) and _same(entries[start][1], self._last[start][1]):
            start += 1
        self._last = entries
        return entries[start:]

    def _new(self, entries: list[Entry]) -> Iterator[Message]:
        """Yield the messages of which something was not shown; those of tools only where no event shows them."""
        for pointer, item in self._unseen(entries):
            for message in read_message(item, pointer):
                unknown = set(_parts(message)) - self._shown
                self._shown |= unknown
                if unknown and not (message.role == "tool" and self._has_tools):
                    yield message

    def _tree(self, ref: str | None) -> Json:
        """Return a value, or a text that says why there is none."""
        if ref is None:
            return None
        try:
            return self._recording.blobs.tree(ref)
        except StashError as failure:
            return f"({failure.message})"


def _parts(message: Message) -> Iterator[tuple[str, ...]]:
    """Yield what a message is known by when a later call repeats it, which may leave the thoughts out."""
    if message.text:
        yield message.role, message.text
    for call in message.tool_calls:
        yield message.role, call.name, call.arguments
    if message.thinking and not message.text and not message.tool_calls:
        yield message.role, "thinking", message.thinking


def _said(event: RecordedEvent, role: str, messages: Iterable[Message]) -> Iterator[str]:
    yield f"[{event.seq}] {shorten(role, 80)}"
    for message in messages:
        if message.thinking:
            yield f"{_INDENT}(thinking)"
            yield from _indented(message.thinking, event.seq, 2 * _INDENT)
        if message.text:
            yield from _indented(message.text, event.seq)
        for call in message.tool_calls:
            yield f"{_INDENT}→ {shorten(f'{call.name} {call.arguments}'.rstrip(), _ARGUMENTS)}"
    yield ""


def _spelled(tree: Json) -> str:
    """Return a text as itself, anything else as JSON."""
    return tree if isinstance(tree, str) else stored_form(tree).decode("utf-8", "replace")


def _same(one: Json, other: Json) -> bool:
    try:
        return bool(one == other)
    except RecursionError:  # deeper than Python compares
        return False


def _indented(text: str, seq: int, indent: str = _INDENT) -> Iterator[str]:
    left = len(text) - _LONGEST
    for line in sanitize(text[:_LONGEST]).split("\n"):
        yield f"{indent}{line}".rstrip()
    if left > 0:
        yield f"{indent}… {left:,} more characters in event {seq} of the recording"
