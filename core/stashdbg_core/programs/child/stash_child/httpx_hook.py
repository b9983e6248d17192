"""httpx and httpx2 recorded and served at their HTTP transports, where every exchange on the wire passes.

So redirects, auth flows, event hooks, cookies and the retries of whoever stands above work as without us, and a
program's own transports (mocks, ASGI and WSGI applications) never come here.
"""

from __future__ import annotations

import functools
from typing import Any, AsyncIterator, Callable, Iterator, List, Tuple

from . import calls
from .exchanges import Exchange, Served, ask, pieces_of, skipped, wait_to_be_cancelled, waited_ms


def patch(module: Any) -> None:
    """Hook the two HTTP transports of httpx or httpx2."""
    streams = _Streams(module)
    plain, awaited = module.HTTPTransport, module.AsyncHTTPTransport
    plain.handle_request = _handle_request(plain.handle_request, module, streams)
    awaited.handle_async_request = _handle_async_request(awaited.handle_async_request, module, streams)


def _handle_request(original: Callable[..., Any], module: Any, streams: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    def handle_request(self: Any, request: Any) -> Any:
        if skipped():
            return original(self, request)
        content = _content(request)
        if content is None:
            parts = [bytes(part) for part in request.stream]
            content, request = b"".join(parts), _with_parts(request, parts, streams)
        asked = ask(request.method, str(request.url), _pairs(request.headers), content)
        if isinstance(asked, Served):
            if asked.error is not None:
                raise asked.exception(*_modules(module))
            return _response(asked, module, streams)
        try:
            with calls.running(asked.answer):
                response = original(self, request)
        except BaseException as error:
            asked.threw(error)
            raise
        return _watched(response, asked, streams)

    return handle_request


def _handle_async_request(original: Callable[..., Any], module: Any, streams: Any) -> Callable[..., Any]:
    @functools.wraps(original)
    async def handle_async_request(self: Any, request: Any) -> Any:
        if skipped():
            return await original(self, request)
        content = _content(request)
        if content is None:
            parts = [bytes(part) async for part in request.stream]
            content, request = b"".join(parts), _with_parts(request, parts, streams)
        asked = ask(request.method, str(request.url), _pairs(request.headers), content)
        if isinstance(asked, Served):
            waited = waited_ms(asked.error)
            if waited is not None:
                await wait_to_be_cancelled(waited)
            if asked.error is not None:
                raise asked.exception(*_modules(module))
            return _response(asked, module, streams)
        try:
            with calls.running(asked.answer):
                response = await original(self, request)
        except BaseException as error:
            asked.threw(error)
            raise
        return _watched(response, asked, streams)

    return handle_async_request


def _modules(module: Any) -> Tuple[Any, ...]:
    """Return whose exceptions are raised again: those of httpx, and of what it stands on, which are their causes."""
    return module, "httpcore", "httpcore2", "anyio", "h11", "h2"


def _content(request: Any) -> Any:
    """Return a request's body if it is in memory, or None."""
    return getattr(request, "_content", None)


def _with_parts(request: Any, parts: List[bytes], streams: Any) -> Any:
    """Return a request that sends what was read of another's body, whose own stream is used up as after sending."""
    copied = object.__new__(type(request))
    copied.__dict__.update(request.__dict__)
    copied.stream = streams.Parts(parts)
    return copied


def _pairs(headers: Any) -> List[Tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw]


def _watched(response: Any, exchange: Exchange, streams: Any) -> Any:
    reason = response.extensions.get("reason_phrase")
    version = response.extensions.get("http_version")
    exchange.head(
        response.status_code,
        _pairs(response.headers),
        reason.decode("latin-1") if isinstance(reason, bytes) and version != b"HTTP/2" else None,
        version.decode("latin-1") if isinstance(version, bytes) else None,
    )
    response.stream = streams.Watched(response.stream, exchange)
    return response


def _response(served: Served, module: Any, streams: Any) -> Any:
    extensions = {"http_version": served.version.encode("latin-1", "replace")}
    if served.version != "HTTP/2":
        extensions["reason_phrase"] = served.reason.encode("latin-1", "replace")
    headers = [
        (name.encode("latin-1", "replace"), value.encode("latin-1", "replace")) for name, value in served.headers
    ]
    return module.Response(
        served.status, headers=headers, stream=streams.FromRecording(served, module), extensions=extensions
    )


class _Streams:
    """The streams of one library, each of both of its kinds: bodies that are sent, watched and served."""

    def __init__(self, module: Any) -> None:
        kinds = (module.SyncByteStream, module.AsyncByteStream)
        self.Parts = type("Parts", (_Parts, *kinds), {})
        self.Watched = type("Watched", (_Watched, *kinds), {})
        self.FromRecording = type("FromRecording", (_FromRecording, *kinds), {})


class _Parts:
    """A request's body that was read already."""

    def __init__(self, parts: List[bytes]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            yield part


class _Watched:
    """A response's body that goes to an exchange as the program reads it."""

    def __init__(self, stream: Any, exchange: Exchange) -> None:
        self._stream = stream
        self._exchange = exchange

    def __iter__(self) -> Iterator[bytes]:
        try:
            for part in self._stream:
                self._exchange.data(part)
                yield part
        except GeneratorExit:
            raise
        except BaseException as error:
            self._exchange.failed(error)
            raise
        self._exchange.complete()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream = self._stream.__aiter__()
        try:
            async for part in stream:
                self._exchange.data(part)
                yield part
        except GeneratorExit:
            if hasattr(stream, "aclose"):  # now, and not when it is collected
                await stream.aclose()
            raise
        except BaseException as error:
            self._exchange.failed(error)
            raise
        self._exchange.complete()

    def close(self) -> None:
        try:
            self._stream.close()
        finally:
            self._exchange.closed()

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            self._exchange.closed()


class _FromRecording:
    """A served response's body."""

    def __init__(self, served: Served, module: Any) -> None:
        self._served = served
        self._modules = _modules(module)

    def __iter__(self) -> Iterator[bytes]:
        return pieces_of(self._served, *self._modules)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._served.chunks:
            yield piece
        waited = waited_ms(self._served.failure)
        if waited is not None:
            await wait_to_be_cancelled(waited)
        error = self._served.broken_off(*self._modules)
        if error is not None:
            raise error
