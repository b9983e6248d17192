"""The frames between a program and the process that records it, and the first words that both say.

Loads next to nothing, for a program that was just started is asking already; ``protocol`` has all the other messages.
Sizes are checked before they are read.
"""

from __future__ import annotations

from _operator import _compare_digest

from stashdbg_core.programs.child.stash_child import json_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from typing import Any, Literal, TypeAlias

    from stashdbg_core.errors import StashError

    Mode: TypeAlias = Literal["record", "replay", "continue"]
    Answer: TypeAlias = dict[str, Any]

PROTOCOL = 1
MAX_BODY = 64 << 20
"""Bytes of a body that a program is told to send at most."""
MAX_FRAME = 6 * MAX_BODY + (1 << 20)
"""Bytes of a frame: a body of which every byte is escaped, and the words around it."""
LONGEST_PLACE = 1024
LARGEST_SEQ = 2**53
LARGEST_PID = 2**32
_HEAD = 4
_PART = 1 << 18


class Refused(Exception):
    """What a program says cannot be taken.

    Args:
        message: What is wrong.
        hint: What to do about it.
    """

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class Hello:
    """The first message of a connection, its keys checked."""

    __slots__ = ("parent", "pid", "process", "protocol", "python", "token")

    def __init__(self, tree: dict[str, Any]) -> None:
        self.protocol = tree.get("protocol")
        self.token = _text(tree, "token") or ""
        self.pid = _number(tree, "pid", LARGEST_PID)
        self.process = _text(tree, "process")
        """Lane of this process, if it is a worker of the program's own."""
        self.parent = None if tree.get("parent") is None else _number(tree, "parent", LARGEST_SEQ)
        """The recorded call that started this process."""
        self.python = _text(tree, "python")


class Origin:
    """Which process a connection is of."""

    __slots__ = ("parent", "pid", "process")

    def __init__(self, pid: int, process: str | None = None, parent: int | None = None) -> None:
        self.pid = pid
        self.process = process
        """Lane of a worker process."""
        self.parent = parent
        """The recorded call that started the process."""

    def lane(self, thread: str | None) -> str | None:
        """Return the lane of a call; a program that names no lane is in that of its process."""
        return self.process if thread is None else thread


def hello_of(text: bytes, token: str) -> Hello:
    """Return what a program says first.

    Args:
        text: Of its first frame.
        token: What it has to know.

    Raises:
        Refused: It is no hello, or none of this run's.
    """
    tree = read_json(text)
    if tree.get("op") != "hello":
        raise Refused("a connection begins with hello", "send hello first")
    hello = Hello(tree)
    if not _compare_digest(hello.token.encode("utf-8", "replace"), token.encode()):
        raise Refused("the token is not that of this run", "send the value of STASHDBG_TOKEN")
    if hello.protocol != PROTOCOL:
        from stashdbg_core.sanitize import shorten

        spoken = shorten(str(hello.protocol), 20)
        raise Refused(f"the program speaks protocol {spoken}", f"this is protocol {PROTOCOL}")
    return hello


def welcome(mode: Mode, seed: str) -> Answer:
    """Return the answer to a program's first message."""
    return {"mode": mode, "seed": seed, "offline": mode == "replay", "maxBody": MAX_BODY}


def failure(error: StashError | Refused, kind: str = "protocol", *, stop: bool = False) -> Answer:
    """Return the answer that says what is wrong; ``stop``: the program is to end."""
    return {"error": {"kind": kind, "message": error.message, "hint": error.hint}, "stop": stop}


def read_json(text: bytes) -> dict[str, Any]:
    """Return the object of a frame; an empty one if it holds anything else, or is odd."""
    try:
        tree = json_text.read(text)
    except (ValueError, RecursionError):
        return {}
    return tree if type(tree) is dict else {}


def plain_text(answer: Answer) -> bytes:
    """Return an answer that holds nothing recorded as JSON."""
    return _encode(answer).encode("ascii")


def framed(text: bytes) -> bytes:
    """Return a text as it goes over the wire.

    Raises:
        Refused: It is too large.
    """
    if len(text) > MAX_FRAME:
        raise Refused(f"the answer has {len(text):,} bytes", f"a frame has at most {MAX_FRAME:,}")
    return len(text).to_bytes(_HEAD, "big") + text


def read_frame(connection: socket) -> bytes | None:
    """Return the next frame's text, or None at the end of the connection.

    Raises:
        Refused: The frame is too large; what follows can't be read.
        OSError: The connection broke.
    """
    head = _exactly(connection, _HEAD)
    if head is None:
        return None
    size = int.from_bytes(head, "big")
    if size > MAX_FRAME:
        raise Refused(f"a frame claims {size:,} bytes", f"a frame has at most {MAX_FRAME:,}")
    return _exactly(connection, size)


def _exactly(connection: socket, size: int) -> bytes | None:
    """Read so many bytes; memory grows with what comes, not with what was claimed."""
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), _PART))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _text(tree: dict[str, Any], key: str) -> str | None:
    found = tree.get(key)
    if found is None or (type(found) is str and len(found) <= LONGEST_PLACE):
        return found
    raise Refused(f"the hello message is malformed: {key} is no short text", "docs/protocol.md has its keys")


def _number(tree: dict[str, Any], key: str, largest: int) -> int:
    found = tree.get(key)
    if type(found) is int and 0 <= found <= largest:
        return found
    raise Refused(f"the hello message is malformed: {key} is no number", "docs/protocol.md has its keys")


def _no_tree(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is no JSON")


_encode = json_text.writer(_no_tree)
