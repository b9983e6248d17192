"""Logs of the Model Context Protocol: requests paired with their answers by id, for each side by itself.

Both sides number their requests from the start, and a server may ask its client too. A tool call is a ``tool`` event of
the key ``server/tool``; everything else is ``mcp``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.readers.mcp.messages import CLIENT, DESKTOP, SERVER, Said, message_in, said_in
from stashdbg_core.formats.sink import RunSink
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.transcript_labels import tool_label

_SERVER_ASKS = frozenset({"sampling/createMessage", "elicitation/create", "roots/list"})
_SERVER_TELLS = frozenset({
    "notifications/message", "notifications/tools/list_changed", "notifications/prompts/list_changed",
    "notifications/resources/list_changed", "notifications/resources/updated", "notifications/progress",
    "notifications/elicitation/complete",
})  # fmt: skip
_Id: TypeAlias = "tuple[str | None, str, str]"
"""Server, who asked, and the id with its type."""


@dataclass(slots=True)
class _Asked:
    seq: int
    at: float | None


def detect(head: Head) -> bool:
    """Tell whether a file is a log of MCP messages."""
    top = head.top
    if top is not None and "messages" in top and "transport" in top and "format_version" in top:
        return True
    found = list(head.lines) or ([head.first] if head.first is not None else [])
    if found and any(message_in(record) is not None for record in found):
        return True
    return not found and DESKTOP.search(head.data.decode("utf-8", "replace")) is not None


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a log."""
    sink.title(source.name)
    names = _server_names(source)
    reader = _Reader(sink, names)
    for said in said_in(source, sink):
        reader.add(said)


def _server_names(source: ForeignSource) -> dict[str | None, str]:
    """Return what each server calls itself, from the first answer to ``initialize`` that the log holds."""
    names: dict[str | None, str] = {}
    for said in said_in(source, RunSink(FORMAT.name, source)):  # what is wrong with the file is told by the reading
        result = said.message.get("result")
        info = result.get("serverInfo") if isinstance(result, dict) else None
        if isinstance(info, dict) and isinstance(info.get("name"), str) and said.server not in names:
            names[said.server] = info["name"]
            if said.server is None:
                break
    return names


class _Reader:
    def __init__(self, sink: RunSink, names: dict[str | None, str]) -> None:
        self._sink = sink
        self._names = names
        self._open: dict[_Id, deque[_Asked]] = {}
        """Requests that wait; several with one id where a log holds several connections."""

    def add(self, said: Said) -> None:
        message = said.message
        if said.ends:
            self._open = {identity: asked for identity, asked in self._open.items() if identity[0] != said.server}
            return
        sender = said.sender or self._guessed(said)
        if "method" not in message:
            self._answer(said, CLIENT if sender == SERVER else SERVER)
        elif "id" in message and message["id"] is not None:
            self._request(said, sender)
        else:
            self._start(said, sender, value=None)

    def _request(self, said: Said, sender: str) -> None:
        seq = self._start(said, sender)
        self._open.setdefault(_identity(said, sender), deque()).append(_Asked(seq, said.at))

    def _start(self, said: Said, sender: str, value: Json = ABSENT) -> int:
        message = said.message
        method, params = str(message["method"]), message.get("params", ABSENT)
        label: str | None
        server = said.server or self._names.get(said.server)
        asks = isinstance(params, dict) and isinstance(params.get("name"), str)
        if method == "tools/call" and sender == CLIENT and asks:
            channel, name = "tool", params["name"]
            key = f"{server}/{name}" if server else name
            params = params.get("arguments", ABSENT)
            label = tool_label(name, None if params is ABSENT else params)
        else:
            channel, key = "mcp", f"{server}:{method}" if server else method
            label = None if sender == CLIENT else f"{method}, asked by the server" if "id" in message else None
        call_id = message.get("id")
        seq = self._sink.start(
            channel, key, input=params, at=said.at, label=label, call_id=None if call_id is None else str(call_id)
        )
        if value is not ABSENT:
            self._sink.finish(seq, value)
        return seq

    def _answer(self, said: Said, asker: str) -> None:
        message = said.message
        waiting = self._open.get(_identity(said, asker), deque())
        asked = waiting.popleft() if waiting else None
        if not waiting:
            self._open.pop(_identity(said, asker), None)
        result = message.get("result")
        failed = "error" in message or (isinstance(result, dict) and result.get("isError") is True)
        value = {"error": message["error"]} if "error" in message else result
        if asked is None:
            seq = self._sink.start("mcp", "unknown", at=said.at, label="an answer whose request is not in the file")
            self._sink.cut(seq, "its request is not in the file")
            self._sink.finish(seq, value, outcome="throw" if failed else "return")
            return
        known = said.at is not None and asked.at is not None and said.at >= asked.at
        ms = said.at - asked.at if known and said.at is not None and asked.at is not None else None
        self._sink.finish(asked.seq, value, outcome="throw" if failed else "return", at=said.at, ms=ms)

    def _guessed(self, said: Said) -> str:
        """Return who sent a message of which the log does not say: by its method, or by who waits for that answer."""
        method = said.message.get("method")
        if method is not None:
            return SERVER if method in _SERVER_ASKS or method in _SERVER_TELLS else CLIENT
        return (
            SERVER
            if _identity(said, CLIENT) in self._open
            else CLIENT
            if _identity(said, SERVER) in self._open
            else SERVER
        )


def _identity(said: Said, asker: str) -> _Id:
    return said.server, asker, repr(said.message.get("id"))


FORMAT = Format(
    "mcp-log",
    "MCP log",
    detect,
    one_run,
    read,
    exact=("requests, answers and notifications, in both directions", "tool inputs and results"),
    inferred=("who sent a message, where the log does not say",),
    missing=("the model calls behind the tool calls",),
)
