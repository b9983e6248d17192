"""What the inspector shows of an event: value, input or fields, each as lines laid out on demand.

Reading a large value may take a moment; ``is_quick`` says beforehand whether it may be done between two keys.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError, not_found
from stashdbg_core.model import Payload, RecordedEvent, Recording
from stashdbg_core.session.columns import STATE, columns_of
from stashdbg_core.session.fields import event_fields, payload_words
from stashdbg_core.session.lines import FixedLines, Line, LineSource, TokenKind
from stashdbg_core.session.payload_lines import PayloadLines
from stashdbg_core.session.raw_lines import RawLines
from stashdbg_core.session.words import size_words
from stashdbg_core.store.sharing_tags import may_share

Part: TypeAlias = Literal["value", "input", "change", "chat", "state", "source", "fields", "raw"]
"""Tabs of the inspector, in their order."""

HEAD_BYTES = 4_000_000
"""Stored bytes of a value that are laid out; what lies beyond is named and can be written to a file."""
QUICK_BYTES = 256_000
STATE_REACH = 200_000
"""Events looked back through for the state."""
_STATE_KEYS = 32
_RESPONSE = re.compile(rb'\s*\{\s*"status"\s*:\s*\d{3}\s*,\s*"headers"\s*:')
"""How a recorded HTTP response begins."""

_FIELD_KINDS: dict[str, TokenKind] = {"text": "text", "number": "number", "ref": "note", "problem": "problem"}


@dataclass(frozen=True, slots=True)
class Inspection:
    """One part of one event, ready to be drawn."""

    part: Part
    lines: LineSource
    words: str
    """Size and state for the header: ``1.2 kB``, ``missing``."""
    trouble: bool = False
    """Whether the words tell of damage."""
    closed: tuple[str, ...] = ()
    """JSON pointers of what is closed until someone opens it: the headers of a response stand before what it says."""


def inspect_part(
    recording: Recording,
    event: RecordedEvent,
    part: Part,
    *,
    position: int | None = None,
    raw_of: Part = "value",
    folders: Sequence[Path] = (),
) -> Inspection:
    """Return a part of an event as lines; never raises for what the file holds.

    Args:
        recording: The run.
        event: The event.
        part: What to show of it.
        position: Its index, where it is known.
        raw_of: Which of value and input ``raw`` shows.
        folders: Where the user said that sources may be read.
    """
    if position is None:
        position = recording.events.position_of(event.seq) or 0
    if part == "fields":
        rows = event_fields(recording, event)
        width = min(max(len(row.name) for row in rows), 24)
        lines = [Line(0, [(row.name.ljust(width + 2), "key"), (row.text, _FIELD_KINDS[row.kind])]) for row in rows]
        return Inspection(part, FixedLines(lines), "")
    if part == "raw":
        return _raw(recording, event, raw_of)
    if part == "state":
        return _state(recording, position)
    if part in ("change", "chat", "source"):
        from stashdbg_core.session.readings import read_part

        read, words = read_part(recording, event, position, part, folders)
        return Inspection(part, FixedLines(read), words)
    ref = ref_of(event, part)
    if ref is None:
        return Inspection(part, _sentence("no input was recorded for this call", "note"), "none")
    payload = recording.blobs.payload(ref)
    if payload.state == "missing":
        said = payload.problem or "nothing is stored under its reference"
        return Inspection(part, _sentence(f"{part} missing: {said}", "problem"), "missing", True)
    source, size = _value_lines(recording, payload)
    words = payload_words(payload)
    if size != len(payload.raw):
        words = f"{size_words(size)}, of which {words} are its own"
    closed = ("/headers",) if _RESPONSE.match(payload.raw) else ()
    return Inspection(part, source, words, payload.state != "ok", closed)


def is_quick(recording: Recording, event: RecordedEvent, part: Part) -> bool:
    """Tell whether a part can be read and laid out without holding a screen up."""
    ref = ref_of(event, part)
    if part in ("change", "state", "source"):
        return False
    if part == "chat":
        return _is_small(recording, event.ref) and _is_small(recording, event.input_ref)
    return part == "fields" or _is_small(recording, ref)


def _is_small(recording: Recording, ref: str | None) -> bool:
    if ref is None:
        return True
    size_of: Callable[[str], int | None] | None = getattr(recording.blobs, "size_of", None)
    if size_of is not None:
        size = size_of(ref)
        if size is None or size > QUICK_BYTES:
            return size is None
    raw = recording.blobs.payload(ref).raw
    return len(raw) <= QUICK_BYTES and not may_share(raw)


def ref_of(event: RecordedEvent, part: Part) -> str | None:
    """Return the reference of an event's value or input; None when there is none."""
    return {"value": event.ref, "input": event.input_ref, "raw": event.ref}.get(part)


def whole_value(recording: Recording, ref: str) -> bytes:
    """Return a whole value in stored form, shared pieces put in; a damaged one as it stands.

    Raises:
        StashError: It, or a piece of it, is missing.
    """
    payload = recording.blobs.payload(ref)
    if payload.state == "missing":
        raise not_found(payload.problem or "nothing is stored under this reference", ref=ref)
    if payload.state == "ok" and may_share(payload.raw):
        return stored_form(recording.blobs.tree(ref))
    return payload.raw


def _raw(recording: Recording, event: RecordedEvent, part: Part) -> Inspection:
    ref = ref_of(event, part)
    if ref is None:
        return Inspection("raw", _sentence("no input was recorded for this call", "note"), f"{part}: none")
    payload = recording.blobs.payload(ref)
    if payload.state == "missing":
        said = payload.problem or "nothing is stored under its reference"
        return Inspection("raw", _sentence(f"{part} missing: {said}", "problem"), "missing", True)
    head = payload.raw[:HEAD_BYTES].decode("utf-8", "replace" if len(payload.raw) <= HEAD_BYTES else "ignore")
    lines = RawLines(head, omitted=max(len(payload.raw) - HEAD_BYTES, 0))
    return Inspection("raw", lines, f"{part} as stored: {payload_words(payload)}", payload.state != "ok")


def _state(recording: Recording, position: int) -> Inspection:
    """Return what the state channel last said before or at a position, all its keys in one object."""
    found = state_refs(recording, position)
    if not found:
        said = "this run recorded no state up to here; stash.state(name, value) records it"
        return Inspection("state", _sentence(said, "note"), "none")
    texts = []
    for key, event in found.items():
        try:
            texts.append(stored_form(key) + b":" + whole_value(recording, event.ref))
        except StashError as failure:
            texts.append(stored_form(key) + b":" + stored_form(f"missing: {failure.message}"))
    raw = b"{" + b",".join(texts) + b"}"
    shown = PayloadLines(raw[:HEAD_BYTES].decode("utf-8", "replace"), omitted=max(len(raw) - HEAD_BYTES, 0))
    seqs = ", ".join(str(event.seq) for event in list(found.values())[:4])
    return Inspection("state", shown, f"from event{'s' if len(found) > 1 else ''} {seqs}")


def state_refs(recording: Recording, position: int) -> dict[str, RecordedEvent]:
    """Return the latest state event of each key at or before a position, of those within reach."""
    columns = columns_of(recording.events)
    found: dict[str, RecordedEvent] = {}
    for index in range(position, max(position - STATE_REACH, -1), -1):
        if columns.channel_at(index) == STATE and (key := columns.key_at(index)) not in found:
            found[key] = recording.events[index]
            if len(found) >= _STATE_KEYS:
                break
    return dict(sorted(found.items()))


def _value_lines(recording: Recording, payload: Payload) -> tuple[LineSource, int]:
    """Return a value's lines, and its size with its shared pieces put in."""
    raw, lines = payload.raw, []
    if payload.state == "damaged":
        lines.append(Line(0, [(f"damaged: {payload.problem or 'it does not match its reference'}", "problem")]))
    elif may_share(raw):
        try:
            raw = stored_form(recording.blobs.tree(payload.ref))
        except StashError as failure:
            lines.append(Line(0, [(f"shown with its shared pieces by reference: {failure.message}", "problem")]))
    head = raw[:HEAD_BYTES].decode("utf-8", "replace" if len(raw) <= HEAD_BYTES else "ignore")
    shown = PayloadLines(head, omitted=max(len(raw) - HEAD_BYTES, 0))
    return (Headed(lines, shown) if lines else shown), len(raw)


class Headed:
    """Lines with some fixed ones before them."""

    def __init__(self, head: list[Line], rest: PayloadLines) -> None:
        self._head, self._rest = head, rest

    @property
    def count(self) -> int:
        """Lines laid out so far."""
        return len(self._head) + self._rest.count

    @property
    def complete(self) -> bool:
        """Whether ``count`` is final."""
        return self._rest.complete

    @property
    def has_crlf(self) -> bool:
        """Whether a text has CRLF line ends."""
        return self._rest.has_crlf

    def extend(self, lines: int) -> None:
        """Lay out up to so many further lines."""
        self._rest.extend(lines)

    def line(self, index: int) -> Line:
        """Return a line that is laid out."""
        return self._head[index] if index < len(self._head) else self._rest.line(index - len(self._head))

    def pointer(self, index: int) -> str | None:
        """Return the JSON pointer of a line's field; None for the lines before."""
        return self._rest.pointer(index - len(self._head)) if index >= len(self._head) else None


def _sentence(text: str, kind: TokenKind) -> LineSource:
    return FixedLines([Line(0, [(text, kind)])])
