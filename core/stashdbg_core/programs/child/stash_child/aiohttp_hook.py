"""aiohttp recorded and served between its sessions and its connectors, where every exchange on the wire passes.

A request is announced when it asks its connector for a connection. A served one gets a connection that leads nowhere
and has the response already; redirects, cookies, retries, middlewares and response objects are aiohttp's own.
WebSockets are left alone.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, Tuple

from . import calls
from .aiohttp_served import fail, served_connection
from .exchanges import AFTER_SENDING, Exchange, Served, ask, skipped

_ASKED = "_stash_asked"
_watched: Dict[int, Exchange] = {}
"""The exchange of each watched reader by its identity, until it ends: readers have room for no attribute of ours."""


def patch(module: Any) -> None:
    """Hook aiohttp's connectors, requests and responses."""
    streams = module.streams
    connector, request, response = module.connector, module.client_reqrep, module.client_reqrep
    connector.BaseConnector.connect = _connect(connector.BaseConnector.connect, module)
    request.ClientRequest.send = _send(request.ClientRequest.send)
    start = _start(response.ClientResponse.start, _watched_reader(streams), streams)
    response.ClientResponse.start = start
    response.ClientResponse.close = _ending(response.ClientResponse.close)
    response.ClientResponse.release = _ending(response.ClientResponse.release)


def _connect(original: Callable[..., Any], module: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    async def connect(self: Any, req: Any, *args: Any, **more: Any) -> Any:
        if skipped():
            return await original(self, req, *args, **more)
        if str(req.headers.get("Upgrade", "")).lower() == "websocket":
            if calls.mode() == "replay":
                return await original(self, req, *args, **more)
            calls.note("unhooked-connection", "the WebSocket to {} is not recorded".format(req.url.host))
            with calls.running(None):
                return await original(self, req, *args, **more)
        asked = ask(
            req.method, str(req.url), [(str(name), value) for name, value in req.headers.items()], await _body(req)
        )
        if isinstance(asked, Served):
            if asked.error is not None and asked.error.get("at") != AFTER_SENDING:
                await fail(asked, module)
            return served_connection(self, req, asked, module)
        req.__dict__[_ASKED] = asked
        try:
            with calls.running(asked.answer):
                return await original(self, req, *args, **more)
        except BaseException as error:
            asked.threw(error)
            raise

    return connect


def _send(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    async def send(self: Any, conn: Any) -> Any:
        asked = self.__dict__.pop(_ASKED, None)
        if asked is None:
            return await original(self, conn)
        try:
            with calls.running(asked.answer):
                response = await original(self, conn)
        except BaseException as error:
            asked.threw(error, at=AFTER_SENDING)
            raise
        response.__dict__[_ASKED] = asked
        return response

    return send


def _start(original: Callable[..., Any], reader: Any, streams: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    async def start(self: Any, connection: Any) -> Any:
        asked = self.__dict__.get(_ASKED)
        if asked is None:
            return await original(self, connection)
        try:
            with calls.running(asked.answer):
                response = await original(self, connection)
        except BaseException as error:
            asked.threw(error, at=AFTER_SENDING)
            raise
        pairs = [
            (name.decode("utf-8", "replace"), value.decode("utf-8", "replace")) for name, value in self.raw_headers
        ]
        version = self.version and "HTTP/{}.{}".format(self.version.major, self.version.minor)
        asked.head(self.status, _as_decoded(self, pairs), self.reason, version)
        if type(self.content) is not streams.StreamReader or self.content.is_eof():
            _all_came(self.content, asked)
        elif self.content.exception() is not None:
            asked.failed(self.content.exception())
        else:
            _watched[id(self.content)] = asked
            self.content.__class__ = reader
        return response

    return start


def _all_came(reader: Any, asked: Exchange) -> None:
    """Take what a reader has and nobody has read yet: it is all there is."""
    skip = getattr(reader, "_buffer_offset", 0)
    for part in list(getattr(reader, "_buffer", ())):
        asked.data(bytes(part)[skip:])
        skip = 0
    asked.complete()


def _ending(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def ending(self: Any, *args: Any, **more: Any) -> Any:
        asked = self.__dict__.pop(_ASKED, None)
        if asked is not None:
            _watched.pop(id(getattr(self, "content", None)), None)
            asked.closed()
        return original(self, *args, **more)

    return ending


def _as_decoded(response: Any, pairs: List[Tuple[str, str]]) -> List[Tuple[str, str]]:
    """Return headers without the content coding that aiohttp itself undoes."""
    session = getattr(response, "_session", None)
    if not getattr(session, "auto_decompress", getattr(session, "_auto_decompress", True)):
        return pairs
    encoded = any(name.lower() == "content-encoding" for name, _ in pairs)
    left_out = ("content-encoding", "content-length") if encoded else ()
    return [pair for pair in pairs if pair[0].lower() not in left_out]


def _watched_reader(streams: Any) -> Any:
    """Make the reader of responses that are watched; its instances were made as plain readers."""

    class WatchedReader(streams.StreamReader):  # type: ignore[misc]
        __slots__ = ()

        def _read_nowait_chunk(self, n: int) -> bytes:
            data: bytes = super()._read_nowait_chunk(n)
            asked = _watched.get(id(self))
            if asked is not None:
                asked.data(data)
            return data

        def feed_eof(self) -> None:
            if id(self) in _watched:
                _all_came(self, self._forget())
            super().feed_eof()

        def set_exception(self, exc: Any, *args: Any) -> None:
            if id(self) in _watched:
                self._forget().failed(exc if isinstance(exc, BaseException) else exc())
            super().set_exception(exc, *args)

        async def _wait(self, name: str) -> None:
            try:
                await super()._wait(name)
            except BaseException as error:
                if id(self) in _watched:
                    self._forget().failed(error)
                raise

        def _forget(self) -> Exchange:
            return _watched.pop(id(self))

    return WatchedReader


async def _body(req: Any) -> bytes:
    """Read a request's body once, and have the request send what was read."""
    body = getattr(req, "_body", None)
    if body is None:
        body = vars(req).get("body")
    if not body:
        return b""
    if isinstance(body, (bytes, bytearray)):
        return bytes(body)
    if not hasattr(body, "write"):
        parts = [bytes(part) for part in body]
        req.body = tuple(parts)
        return b"".join(parts)
    writer = _Writer()
    await body.write(writer)

    async def write(to: Any, *_args: Any) -> None:
        for part in writer.parts:
            await to.write(part)

    body.write = write
    if hasattr(body, "write_with_length"):
        body.write_with_length = write
    return b"".join(writer.parts)


class _Writer:
    """Takes what a payload writes."""

    def __init__(self) -> None:
        self.parts: List[bytes] = []

    async def write(self, chunk: Any) -> None:
        self.parts.append(bytes(chunk))

    async def write_eof(self, chunk: bytes = b"") -> None:
        if chunk:
            self.parts.append(bytes(chunk))

    async def drain(self) -> None:
        return None
