"""The messages between a program and the process that records it; ``docs/protocol.md`` specifies them.

Everything here comes from a program that may be broken or hostile: types are checked before they are used, and whatever
is wrong is a ``StashError`` that the asking side gets as an answer. ``frames`` has what comes before: hello.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.parse import parse_tolerant
from stashdbg_core.programs.wire.frames import LARGEST_SEQ, LONGEST_PLACE
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.limits import Limits

SOFT = "soft"
"""Key in the recorded input of a value that a library drew for itself."""
MAX_DEPTH = 1000
"""How deep a message may be nested; a deeper value could not be read back."""

_decode = msgspec.json.Decoder().decode
_Name = Annotated[str, Meta(max_length=4096)]
_Place = Annotated[str, Meta(max_length=LONGEST_PLACE)]
_Long = Annotated[str, Meta(max_length=1 << 16)]
_Seq = Annotated[int, Meta(ge=0, le=LARGEST_SEQ)]
_Status = Annotated[int, Meta(ge=0, le=999)]
_Ms = Annotated[float, Meta(ge=0, le=1e15)]
_Outcome: TypeAlias = Literal["return", "throw"]
_Headers = Annotated[list[tuple[_Long, _Long]], Meta(max_length=10_000)]

UNSET = msgspec.UNSET
Unset: TypeAlias = msgspec.UnsetType


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """What a program asks; keys that this version does not know are passed over."""

    op: ClassVar[str] = ""


class Placed(Message, frozen=True, kw_only=True):
    """What a call says about where it was made."""

    thread: _Place | None = None
    parent: _Seq | None = None
    site: _Place | None = None


class CallAsked(Placed, frozen=True, kw_only=True):
    """A call is about to run."""

    op: ClassVar[str] = "call"
    channel: _Place
    key: _Name
    input: Json | Unset = UNSET
    label: _Name | None = None


class HttpAsked(Placed, frozen=True, kw_only=True):
    """An HTTP request is about to be sent."""

    op: ClassVar[str] = "http"
    method: _Place
    url: _Long
    headers: _Headers = []
    body: Json = ""


class ValueAsked(Placed, frozen=True, kw_only=True):
    """A clock was read, a number drawn, a line of input taken.

    Without ``value`` the program asks before it does so, and does it if told to ``run``.
    """

    op: ClassVar[str] = "value"
    channel: _Place
    key: _Name
    value: Json | Unset = UNSET
    soft: bool = False
    """Drawn by a library on behalf of the program: served if recorded, and never a divergence."""


class Ended(Message, frozen=True, kw_only=True):
    """A call that ran is over."""

    op: ClassVar[str] = "end"
    seq: _Seq
    outcome: _Outcome
    value: Json
    ms: _Ms = 0.0


class Chunk(msgspec.Struct, frozen=True):
    """A part of a body as it came."""

    ms: _Ms
    data: Json


class Responded(Message, frozen=True, kw_only=True):
    """A request that was sent has its response, or the part of it that the program read."""

    op: ClassVar[str] = "response"
    seq: _Seq
    status: _Status
    headers: _Headers = []
    chunks: list[Chunk] = []
    ending: Literal["complete", "closed", "failed"] = "complete"
    error: Json = None
    ms: _Ms = 0.0


class Noted(Message, frozen=True, kw_only=True):
    """Something that a reader of the recording should know."""

    op: ClassVar[str] = "note"
    kind: Annotated[str, Meta(max_length=100)]
    message: _Name
    thread: _Place | None = None


class Bye(Message, frozen=True, kw_only=True):
    """The process is about to end."""

    op: ClassVar[str] = "bye"
    exit: Json = None


_OPS: dict[str, type[Message]] = {
    cls.op: cls for cls in (CallAsked, HttpAsked, ValueAsked, Ended, Responded, Noted, Bye)
}


def message_of(text: bytes) -> Message:
    """Return the message of a frame.

    Raises:
        StashError: ``ERR_INVALID_INPUT``: it is not JSON, or no message of this protocol.
    """
    try:
        tree = _decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        tree = _decode_carefully(text)
    op = tree.get("op") if type(tree) is dict else None
    if op == "hello":
        raise invalid_input("a connection says hello once", hint="open another connection")
    cls = _OPS.get(op) if type(op) is str else None
    if cls is None:
        known = ", ".join(_OPS)
        raise invalid_input("a message has no op that is known", hint=f"send one of {known}")
    try:
        return msgspec.convert(tree, cls)
    except (msgspec.ValidationError, RecursionError, OverflowError) as error:
        raise invalid_input(f"the {op} message is malformed: {shorten(str(error), 200)}") from None


def _decode_carefully(text: bytes) -> Json:
    """Return the tree of what the fast parser refuses: odd numbers, lone surrogates, or no JSON at all."""
    try:
        return parse_tolerant(text, Limits(depth=MAX_DEPTH)).tree
    except StashError as error:
        raise invalid_input(f"a frame is not JSON: {error.message}", hint="send UTF-8 JSON objects") from None


def body_bytes(body: Any) -> bytes:
    """Return the bytes of a body that was sent as text or as a ``bytes`` tag.

    Raises:
        StashError: It is neither.
    """
    from stashdbg_core.values import decode_value

    if type(body) is str:
        return body.encode("utf-8", "surrogatepass")
    found = decode_value(body) if type(body) is dict else None
    if type(found) is not bytes:
        raise invalid_input("a body is neither text nor bytes", hint='send a string, or {"$stash":"bytes",…}')
    return found
