"""Streams: a generator passed on chunk by chunk, recorded as one event.

The relays are PEP 380's ``yield from``, spelled out so that each chunk is captured on its way: what the consumer sends,
throws or closes reaches the program's generator, whose ``finally`` runs when the consumer is done, once. The event is
written when the stream ends: ``exhausted``, ``failed``, or ``closed`` by its consumer; one still open when the recorder
closes, or never begun, is ``abandoned``. A cancellation of the consumer that ends a stream between two chunks, or while
it is being closed, closes it: the stream itself did not fail.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from time import perf_counter
from typing import Any, Literal, Protocol, TypeAlias

from stashdbg_core.calls import ABSENT, current_call
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.values import StreamRecord, encode_exception, exception_kind

Kind: TypeAlias = Literal["sync", "async"]
Ending: TypeAlias = Literal["exhausted", "closed", "failed", "abandoned"]


class Chunks:
    """What has been consumed of a stream so far, as private trees."""

    __slots__ = ("_capture", "_kind", "_limit", "_size", "_start", "_times", "_trees", "too_large")

    def __init__(self, kind: Kind, capture: Callable[[Any], Json], limit: int | None) -> None:
        self._kind: Kind = kind
        self._capture = capture
        self._limit = limit
        self._size = 0
        self._start = perf_counter()
        self._trees: list[Json] = []
        self._times: list[float] = []
        self.too_large = False
        """Whether the chunks outgrew ``limit`` bytes and are no longer kept."""

    def add(self, chunk: Any) -> None:
        """Capture a chunk as it passes."""
        if self.too_large:
            return
        tree = self._capture(chunk)
        if self._limit is not None:
            self._size += len(stored_form(tree))
            if self._size > self._limit:
                self.too_large = True
                self._trees.clear()
                self._times.clear()
                return
        self._trees.append(tree)
        self._times.append(round((perf_counter() - self._start) * 1000, 3))

    def tree(self, ending: Ending, error: BaseException | None = None, returned: Any = ABSENT) -> Json:
        """Return the whole stream as a tree, ended thus."""
        return StreamRecord(
            kind=self._kind,
            chunks=list(self._trees),
            times_ms=list(self._times),
            ending=ending,
            error=None if error is None else encode_exception(error),
            returned=None if returned is ABSENT or returned is None else self._capture(returned),
        ).to_tree()


class StreamCall(Protocol):
    """What a relay needs of a call."""

    seq: int | None

    def chunk(self, value: Any, /) -> None:
        """Capture a chunk."""
        ...

    def ended(self, ending: Ending, error: BaseException | None = None, returned: Any = ABSENT) -> None:
        """Record how the stream ended."""
        ...


def relay(begin: Callable[[], StreamCall], produce: Callable[[], Any]) -> Generator[Any, Any, Any]:
    """Pass a sync stream on; the call begins at the first ``next``."""
    call = begin()
    source = _within(call, _opened, produce)
    step: Callable[..., Any] = next
    arguments: tuple[Any, ...] = (source,)
    while True:
        try:
            chunk = _within(call, step, *arguments)
        except StopIteration as stop:
            call.ended("exhausted", returned=stop.value)
            return stop.value
        call.chunk(chunk)
        try:
            sent = yield chunk
        except GeneratorExit:
            _within(call, getattr(source, "close", _nothing))
            call.ended("closed")
            raise
        except BaseException as thrown:  # noqa: BLE001 - it goes to the program's generator
            step, arguments = getattr(source, "throw", _raise), (thrown,)
        else:
            step, arguments = (next, (source,)) if sent is None else (source.send, (sent,))


async def relay_async(begin: Callable[[], StreamCall], produce: Callable[[], Any]) -> AsyncGenerator[Any, Any]:
    """Pass an async stream on; the call begins at the first ``anext``."""
    call = begin()
    source = await _within_async(call, _opened_async, produce)
    step: Callable[..., Any] = source.__anext__
    arguments: tuple[Any, ...] = ()
    closing = False
    while True:
        try:
            chunk = await _within_async(call, step, *arguments, closing=closing)
        except StopAsyncIteration:
            call.ended("exhausted")
            return
        call.chunk(chunk)
        try:
            sent = yield chunk
        except GeneratorExit:
            await _within_async(call, getattr(source, "aclose", _nothing_async), closing=True)
            call.ended("closed")
            raise
        except BaseException as thrown:  # noqa: BLE001 - it goes to the program's generator
            step, arguments = getattr(source, "athrow", _raise_async), (thrown,)
            # asyncio cancels a pending ``aclose`` at the end of the loop: then this comes in place of GeneratorExit.
            closing = _is_cancellation(thrown)
        else:
            step, arguments = (source.__anext__, ()) if sent is None else (source.asend, (sent,))
            closing = False


def _within(call: StreamCall, step: Callable[..., Any], *arguments: Any) -> Any:
    """Run the program's side of a stream as part of its call; whatever it raises ends the stream."""
    outer = current_call.get()
    current_call.set(call.seq)
    try:
        return step(*arguments)
    except StopIteration:
        raise
    except BaseException as error:
        call.ended("failed", error)
        raise
    finally:
        current_call.set(outer)


async def _within_async(call: StreamCall, step: Callable[..., Any], *arguments: Any, closing: bool = False) -> Any:
    """Run the program's side of an async stream; while ``closing``, a cancellation ends it as its consumer wanted."""
    outer = current_call.get()
    current_call.set(call.seq)
    try:
        return await step(*arguments)
    except StopAsyncIteration:
        raise
    except BaseException as error:
        if closing and _is_cancellation(error):
            call.ended("closed")
        else:
            call.ended("failed", error)
        raise
    finally:
        current_call.set(outer)


def _is_cancellation(error: BaseException) -> bool:
    return exception_kind(encode_exception(error)) == "cancelled"


def _opened(produce: Callable[[], Any]) -> Any:
    try:
        return iter(produce())
    except StopIteration as stop:  # it would read as the stream's end, or turn into another error on the way
        raise RuntimeError("produce raised StopIteration") from stop


async def _opened_async(produce: Callable[[], Any]) -> Any:
    made = produce()
    if not hasattr(made, "__aiter__") and hasattr(made, "__await__"):
        made = await made
    return aiter(made)


def _nothing() -> None:
    return None


async def _nothing_async() -> None:
    return None


def _raise(error: BaseException) -> Any:
    raise error


async def _raise_async(error: BaseException) -> Any:
    raise error
