"""Connections of aiohttp that lead nowhere and give a served response."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any, List

from .exchanges import Served, wait_to_be_cancelled, waited_ms


async def fail(served: Served, module: Any) -> None:
    """Raise what a request raised, or wait to be cancelled as it was."""
    waited = waited_ms(served.error)
    if waited is not None:
        await wait_to_be_cancelled(waited)
    raise served.exception(module)


class _Nowhere:
    """In place of the transport of a connection whose response is served."""

    def __init__(self) -> None:
        self._closing = False

    def write(self, _data: Any) -> None:
        return None

    def writelines(self, _parts: Any) -> None:
        return None

    def close(self) -> None:
        self._closing = True

    abort = close

    def is_closing(self) -> bool:
        return self._closing

    def get_extra_info(self, _name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        return None

    resume_reading = pause_reading


def served_connection(connector: Any, req: Any, served: Served, module: Any) -> Any:
    """Return a connection from which the response is read, and nothing else ever."""
    loop = asyncio.get_running_loop()
    protocol = _protocol_class(module.client_proto)(loop=loop)
    protocol.connection_made(_Nowhere())
    protocol.force_close()
    protocol.serve(served, module, None if served.error is not None else _payload(protocol, loop, served, module))
    return module.connector.Connection(connector, req.connection_key, protocol, loop)


_protocols: List[Any] = []


def _protocol_class(client_proto: Any) -> Any:
    """Make the protocol of served responses: it parses nothing, its one response is there."""
    if not _protocols:

        class ServedProtocol(client_proto.ResponseHandler):  # type: ignore[misc]
            def set_response_params(self, **_params: Any) -> None:
                return None

            def start_timeout(self) -> None:
                return None

            def pause_reading(self) -> None:
                return None

            def resume_reading(self, *_args: Any, **_more: Any) -> None:
                return None

            def serve(self, served: Served, module: Any, payload: Any) -> None:
                self._served = served, module, payload

            async def read(self) -> Any:
                served, module, payload = self._served
                await asyncio.sleep(0)  # the task that writes the request has its turn first
                if served.error is not None:
                    await fail(served, module)
                return _message(served, module), payload

        _protocols.append(ServedProtocol)
    return _protocols[0]


def _payload(protocol: Any, loop: Any, served: Served, module: Any) -> Any:
    """Return the reader of a body: one that has it all, or gives the next chunk when the last was taken."""
    chunks = served.chunks if served.has_body else []
    if served.ending == "complete" and not (served.is_stream and chunks):
        reader = module.streams.StreamReader(protocol, 2**16, loop=loop)
        for chunk in chunks:
            reader.feed_data(chunk)
        reader.feed_eof()
        return reader
    reader = _served_reader(module.streams)(protocol, 2**16, loop=loop)
    left = iter(chunks)

    async def more() -> None:
        for chunk in left:
            reader.feed_data(chunk)
            if served.ending == "complete" and chunk is chunks[-1]:
                reader.feed_eof()
            return
        waited = waited_ms(served.failure)
        if waited is not None:
            await wait_to_be_cancelled(waited)
        error = served.broken_off(module)
        if error is not None:
            raise error
        reader.feed_eof()

    protocol.__dict__["_stash_more"] = more
    return reader


_readers: List[Any] = []


def _served_reader(streams: Any) -> Any:
    """Make the reader of served responses: it takes the next chunk when its consumer has taken the last."""
    if not _readers:

        class ServedReader(streams.StreamReader):  # type: ignore[misc]
            async def _wait(self, _name: str) -> None:
                await self._protocol.__dict__["_stash_more"]()

        _readers.append(ServedReader)
    return _readers[0]


def _message(served: Served, module: Any) -> Any:
    multidict = import_module("multidict")
    headers = multidict.CIMultiDictProxy(multidict.CIMultiDict(served.headers))
    raw = tuple((name.encode("utf-8"), value.encode("utf-8", "surrogateescape")) for name, value in served.headers)
    major, _, minor = served.version.rpartition("/")[2].partition(".")
    version = module.HttpVersion(int(major or 1), int(minor or 0))
    return module.http_parser.RawResponseMessage(
        version, served.status, served.reason, headers, raw, False, None, False, False
    )
