"""Bodies of exchanges as trees, and responses back as the bytes they were.

A response is ``{"status", "headers", "body"}``. Its body is a JSON tree where the text is an object or an array in one
of the usual spellings (``spelling`` beside it names it unless it is compact); a ``stream`` tag of the texts of its
events for Server-Sent Events, JSON lines and the event streams of AWS (``frames``); a ``bytes`` tag where it is no
UTF-8; otherwise the text itself. A response that was cut has ``ending`` and ``error``. ``response_parts`` gives back
exactly the bytes that ``response_tree`` took.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, TypeAlias, cast, get_args

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.exchange.coding import content_decoded
from stashdbg_core.exchange.frames import EVENT_STREAM, frame_bytes, frame_chunks, is_cut_off
from stashdbg_core.exchange.headers import Headers, header, header_pairs, kept_headers
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.exchange.spelling import COMPACT, spelled_text, spelled_tree
from stashdbg_core.exchange.sse import event_texts, line_texts, looks_like_events
from stashdbg_core.parse import parse_json
from stashdbg_core.tags import BYTES, TAG
from stashdbg_core.values import encode_value
from stashdbg_core.values.plain import is_plain_value
from stashdbg_core.values.streams import StreamEnding, StreamRecord, is_stream

Ending: TypeAlias = Literal["complete", "closed", "failed"]
"""How a body ended: all of it came, its reader closed it early, or the connection failed."""

_ENDINGS: dict[Ending, StreamEnding] = {"complete": "exhausted", "closed": "closed", "failed": "failed"}
_LINES = frozenset({
    "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines",
    "application/json-lines", "application/stream+json", "application/json-seq",
})  # fmt: skip
_BOUNDARY = re.compile(r'boundary="?([^";,\s]+)', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ResponseParts:
    """A response as it goes over the wire, its content codings undone."""

    status: int
    headers: list[tuple[str, str]]
    chunks: list[bytes]
    """Together the body; of a stream one for each event."""
    times_ms: list[float] = field(default_factory=list)
    """When each chunk came, in milliseconds since the request; empty if not known."""
    ending: Ending = "complete"
    error: Json = None
    """Tree of the exception that a reader of the body got, if it failed."""


def response_tree(
    status: int,
    headers: Headers,
    body: bytes | Sequence[bytes],
    *,
    times_ms: Sequence[float] = (),
    ending: Ending = "complete",
    error: Json = None,
) -> dict[str, Json]:
    """Return the tree of a response.

    Args:
        status: The HTTP status.
        headers: All of them; those that hold secrets, or are about the connection, are left out.
        body: The whole body, or the chunks it came in, content codings undone (see ``content_decoded``).
        times_ms: When each chunk came, in milliseconds since the request.
        ending: How the body ended.
        error: Tree of the exception that the reader got, if it failed.
    """
    chunks = [body] if isinstance(body, bytes) else list(body)
    whole = body if isinstance(body, bytes) else b"".join(chunks)
    tree: dict[str, Json] = {"status": status, "headers": {**kept_headers(headers)}}
    events = _events(headers, whole)
    if events is not None:
        times = _times([len(raw) for _, raw in events], chunks, times_ms)
        tree["body"] = StreamRecord("sync", [chunk for chunk, _ in events], times, _ENDINGS[ending], error).to_tree()
        return tree
    try:
        text = whole.decode("utf-8")
    except UnicodeDecodeError:
        tree["body"] = bytes_tag(whole)
    else:
        found = spelled_tree(text)
        tree["body"] = text if found is None else found[0]
        if found is not None and found[1] != COMPACT:
            tree["spelling"] = found[1]
    if ending != "complete":
        tree["ending"] = ending
    if error is not None:
        tree["error"] = error
    return tree


def response_parts(tree: Json) -> ResponseParts:
    """Return the response that a tree says, whether recorded or edited.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is no response.
    """
    if not is_response(tree):
        raise invalid_input(
            "this is no HTTP response", hint="give an object with status (100 to 599), headers and body"
        )
    body, error = tree.get("body", ""), tree.get("error")
    ending = tree.get("ending", "complete")
    times: list[float] = []
    if is_stream(body):
        record = StreamRecord.from_tree(body)
        framed = _kind(tree["headers"] if type(tree.get("headers")) is dict else {}) == EVENT_STREAM
        chunks = [_chunk_bytes(chunk, framed=framed) for chunk in record.chunks]
        times = record.times_ms if len(record.times_ms) == len(chunks) else []
        ending = next((word for word, stored in _ENDINGS.items() if stored == record.ending), "closed")
        error = record.error
    else:
        spelling = tree.get("spelling")
        whole = _body_bytes(body, spelling if isinstance(spelling, str) else COMPACT)
        chunks = [whole] if whole else []
    kept = tree.get("headers")
    pairs = list(header_pairs(kept)) if type(kept) is dict else []
    if ending not in get_args(Ending):
        ending = "complete"
    return ResponseParts(tree["status"], pairs, chunks, times, cast("Ending", ending), error)


def has_odd_frames(tree: Json) -> bool:
    """Tell whether a response is an event stream of AWS of which something is damaged, or in no usual frame.

    Where the body is known to have ended early, a last frame that was cut off is neither.
    """
    headers, body = tree.get("headers"), tree.get("body")
    if type(headers) is not dict or _kind(headers) != EVENT_STREAM or type(body) is not dict:
        return False
    if not is_stream(body):
        return body.get(TAG) == BYTES
    chunks = body["chunks"]
    if body["ending"] != "exhausted" and chunks and is_cut_off(_chunk_bytes(chunks[-1], framed=True)):
        chunks = chunks[:-1]
    return any(type(chunk) is not str for chunk in chunks)


def body_tree(headers: Headers, body: bytes) -> Json:
    """Return what a request's body says: a JSON tree, a text, or a ``bytes`` tag; an empty one is ``""``.

    The spelling is not kept, and the random boundary of a form with several parts becomes a fixed one, so that equal
    requests have equal trees.
    """
    body = content_decoded(headers, body)
    boundary = _BOUNDARY.search(header(headers, "content-type"))
    if boundary is not None:
        body = body.replace(boundary[1].encode("utf-8", "replace"), b"boundary")
    if body[:1] in (b"{", b"["):
        try:
            return escaped(parse_json(body))
        except StashError:
            pass
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return bytes_tag(body)


def escaped(tree: Json) -> Json:
    """Return a JSON tree of somebody else's in which nothing can be taken for a tag."""
    return tree if is_plain_value(tree) else encode_value(tree).tree


def bytes_tag(body: bytes) -> dict[str, Json]:
    """Return bytes as a tree holds them."""
    return {TAG: BYTES, "base64": base64.b64encode(body).decode("ascii")}


def _kind(headers: Headers) -> str:
    return header(headers, "content-type").partition(";")[0].strip().lower()


def _events(headers: Headers, whole: bytes) -> list[tuple[Json, bytes]] | None:
    """Return the chunks of a stream's events with the bytes that each was; None if it is no stream."""
    kind = _kind(headers)
    if not whole:
        return None
    if kind == EVENT_STREAM:
        frames = frame_chunks(whole)
        return None if frames is None else [_framed(frame) for frame in frames]
    try:
        text = whole.decode("utf-8")
    except UnicodeDecodeError:
        return None
    texts: list[str] = []
    if kind == "text/event-stream" or (not kind and looks_like_events(text)):
        texts = event_texts(text)
    elif kind in _LINES:
        texts = line_texts(text)
    return [(event, event.encode("utf-8")) for event in texts] or None


def _framed(frame: str | bytes) -> tuple[Json, bytes]:
    return (bytes_tag(frame), frame) if isinstance(frame, bytes) else (frame, frame_bytes(frame))


def _times(sizes: list[int], chunks: Sequence[bytes], times_ms: Sequence[float]) -> list[float]:
    """Return when the last byte of each event came."""
    if len(times_ms) != len(chunks) or not chunks:
        return [0.0] * len(sizes)
    ends = list(accumulate(map(len, chunks)))
    return [times_ms[min(bisect_left(ends, end), len(ends) - 1)] for end in accumulate(sizes)]


def _chunk_bytes(chunk: Json, *, framed: bool) -> bytes:
    if type(chunk) is str:
        return frame_bytes(chunk) if framed else _text_bytes(chunk)
    return _body_bytes(chunk, COMPACT)


def _body_bytes(body: Json, spelling: str) -> bytes:
    if type(body) is str:
        return _text_bytes(body)
    if type(body) is dict and body.get(TAG) == BYTES and type(body.get("base64")) is str:
        try:
            return base64.b64decode(body["base64"], validate=True)
        except (binascii.Error, ValueError):
            return b""
    return _text_bytes(spelled_text(body, spelling))


def _text_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
