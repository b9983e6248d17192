"""An event read in other ways than as JSON: as a chat, as a change, as a place in the program.

Lines of tokens, recorded text unsanitised; a place's lines are the user's own file. Every reading ends after
``MOST_LINES`` lines and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.diff.structure import Nothing
from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.change import CallChange, FieldChange, PartChange, change_steps
from stashdbg_core.session.chat_messages import Message, ToolCall
from stashdbg_core.session.conversation import conversation_of
from stashdbg_core.session.gist import brief
from stashdbg_core.session.lines import Line, TokenKind
from stashdbg_core.session.pointers import scalar_text
from stashdbg_core.session.source_lines import source_lines
from stashdbg_core.session.tasks import Task
from stashdbg_core.session.usage import usage_of_event
from stashdbg_core.session.words import counted

MOST_LINES = 20_000
_PIECE = 2000
_SIGNS: dict[str, tuple[str, TokenKind]] = {
    "added": ("+ ", "added"),
    "removed": ("- ", "removed"),
    "changed": ("~ ", "strong"),
}


def read_part(
    recording: Recording,
    event: RecordedEvent,
    position: int,
    part: Literal["change", "chat", "source"],
    folders: Sequence[Path] = (),
) -> tuple[list[Line], str]:
    """Return the lines of a reading and a word about it; a sentence where there is nothing to read."""
    try:
        if part == "chat":
            lines, words = _chat(recording, event)
        elif part == "change":
            change = Task(change_steps(recording, position)).run()
            lines, words = list(islice(_change(recording, change), MOST_LINES)), _change_words(recording, change)
        else:
            lines, words = _source(event, folders)
    except StashError as failure:
        hint = f"; {failure.hint}" if failure.hint else ""
        return _said(f"{failure.message}{hint}", "problem"), ""
    if len(lines) >= MOST_LINES:
        lines.append(Line(0, [(f"… cut after {MOST_LINES:,} lines; the value tab shows all", "note")]))
    return lines, words


def _said(text: str, kind: TokenKind = "note") -> list[Line]:
    return [Line(0, [(text, kind)])]


def _chat(recording: Recording, event: RecordedEvent) -> tuple[list[Line], str]:
    chat = conversation_of(recording, event)
    if chat is None:
        return _said("not a model call; 1 shows what it returned, 2 what it was given"), "none"
    usage = usage_of_event(recording, event)
    words = counted(len(chat.messages), "message")
    if usage is not None:
        cached = f", {usage.cached:,} cached" if usage.cached else ""
        words += f" · {usage.input:,} tokens in{cached}, {usage.output:,} out"
    return list(islice(_chat_lines(chat.messages, chat.replies, chat.omitted), MOST_LINES)), words


def _chat_lines(messages: Sequence[Message], replies: int, omitted: int) -> Iterator[Line]:
    if omitted:
        yield Line(0, [(f"… {omitted:,} earlier messages; the input tab shows all", "note")])
    for place, message in enumerate(messages):
        if place:
            yield Line(0, [("", "text")])
        kind: TokenKind = "problem" if message.role == "error" or message.is_error else "role"
        head: list[tuple[str, TokenKind]] = [(message.role, kind)]
        if place == len(messages) - replies and replies:
            head.append(("  the reply", "note"))
        yield Line(0, head)
        if message.thinking:
            yield Line(1, [("thinking", "note")])
            yield from _text(message.thinking, 2, "note")
        yield from _text(message.text, 1)
        for call in message.tool_calls:
            yield from _call(call)


def _call(call: ToolCall) -> Iterator[Line]:
    yield Line(1, [("→ ", "role"), (call.name, "key"), (" ", "text"), (call.arguments[:_PIECE], "text")])
    if call.result is None:
        yield Line(2, [("no result in this chat", "note")])
        return
    lines = list(islice(_text(call.result.text, 2, "problem" if call.result.is_error else "string"), MOST_LINES))
    yield from lines or [Line(2, [("an empty result", "note")])]


def _text(text: str, depth: int, kind: TokenKind = "text") -> Iterator[Line]:
    for line in text.splitlines():
        for start in range(0, max(len(line), 1), _PIECE):
            yield Line(depth, [(line[start : start + _PIECE], kind)])


def _change_words(recording: Recording, change: CallChange) -> str:
    if change.previous is None:
        return "first call"
    return f"since event {recording.events[change.previous].seq}"


def _change(recording: Recording, change: CallChange) -> Iterator[Line]:
    if change.previous is None:
        yield Line(0, [("the first call of this name from this place: nothing to compare with", "note")])
        return
    before = recording.events[change.previous]
    yield Line(0, [(f"compared with event {before.seq}, the last call of this name from this place", "note")])
    if change.outcome is not None:
        yield Line(
            0, [("outcome  ", "role"), (change.outcome[0], "removed"), (" → ", "note"), (change.outcome[1], "added")]
        )
    yield from _part("read", "input", change.input)
    yield from _part("wrote", "value", change.value)


def _part(verb: str, name: str, part: PartChange) -> Iterator[Line]:
    count = f"{len(part.changes)}{'+' if part.more else ''} change{'' if len(part.changes) == 1 else 's'}"
    yield Line(0, [("", "text")])
    yield Line(0, [(f"{verb}  ", "role"), (f"{name}: {count if part.changes else 'as before'}", "note")])
    if part.problem is not None:
        yield Line(1, [(part.problem, "problem")])
    for change in part.changes:
        yield from _field(change)
    if part.more:
        yield Line(1, [("… and more", "note")])


def _field(change: FieldChange) -> Iterator[Line]:
    mark, kind = _SIGNS[change.kind]
    yield Line(1, [(mark, kind), (change.pointer or "the whole of it", "key")])
    for side, look in ((change.before, "removed"), (change.after, "added")):
        if not isinstance(side, Nothing):
            sign = "- " if look == "removed" else "+ "
            kept: TokenKind = "removed" if look == "removed" else "added"
            for place, line in enumerate(_sides(side)):
                yield Line(2, [(sign if not place else "  ", kept), (line, kept)])


def _sides(side: Json) -> list[str]:
    """Return a side of a change as a few lines."""
    text = scalar_text(side)
    if text is not None:
        lines = text.splitlines() or ['""']
        return [line[:_PIECE] for line in lines[:12]] + ([f"… {len(lines) - 12} more lines"] if len(lines) > 12 else [])
    whole = stored_form(side)
    return [whole.decode("utf-8", "replace")] if len(whole) <= _PIECE else [brief(side, 200)]


def _source(event: RecordedEvent, folders: Sequence[Path]) -> tuple[list[Line], str]:
    if event.site is None:
        return _said("the recording does not say where this call was made"), "none"
    if not folders:
        text = f"called at {event.site}; :source FOLDER says where the program lies, and its lines are shown here"
        return _said(text), ""
    found = source_lines(event.site, folders)
    width = len(str(found.first + len(found.lines)))
    lines = []
    for number, text in enumerate(found.lines, found.first):
        here = number == found.line
        kind: TokenKind = "strong" if here else "text"
        mark: TokenKind = "role" if here else "note"
        lines.append(Line(0, [(f"{'▶' if here else ' '} {number:>{width}}  ", mark), (text.expandtabs(4), kind)]))
    if found.line >= found.first + len(found.lines):
        lines += _said(f"line {found.line} lies beyond the end: the file was changed since", "problem")
    return lines, f"{found.path}:{found.line}"
