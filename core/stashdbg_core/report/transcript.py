"""What was said: the turns of the models, and the tools between them, as plain text to read from top to bottom.

Of each model call only messages are shown that its lane has not shown yet. Text is indented, so that no recorded line
passes for one of the transcript's own, and sanitised; long text is cut and says by how much.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stashdbg_core.calls import MEASURED_CHANNELS
from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.model import THROW, RecordedEvent, Recording
from stashdbg_core.report.messages import MODEL_CHANNELS, Message, answer, message_items, read_message, spelled
from stashdbg_core.report.narrative import heading
from stashdbg_core.report.units import Conversation, is_in_flight
from stashdbg_core.sanitize import sanitize, shorten
from stashdbg_core.session import gist

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
        self._shown: set[tuple[str, str, tuple[str, ...]]] = set()
        self._last: list[Json] = []
        self._has_tools = any(event.channel not in MODEL_CHANNELS | MEASURED_CHANNELS for event in self._events)

    def lines(self) -> Iterator[str]:
        for event in self._events:
            if event.channel in MODEL_CHANNELS:
                yield from self._model(event)
            elif event.channel not in MEASURED_CHANNELS:
                yield from self._tool(event)

    def _model(self, event: RecordedEvent) -> Iterator[str]:
        given = self._tree(event.input_ref)
        items = message_items(given)
        for item in self._unseen(items):
            message = read_message(item)
            if message.role == "tool" and self._has_tools:
                continue
            if self._is_new(message):
                yield from self._said(event, message.role, message)
        if not items and given is not None:
            yield from self._said(event, "input", Message("input", spelled(given)))
        role = f"assistant ({shorten(event.key, 60)})"
        ending = self._ending(event)
        if ending is not None:
            yield from self._said(event, role, Message(role, ending))
            return
        value = self._tree(event.ref)
        reply = answer(value) or Message("assistant", spelled(value))
        self._is_new(reply)
        yield from self._said(event, role, reply)

    def _tool(self, event: RecordedEvent) -> Iterator[str]:
        given = self._tree(event.input_ref)
        said = f" {shorten(spelled(given), _ARGUMENTS)}" if event.input_ref is not None else ""
        yield f"[{event.seq}] {shorten(event.channel, 40)} {shorten(event.key, 80)}{said}"
        ending = self._ending(event)
        yield from _indented(ending if ending is not None else spelled(self._tree(event.ref)), event.seq)
        yield ""

    def _ending(self, event: RecordedEvent) -> str | None:
        """Return how a call ended if it gave nothing back."""
        if is_in_flight(event):
            return "never finished: the run ended first"
        if event.outcome == THROW:
            return f"failed: {gist.error(self._tree(event.ref), _LONGEST)}"
        return None

    def _unseen(self, items: list[Json]) -> list[Json]:
        """Return the messages that do not go on where those of the last call began; each call mostly repeats them."""
        start = 0
        while start < min(len(items), len(self._last)) and _same(items[start], self._last[start]):
            start += 1
        self._last = items
        return items[start:]

    def _is_new(self, message: Message) -> bool:
        known = (message.role, message.text, message.calls)
        if known in self._shown:
            return False
        self._shown.add(known)
        return True

    def _said(self, event: RecordedEvent, role: str, message: Message) -> Iterator[str]:
        yield f"[{event.seq}] {shorten(role, 80)}"
        if message.text:
            yield from _indented(message.text, event.seq)
        for call in message.calls:
            yield f"{_INDENT}→ {shorten(call, _ARGUMENTS)}"
        yield ""

    def _tree(self, ref: str | None) -> Json:
        """Return a value, or a text that says why there is none."""
        if ref is None:
            return None
        try:
            return self._recording.blobs.tree(ref)
        except StashError as failure:
            return f"({failure.message})"


def _same(one: Json, other: Json) -> bool:
    try:
        return bool(one == other)
    except RecursionError:  # deeper than Python compares
        return False


def _indented(text: str, seq: int) -> Iterator[str]:
    left = len(text) - _LONGEST
    for line in sanitize(text[:_LONGEST]).split("\n"):
        yield f"{_INDENT}{line}".rstrip()
    if left > 0:
        yield f"{_INDENT}… {left:,} more characters in event {seq} of the recording"
