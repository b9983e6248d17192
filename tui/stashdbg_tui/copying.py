"""Getting a whole value out: to the clipboard through the terminal, or into a new file."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from stashdbg_core.errors import StashError, not_found
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.sanitize import sanitize, shorten
from stashdbg_core.session.fields import event_fields
from stashdbg_core.session.inspection import Part, ref_of, whole_value
from stashdbg_core.session.words import size_words

if TYPE_CHECKING:
    from textual.app import App

CLIPBOARD_BYTES = 74_994
"""Encoded bytes that terminals are known to take in one OSC 52 sequence."""


def to_clipboard(app: App[Any], text: str, *, named: bool = False) -> str:
    """Copy a text if it is not too much, and return a sentence that names it or its size."""
    raw = text.encode("utf-8", "replace")
    if len(base64.b64encode(raw)) > CLIPBOARD_BYTES:
        return f"{size_words(len(raw))} is more than terminals take; :write FILE saves it"
    app.copy_to_clipboard(raw.decode("utf-8"))
    if named:
        return f"copied {shorten(text, 200)}"
    hidden = "; it holds control or invisible characters" if sanitize(text) != text else ""
    return f"copied {size_words(len(raw))} if the terminal allows OSC 52{hidden}"


def value_text(recording: Recording, event: RecordedEvent, part: Part) -> str:
    """Return what a part of an event is as text: a text without JSON quotes, anything else as JSON.

    Raises:
        StashError: There is nothing to copy.
    """
    if part == "fields":
        return "\n".join(f"{row.name}: {row.text}" for row in event_fields(recording, event))
    ref = ref_of(event, part) if part in ("value", "input", "raw") else event.ref
    if ref is None:
        raise not_found("no input was recorded for this call")
    raw = whole_value(recording, ref)
    return raw.decode("utf-8", "replace") if part == "raw" else _plain(raw)


def event_text(event: RecordedEvent) -> str:
    """Return an event's record as the line of JSON that stands in a recording."""
    from stashdbg_core.store.event_record import encode_event

    return encode_event(event).decode("utf-8", "replace")


def command_line(path: Path | None, seq: int | None, query: str, columns: Sequence[str] = ()) -> str:
    """Return the command that prints an event, or the events that a query leaves, with the user's own columns."""
    words = ["stashdbg", "show", str(path) if path is not None else "FILE"]
    if seq is not None:
        words += ["--at", str(seq)]
    elif query:
        words += ["--filter", query]
    for column in columns:
        words += ["--columns", column]
    return shlex.join(words)


def save_value(recording: Recording, event: RecordedEvent, part: Part, file: str) -> str:
    """Write a whole value to a new file as JSON; return a sentence about it."""
    from stashdbg_core.store.atomic import write_atomic

    ref = ref_of(event, part)
    if ref is None:
        return "nothing to write: show the value or the input first"
    try:
        raw = whole_value(recording, ref)

        def write(out: BinaryIO) -> None:
            out.write(raw)

        target = Path(file).expanduser()
        if target.exists() or target.is_symlink():
            return f"{shorten(file, 60)} exists; name a new file"
        path = write_atomic(target, write, overwrite=False)
    except (StashError, OSError, ValueError, RuntimeError) as failure:
        return f"not written: {shorten(str(failure), 160)}"
    return f"wrote {size_words(len(raw))} to {shorten(str(path), 120)}"


def _plain(raw: bytes) -> str:
    from stashdbg_core.parse import parse_json

    if raw[:1] == b'"':
        try:
            tree = parse_json(raw)
        except StashError:
            tree = None
        if isinstance(tree, str):
            return tree
    return raw.decode("utf-8", "replace")
