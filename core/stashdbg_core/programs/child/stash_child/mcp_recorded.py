"""An MCP client whose transport is open: what it sends and what comes back is watched, and changed in nothing."""

from __future__ import annotations

import contextlib
from asyncio import CancelledError
from typing import Any, AsyncIterator, Callable, Dict, List

from . import calls
from .mcp_messages import HANDSHAKE, Server, as_dict, begin, error_tree


@contextlib.asynccontextmanager
async def recorded(open_it: Callable[[], Any], server: Server) -> AsyncIterator[Any]:
    """Open a transport, and watch what passes; what it does to deliver a message is part of the call."""
    opened = open_it()
    with calls.running(None):
        streams = await opened.__aenter__()
    watch = Watch(server)
    try:
        yield (_WatchedReads(streams[0], watch), _WatchedWrites(streams[1], watch), *streams[2:])
    except BaseException as error:
        with calls.running(None):
            handled = await opened.__aexit__(type(error), error, error.__traceback__)
        if not handled:
            raise
    else:
        with calls.running(None):
            await opened.__aexit__(None, None, None)
    finally:
        watch.over()


class Watch:
    """The requests of one client that are not answered yet."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._waiting: Dict[Any, Any] = {}
        self._meanwhile: Dict[Any, List[Dict[str, Any]]] = {}
        self._handshakes: Dict[Any, bool] = {}

    def sent(self, message: Dict[str, Any]) -> Any:
        """Take a message of the client; return the call that it begins, or None."""
        if message.get("method") == "notifications/cancelled":
            self.failed((message.get("params") or {}).get("requestId"), CancelledError())
        if "method" not in message or message.get("id") is None:
            return None
        answer = begin(self._server, message)
        self.wait(message, answer)
        return answer

    def wait(self, message: Dict[str, Any], answer: Any) -> None:
        """Wait for the answer to a request, which ends its call."""
        self._waiting[message["id"]] = answer
        self._handshakes[message["id"]] = message["method"] in HANDSHAKE

    def waits_for(self, number: Any) -> bool:
        """Tell whether the request of this id is not answered yet."""
        return number in self._waiting

    def failed(self, number: Any, error: BaseException) -> None:
        """Say that a request could not be sent, or that its client stopped waiting."""
        answer = self._waiting.pop(number, None)
        if answer is not None:
            calls.end(answer, "throw", calls.error_tree(error))

    def came(self, message: Dict[str, Any]) -> None:
        """Take a message of the server."""
        number = message.get("id")
        if "method" in message:
            if self._waiting:
                self._meanwhile.setdefault(self._about(message), []).append(calls.plain(message))
            return
        answer = self._waiting.pop(number, None)
        meanwhile = self._meanwhile.pop(number, None)
        if answer is None:
            return
        if self._handshakes.pop(number, False):
            self._server.introduced(message.get("result"))
        if "error" in message:
            calls.end(answer, "throw", error_tree(message["error"]))
        else:
            result = calls.plain(message.get("result"))
            calls.end(answer, "return", {"messages": meanwhile, "result": result} if meanwhile else result)

    def over(self) -> None:
        """Say that the connection is closed."""
        for number in list(self._waiting):
            self.failed(number, EOFError("the connection to the MCP server was closed"))

    def _about(self, message: Dict[str, Any]) -> Any:
        token = (message.get("params") or {}).get("progressToken")
        return token if token in self._waiting else list(self._waiting)[-1]


class _Stream:
    """A stream of another's, some of whose methods are ours."""

    def __init__(self, stream: Any, watch: Watch) -> None:
        self._stream = stream
        self._watch = watch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_reason: Any) -> None:
        await self._stream.aclose()


class _WatchedReads(_Stream):
    """What the server sends."""

    async def receive(self) -> Any:
        """Receive a message."""
        item = await self._stream.receive()
        self._watch.came(as_dict(item))
        return item

    def __aiter__(self) -> Any:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await self._stream.__anext__()
        except StopAsyncIteration:
            self._watch.over()
            raise
        self._watch.came(as_dict(item))
        return item

    def clone(self) -> Any:
        """Return another end of the same stream."""
        return _WatchedReads(self._stream.clone(), self._watch)


class _WatchedWrites(_Stream):
    """What the client sends."""

    async def send(self, item: Any) -> None:
        """Send a message."""
        message = as_dict(item)
        answer = self._watch.sent(message)
        try:
            with calls.running(answer):
                await self._stream.send(item)
        except BaseException as error:
            self._watch.failed(message.get("id"), error)
            raise

    def clone(self) -> Any:
        """Return another end of the same stream."""
        return _WatchedWrites(self._stream.clone(), self._watch)
