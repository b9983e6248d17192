"""What happened, a line a call, for people who will not open the recording."""

from __future__ import annotations

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.report.units import Conversation
from stashdbg_core.sanitize import shorten
from stashdbg_core.session.summary import outcome_word, summary
from stashdbg_core.session.words import counted, duration_words, offset_words

_SUMMARY = 160
_NAME = 40


def narrative(recording: Recording, conversation: Conversation) -> str:
    """Return the narrative of a conversation, safe to print: when, how long, which call, what came of it."""
    return "\n".join(_lines(recording, conversation))


def heading(conversation: Conversation) -> str:
    """Return the line above a conversation."""
    return f"── {conversation.unit_id} · {shorten(conversation.label, 160)} ──"


def _lines(recording: Recording, conversation: Conversation) -> list[str]:
    events = [recording.events[position] for position in conversation.positions]
    began = min((event.at for event in events if event.at is not None), default=None)
    wide = max((len(str(event.seq)) for event in events), default=1)
    lines = [heading(conversation), ""]
    lines += [_line(recording, event, began, wide) for event in events]
    if conversation.in_flight:
        lines += ["", f"{counted(conversation.in_flight, 'call')} never finished: the run ended first."]
    return [*lines, ""]


def _line(recording: Recording, event: RecordedEvent, began: float | None, wide: int) -> str:
    when = offset_words(event.at - began) if event.at is not None and began is not None else ""
    took = duration_words(event.ms) if event.ms is not None else ""
    called = f"{shorten(event.channel, _NAME)} {shorten(event.key, _NAME)}"
    lane = f" [{shorten(event.thread, _NAME)}]" if event.thread is not None else ""
    said = shorten(summary(recording, event, _SUMMARY), _SUMMARY)
    head = f"{event.seq:>{wide}}  {when:<10}  {took:>9}  {called}{lane}  {shorten(outcome_word(event), 24)}"
    return f"{head}  {said}".rstrip()
