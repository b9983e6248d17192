"""An MCP client that is served: its transport is not opened, unless a run goes live in mid-conversation."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import Any, AsyncIterator, Callable, Dict, List, Optional

from . import calls
from .exchanges import wait_to_be_cancelled, waited_ms
from .mcp_messages import HANDSHAKE, Server, as_dict, as_item, begin, error_of, renumbered
from .mcp_recorded import Watch


@contextlib.asynccontextmanager
async def replayed(open_it: Callable[[], Any], server: Server, how_many: int) -> AsyncIterator[Any]:
    """Serve a client without its server; open the transport if a request is to be really sent."""
    anyio = import_module("anyio")
    into, reads = anyio.create_memory_object_stream(float("inf"))
    stand_in = _StandIn(server, into)
    async with anyio.create_task_group() as group:
        if calls.mode() == "continue":
            group.start_soon(stand_in.run_live, open_it)
        try:
            yield (reads, stand_in, lambda: None)[:how_many]
        finally:
            stand_in.finished.set()
            await into.aclose()
            await reads.aclose()
            stand_in.watch.over()
            if not stand_in.is_live:
                group.cancel_scope.cancel()


class _StandIn:
    """In place of a transport: takes what the client sends, and answers from the recording."""

    def __init__(self, server: Server, into: Any) -> None:
        self.watch = Watch(server)
        self.is_live = False
        self._anyio = anyio = import_module("anyio")
        self.finished = anyio.Event()
        self._server = server
        self._into = into
        self._handshake: List[Dict[str, Any]] = []
        self._left: List[Dict[str, Any]] = []
        self._waits_for: Any = None
        self._go = anyio.Event()
        self._live: Any = None
        self._live_failed: Optional[BaseException] = None

    async def send(self, item: Any) -> None:
        """Take a message of the client."""
        message = as_dict(item)
        if "method" not in message:
            if self._waits_for is not None and message.get("id") == self._waits_for:
                self._waits_for = None
                self._deliver()
            elif self._live is not None:
                await self._live.send(item)
            return
        if message.get("id") is None:
            if message["method"] == "notifications/initialized":
                self._handshake.append(message)
            if self._live is not None:
                await self._live.send(item)
            return
        await self._request(item, message)

    async def _request(self, item: Any, message: Dict[str, Any]) -> None:
        answer = begin(self._server, message)
        if message["method"] in HANDSHAKE:
            self._handshake.append(message)
        if answer.run:
            self.watch.wait(message, answer)
            with calls.running(answer):
                await self._send_live(item, message)
            return
        waited = waited_ms(answer.value) if answer.outcome == "throw" else None
        if waited is not None:
            await wait_to_be_cancelled(waited)
        self._answered(message, answer)

    def _answered(self, request: Dict[str, Any], answer: Any) -> None:
        number = request["id"]
        tree = answer.value
        if answer.outcome == "throw":
            if isinstance(tree, dict) and tree.get("class") == "builtins:EOFError":
                self._into.close()
                return
            self._left.append({"jsonrpc": "2.0", "id": number, "error": error_of(tree)})
        else:
            if isinstance(tree, dict) and set(tree) == {"messages", "result"}:
                self._left += [renumbered(calls.untree(one), request) for one in tree["messages"]]
                tree = tree["result"]
            result = calls.untree(tree)
            if request["method"] in HANDSHAKE:
                self._server.introduced(result)
            self._left.append({"jsonrpc": "2.0", "id": number, "result": result})
        self._deliver()

    def _deliver(self) -> None:
        """Pass on what the server sent, up to a request of its own that the client has to answer first."""
        while self._left and self._waits_for is None:
            message = self._left.pop(0)
            if "method" in message and message.get("id") is not None:
                self._waits_for = message["id"]
            self._into.send_nowait(as_item(message))

    async def _send_live(self, item: Any, message: Dict[str, Any]) -> None:
        self._go.set()
        while self._live is None and self._live_failed is None:
            await self._anyio.sleep(0.005)
        if self._live_failed is not None:
            self.watch.failed(message["id"], self._live_failed)
            self._into.close()
            return
        await self._live.send(item)

    async def run_live(self, open_it: Callable[[], Any]) -> None:
        """Open the transport once a request is to be sent, do the handshake again, and pass messages on."""
        await self._go.wait()
        self.is_live = True
        try:
            with calls.running(None):
                async with open_it() as streams:
                    await self._greet(streams[0], streams[1])
                    await self._pass_on(streams[0], streams[1])
        except BaseException as error:
            self._live_failed = error
            self.watch.over()
            if not isinstance(error, Exception):
                raise

    async def _greet(self, reads: Any, writes: Any) -> None:
        """Send what the client said before, and drop the answers, which it has."""
        for message in [one for one in self._handshake if not self.watch.waits_for(one.get("id"))]:
            await writes.send(as_item(message))
            while message.get("id") is not None:
                came = as_dict(await reads.receive())
                if came.get("id") == message["id"] and "method" not in came:
                    break

    async def _pass_on(self, reads: Any, writes: Any) -> None:
        async with self._anyio.create_task_group() as group:

            async def stop() -> None:
                await self.finished.wait()
                group.cancel_scope.cancel()

            group.start_soon(stop)
            self._live = writes
            async for item in reads:
                self.watch.came(as_dict(item))
                await self._into.send(item)
            self.watch.over()
            self._into.close()

    def close(self) -> None:
        """Close it: nothing was opened."""

    async def aclose(self) -> None:
        """Close it: nothing was opened."""

    def clone(self) -> Any:
        """Return the same."""
        return self

    async def __aenter__(self) -> Any:
        return self

    async def __aexit__(self, *_reason: Any) -> None:
        return None
