"""A recorded outcome as the answer that the program gets: a value, an exception, or a response with its chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stashdbg_core.canonical import Json
from stashdbg_core.errors import ErrorCode, StashError, invalid_recording
from stashdbg_core.exchange.bodies import ResponseParts, bytes_tag, response_parts
from stashdbg_core.exchange.rpc import addressed
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.model import RETURN, THROW, RecordedEvent, Recording
from stashdbg_core.replay.outcomes import event_name
from stashdbg_core.sanitize import shorten
from stashdbg_core.tags import DROPPED, EXCEPTION, PENDING, TAG, UNSTORABLE

if TYPE_CHECKING:
    from stashdbg_core.programs.wire.frames import Answer

_NOT_SERVED = {
    DROPPED: "its outcome was dropped by redaction",
    UNSTORABLE: "its outcome could not be stored",
}
_JSON_HEADERS = {"content-type": "application/json"}
_TEXT_HEADERS = {"content-type": "text/plain; charset=utf-8"}


def outcome_tree(recording: Recording, event: RecordedEvent) -> Json:
    """Return the tree of what a call gave.

    Raises:
        StashError: It is missing or damaged, was not stored, or never came to be.
    """
    name = event_name(event)
    if event.damage is not None:
        raise invalid_recording(f"{name} is damaged: {shorten(event.damage, 120)}")
    if event.outcome not in (RETURN, THROW):
        raise invalid_recording(f"{name} ended as {shorten(event.outcome, 40)!r}, which is no outcome that is served")
    try:
        tree = recording.blobs.tree(event.ref)
    except StashError as error:
        raise StashError(f"{name} cannot be served: {error.message}", code=error.code, hint=error.hint) from None
    tag = tree.get(TAG) if type(tree) is dict else None
    if tag == PENDING:
        raise StashError(
            f"{name} never finished in the recording",
            code=ErrorCode.RECORDING_EXHAUSTED,
            hint="the recorded run was cut short here; `stashdbg continue` runs on for real",
        )
    if tag in _NOT_SERVED:
        raise invalid_recording(f"{name} cannot be served: {_NOT_SERVED[tag]}")
    return tree


def call_answer(event: RecordedEvent, seq: int, tree: Json) -> Answer:
    """Return the answer to a call, or to a request that failed with an exception."""
    return {"seq": seq, "outcome": event.outcome, "value": tree}


def http_answer(event: RecordedEvent, seq: int, tree: Json, request: bytes) -> Answer:
    """Return the answer to an HTTP request.

    Args:
        event: The recorded request.
        seq: Its place on the tape that the program is told of.
        tree: Its outcome, secrets filled in. What is no response, such as a value put in by hand, is the body of one.
        request: The body of the live request.
    """
    if type(tree) is dict and tree.get(TAG) == EXCEPTION:
        return {"seq": seq, "outcome": THROW, "value": tree}
    parts = response_parts(addressed(tree if is_response(tree) else _as_response(tree), request))
    return {"seq": seq, "outcome": event.outcome, "response": _response(parts)}


def _as_response(body: Json) -> Json:
    headers = _TEXT_HEADERS if type(body) is str else _JSON_HEADERS
    return {"status": 200, "headers": headers, "body": body}


def _response(parts: ResponseParts) -> Json:
    response: dict[str, Json] = {
        "status": parts.status,
        "headers": [[name, value] for name, value in parts.headers],
        "chunks": [_chunk(chunk) for chunk in parts.chunks],
        "ending": parts.ending,
    }
    if parts.error is not None:
        response["error"] = parts.error
    return response


def _chunk(chunk: bytes) -> Json:
    try:
        return chunk.decode("utf-8")
    except UnicodeDecodeError:
        return bytes_tag(chunk)
