"""An event on one line: what it said, for the timeline and the plain listing.

Bounded work: a value beyond ``PARSED_BYTES`` is never parsed for a row, only its head is shown. The text is recorded
text and unsanitised; whoever prints it passes it through ``sanitize`` first.
"""

from __future__ import annotations

from collections.abc import Callable

from stashdbg_core.calls import MODEL_CHANNELS, read_site
from stashdbg_core.canonical import Json, content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.model import RETURN, THROW, RecordedEvent, Recording
from stashdbg_core.session import gist
from stashdbg_core.session.bounded import glance
from stashdbg_core.session.words import size_words
from stashdbg_core.tags import PENDING, STREAM, TAG, tag_of

PARSED_BYTES = 64 * 1024
"""Raw bytes up to which a value is parsed for its summary."""

HEAD_READ_BYTES = 1_000_000
"""Raw bytes beyond which a value in a file is not even read for its summary."""

PENDING_REF = content_ref(stored_form({TAG: PENDING}))
"""What a call that never finished threw."""

_WORDS = {RETURN: "returned", THROW: "threw"}
_TOOL_CHANNELS = frozenset({"tool", "mcp"})
_ROOM_FOR_BOTH = 30
"""Characters below which a tool's row says what was asked of it alone: two stumps would say nothing."""


def outcome_word(event: RecordedEvent) -> str:
    """Return how a call ended, in one word: returned, threw, pending, damaged, or a foreign file's own word (cut)."""
    if event.damage is not None:
        return "damaged"
    if event.ref == PENDING_REF:
        return "pending"
    return _WORDS.get(event.outcome) or event.outcome[:24] or "unknown"


def summary(recording: Recording, event: RecordedEvent, width: int = 200) -> str:
    """Return the point of an event on one line of about ``width`` characters; never raises for what the file holds."""
    if event.damage is not None:
        return gist.one_line(event.damage, width)
    if event.ref == PENDING_REF:
        return _with_input(recording, event, "", width)
    value = _look(recording, event.ref, width)
    text: str
    if isinstance(value, str):
        text = value
    elif tag_of(value.tree) == PENDING:
        return _with_input(recording, event, "", width)
    elif event.outcome == THROW:
        return gist.error(value.tree, width)
    elif tag_of(value.tree) == STREAM:
        text = gist.stream(value.tree, width)
    elif is_response(value.tree):
        shared = tag_of(value.tree["body"]) == STREAM and not isinstance(value.tree["body"].get("chunks"), list)
        text = event.label if shared and event.label else gist.response(value.tree, width)
    else:
        text = gist.reply(value.tree, width) or gist.brief(value.tree, width)
    if event.channel in MODEL_CHANNELS:
        return text
    return _with_input(recording, event, text, width)


class _Tree:
    """A parsed tree, told apart from a sentence about why there is none."""

    __slots__ = ("tree",)

    def __init__(self, tree: Json) -> None:
        self.tree = tree


def _look(recording: Recording, ref: str, width: int) -> _Tree | str:
    size_of: Callable[[str], int | None] | None = getattr(recording.blobs, "size_of", None)
    known = size_of(ref) if size_of is not None else None
    if known is not None and known > HEAD_READ_BYTES:
        return f"a value of {size_words(known)}"
    payload = recording.blobs.payload(ref)
    if payload.state == "missing":
        return "value missing"
    if len(payload.raw) > PARSED_BYTES:
        head = payload.raw[: 4 * width + 16].decode("utf-8", "replace").lstrip('"')
        size = f" · {size_words(len(payload.raw))}"
        return gist.one_line(head, max(width - len(size), 8)) + size
    try:
        return _Tree(glance(recording, payload.raw, PARSED_BYTES))
    except StashError as failure:
        return f"value damaged: {payload.problem or failure.message}"


def _with_input(recording: Recording, event: RecordedEvent, text: str, width: int) -> str:
    """Put the arguments of a call before what came of it: ``query="paris" → 3 results``."""
    if event.input_ref is None:
        return text
    given = _look(recording, event.input_ref, width)
    if isinstance(given, str):
        return text
    if (place := read_site(given.tree)) is not None:
        return gist.one_line(" · ".join(part for part in (text, place) if part), width)
    if text and width < _ROOM_FOR_BOTH and event.channel in _TOOL_CHANNELS:
        return gist.arguments(given.tree, width)
    said = gist.arguments(given.tree, max(width // 3, 12) if text else width)
    return gist.one_line(" → ".join(part for part in (said, text) if part), width)
