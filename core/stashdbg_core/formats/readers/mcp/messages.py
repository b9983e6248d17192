"""The messages of MCP logs, in whichever way a log wraps them: who said what when, to which server.

Known: bare JSON-RPC lines, lines that wrap one (``message``, ``payload``, … beside who and when), cassettes of
mcp-cassette, and the log files of Claude Desktop, whose lines are text around a message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from json import JSONDecoder
from typing import TYPE_CHECKING, Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.parse import parse_json

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

CLIENT, SERVER = "client", "server"
_WRAPPED = ("message", "payload", "data", "body", "rpc", "msg")
_TIMES = ("timestamp", "time", "ts", "at", "t")
_WHO = ("direction", "sender", "from", "source", "origin", "dir", "type")
_FROM_CLIENT = re.compile(r"\A(?:client|c\b|c2s|out|sent|send|request|outgoing|stdin|->|→|>)", re.IGNORECASE)
_FROM_SERVER = re.compile(r"\A(?:server|s\b|s2c|in|recv|receive|response|stdout|<-|←|<)", re.IGNORECASE)
_LEVEL = r"\[(?:info|warn|warning|error|debug)\]"
_SERVER = r"\[(?P<{}>[^\]\n]{{1,100}})\]"
_LEAD = (
    rf"(?P<at>\d{{4}}-\d\d-\d\dT[\d:.]+Z?) "
    rf"(?:{_LEVEL} {_SERVER.format('of_all')} |(?:{_SERVER.format('of_one')} )?{_LEVEL} )"
)
"""How a line begins: in ``mcp.log`` with the level and the server, in the log of one server the other way round."""
DESKTOP = re.compile(_LEAD + r"Message from (?P<who>client|server): ")
_CLOSED = re.compile(_LEAD + r"(?:Client|Server) transport closed")
_decode = JSONDecoder(strict=False).raw_decode


@dataclass(frozen=True, slots=True)
class Said:
    """One message."""

    message: dict[str, Any]
    sender: str | None
    """``client`` or ``server``; None if the log does not say."""
    at: float | None = None
    server: str | None = None
    """Which of several servers."""
    ends: bool = False
    """Whether it is no message, but the end of the connection: what waits for an answer gets none."""


def said_in(source: ForeignSource, sink: RunSink) -> Iterator[Said]:
    """Yield the messages of a log, batches one by one."""
    head = source.head()
    if DESKTOP.search(head.decode("utf-8", "replace")) is not None and head.lstrip()[:1] not in (b"{", b"["):
        yield from _desktop(source, sink)
        return
    if not _is_lines(source):
        yield from _document(source.json())
        return
    for line in source.lines():
        try:
            tree = parse_json(line.raw)
        except StashError as error:
            if line.ends:
                sink.damaged_line(line, error.message if line.raw else "is too long")
            continue
        found = list(_wrapped(tree))
        if not found:
            sink.unknown("record that is no JSON-RPC message")
        yield from found


def is_message(tree: Json) -> bool:
    """Tell whether a tree is one JSON-RPC message."""
    return type(tree) is dict and tree.get("jsonrpc") == "2.0" and any(k in tree for k in ("method", "result", "error"))


def message_in(record: dict[str, Any]) -> Json:
    """Return the message, or batch of them, that a record is or wraps; None if it has none."""
    if is_message(record):
        return record
    for name in _WRAPPED:
        inner = record.get(name)
        if type(inner) is str and '"jsonrpc"' in inner:
            try:
                inner = parse_json(inner.encode("utf-8", "replace"))
            except StashError:
                continue
        if is_message(inner) or (type(inner) is list and inner and all(map(is_message, inner))):
            return inner
    return None


def _is_lines(source: ForeignSource) -> bool:
    """Tell whether the first line is a value by itself, and no cassette."""
    first = next(source.lines(), None)
    try:
        tree = parse_json(first.raw) if first is not None else None
    except StashError:
        return False
    return type(tree) is not dict or "format_version" not in tree


def _document(tree: Json) -> Iterator[Said]:
    if type(tree) is list:
        for item in tree:
            yield from _wrapped(item)
        return
    listed = tree.get("messages") if type(tree) is dict else None
    began = epoch_ms(tree.get("recorded_at")) if type(tree) is dict else None
    for record in listed if type(listed) is list else ():
        offset: Any = record.get("t_offset_ms") if type(record) is dict else None
        at = began + offset if began is not None and type(offset) in (int, float) else None
        yield from _wrapped(record, at)


def _wrapped(tree: Json, at: float | None = None) -> Iterator[Said]:
    if type(tree) is list:
        for item in tree:
            yield from _wrapped(item, at) if type(item) is dict else ()
    if type(tree) is not dict:
        return
    found = message_in(tree)
    bare = found is tree
    if at is None:
        at = next((ms for name in _TIMES if (ms := epoch_ms(tree.get(name))) is not None), None)
    sender = None if bare else _sender(tree)
    server = tree.get("server") if not bare and type(tree.get("server")) is str else None
    for message in found if type(found) is list else [] if found is None else [found]:
        yield Said(message, sender, at, server)


def _sender(record: dict[str, Any]) -> str | None:
    for name in _WHO:
        word = record.get(name)
        if type(word) is str:
            if _FROM_CLIENT.match(word):
                return CLIENT
            if _FROM_SERVER.match(word):
                return SERVER
    return None


def _desktop(source: ForeignSource, sink: RunSink) -> Iterator[Said]:
    for line in source.lines():
        text = line.raw.decode("utf-8", "replace")
        found = DESKTOP.search(text)
        if found is None:
            closed = _CLOSED.search(text)
            if closed is not None:
                yield Said({}, None, epoch_ms(closed["at"]), closed["of_all"] or closed["of_one"], ends=True)
            sink.skipped("log lines that are no message")
            continue
        try:
            message, _ = _decode(text, found.end())
        except (ValueError, RecursionError):
            sink.damaged_line(line, "holds a message that is cut off")
            continue
        at = epoch_ms(found["at"])
        for one in message if type(message) is list else [message]:
            if is_message(one):
                yield Said(one, found["who"], at, found["of_all"] or found["of_one"])
