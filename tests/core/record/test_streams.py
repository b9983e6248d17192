"""Streams pass chunk by chunk, end as they would have ended, and are one event each."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest


class Source:
    """A generator that writes down what happens to it."""

    def __init__(self) -> None:
        self.log: list[Any] = []

    def sync(self, count: int = 3, fail_at: int | None = None) -> Generator[Any, Any, str]:
        try:
            for number in range(count):
                if number == fail_at:
                    raise ValueError("midway")
                try:
                    self.log.append(("sent", (yield {"n": number})))
                except KeyError as error:
                    self.log.append(("thrown", error))
            return "done"
        finally:
            self.log.append("finally")

    async def asynchronous(self, count: int = 3, fail_at: int | None = None) -> AsyncGenerator[Any, Any]:
        try:
            for number in range(count):
                if number == fail_at:
                    raise ValueError("midway")
                await asyncio.sleep(0)
                try:
                    self.log.append(("sent", (yield {"n": number})))
                except KeyError as error:
                    self.log.append(("thrown", error))
        finally:
            self.log.append("finally")


def _stream(tree: dict[str, Any]) -> tuple[list[Any], str]:
    assert tree["$stash"] == "stream"
    assert len(tree["times"]) == len(tree["chunks"])
    return tree["chunks"], tree["ending"]


def test_chunks_pass_one_by_one_as_they_are_produced(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    stream = tape.stream("llm", "chat", source.sync, input="hi")
    assert source.log == []
    first = next(stream)
    assert source.log == []
    assert (first, next(stream)) == ({"n": 0}, {"n": 1})
    assert source.log == [("sent", None)]
    assert list(stream) == [{"n": 2}]
    seen = read(tape)
    assert [_stream(tree) for tree in seen.trees] == [([{"n": 0}, {"n": 1}, {"n": 2}], "exhausted")]
    assert seen.trees[0]["returned"] == "done"
    assert seen.inputs == ["hi"]


def test_send_throw_and_return_value_go_through(make: Any) -> None:
    tape, source, error = make(), Source(), KeyError("k")

    def consume() -> Generator[Any, Any, Any]:
        return (yield from tape.stream("llm", "chat", source.sync))

    stream = consume()
    next(stream)
    stream.send("hello")
    stream.throw(error)
    with pytest.raises(StopIteration) as stop:
        next(stream)
    assert stop.value.value == "done"
    assert source.log == [("sent", "hello"), ("thrown", error), ("sent", None), "finally"]


def test_closing_the_stream_closes_the_programs_generator_once(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    stream = tape.stream("llm", "chat", source.sync)
    next(stream)
    stream.close()
    stream.close()
    assert source.log == ["finally"]
    seen = read(tape)
    assert _stream(seen.trees[0]) == ([{"n": 0}], "closed")
    assert seen.events[0].outcome == "return"


def test_a_stream_left_by_break_is_closed_and_recorded(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    for _ in tape.stream("llm", "chat", source.sync):
        break
    gc.collect()
    assert source.log == ["finally"]
    assert _stream(read(tape).trees[0]) == ([{"n": 0}], "closed")


def test_an_error_midway_keeps_the_chunks_and_the_error(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    got: list[Any] = []
    with pytest.raises(ValueError, match="midway"):
        got.extend(tape.stream("llm", "chat", lambda: source.sync(3, 2)))
    assert got == [{"n": 0}, {"n": 1}]
    seen = read(tape)
    assert _stream(seen.trees[0]) == (got, "failed")
    assert seen.trees[0]["error"]["args"] == ["midway"]
    assert seen.events[0].outcome == "throw"


def test_an_error_thrown_in_and_not_caught_ends_the_stream_as_failed(make: Any, read: Any) -> None:
    tape, source, error = make(), Source(), OSError("gone")
    stream = tape.stream("llm", "chat", source.sync)
    next(stream)
    with pytest.raises(OSError, match="gone") as caught:
        stream.throw(error)
    assert caught.value is error
    assert _stream(read(tape).trees[0])[1] == "failed"


def test_a_stream_never_asked_is_no_event(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    stream = tape.stream("llm", "chat", source.sync)
    stream.close()
    assert read(tape).events == []
    assert source.log == []


def test_a_stream_still_open_is_on_the_tape_as_abandoned_with_what_it_gave(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    stream = tape.stream("llm", "chat", source.sync)
    next(stream)
    assert _stream(read(tape).trees[0]) == ([{"n": 0}], "abandoned")
    assert list(stream) == [{"n": 1}, {"n": 2}]
    assert _stream(read(tape).trees[0])[1] == "exhausted"


def test_chunks_changed_by_their_consumer_stay_on_the_tape_as_they_passed(make: Any, read: Any) -> None:
    tape = make()
    for chunk in tape.stream("llm", "chat", lambda: ({"n": [n]} for n in range(2))):
        chunk["n"].append("changed")
    assert _stream(read(tape).trees[0])[0] == [{"n": [0]}, {"n": [1]}]


def test_a_call_that_returns_a_generator_is_a_stream(make: Any, read: Any) -> None:
    tape, source = make(), Source()
    started = tape.call("llm", "chat", source.sync)
    never = tape.call("llm", "chat", source.sync)
    assert next(started) == {"n": 0}
    started.close()
    del never
    assert [_stream(tree) for tree in read(tape).trees] == [([{"n": 0}], "closed"), ([], "abandoned")]


def test_any_iterable_can_be_streamed(make: Any, read: Any) -> None:
    tape = make()
    assert list(tape.stream("file", "lines", lambda: ["a", "b"])) == ["a", "b"]
    with pytest.raises(TypeError):
        next(tape.stream("file", "lines", lambda: 3))
    assert [_stream(tree) for tree in read(tape).trees] == [(["a", "b"], "exhausted"), ([], "failed")]


def test_async_streams_pass_close_fail_and_resume_alike(make: Any, read: Any) -> None:
    tape, error = make(), KeyError("k")

    async def run() -> list[Any]:
        whole, closed, failed, driven = Source(), Source(), Source(), Source()
        got = [c async for c in tape.stream_async("llm", "whole", whole.asynchronous)]
        stream = tape.stream_async("llm", "closed", closed.asynchronous)
        await anext(stream)
        await stream.aclose()
        with pytest.raises(ValueError, match="midway"):
            async for _ in tape.stream_async("llm", "failed", lambda: failed.asynchronous(3, 1)):
                pass
        stream = tape.stream_async("llm", "driven", driven.asynchronous)
        await anext(stream)
        await stream.asend("hello")
        await stream.athrow(error)
        await stream.aclose()
        assert driven.log == [("sent", "hello"), ("thrown", error), "finally"]
        assert closed.log == ["finally"]
        return got

    assert asyncio.run(run()) == [{"n": 0}, {"n": 1}, {"n": 2}]
    endings = {event.key: _stream(tree) for event, tree in zip(read(tape).events, read(tape).trees, strict=True)}
    assert {key: (len(chunks), ending) for key, (chunks, ending) in endings.items()} == {
        "whole": (3, "exhausted"),
        "closed": (1, "closed"),
        "failed": (1, "failed"),
        "driven": (3, "closed"),
    }


def test_an_async_stream_in_a_cancelled_task_is_recorded(make: Any, read: Any) -> None:
    tape, source = make(), Source()

    async def run() -> None:
        async def consume() -> None:
            async for _ in tape.stream_async("llm", "chat", source.asynchronous):
                await asyncio.Event().wait()

        task = asyncio.create_task(consume())
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert source.log == ["finally"]
    assert _stream(read(tape).trees[0]) == ([{"n": 0}], "closed")


def test_an_async_stream_left_by_break_at_the_end_of_the_loop_is_closed(make: Any, read: Any) -> None:
    tape, source, bare = make(), Source(), Source()
    cancelled: list[BaseException] = []

    async def noting(chunks: AsyncGenerator[Any, Any]) -> AsyncGenerator[Any, Any]:
        try:
            async for chunk in chunks:
                yield chunk
        except BaseException as error:
            cancelled.append(error)
            raise

    async def run(stream: Any) -> None:
        async for _ in stream:
            break

    asyncio.run(run(noting(bare.asynchronous())))
    asyncio.run(run(tape.stream_async("llm", "chat", lambda: noting(source.asynchronous()))))
    assert source.log == bare.log == ["finally"]
    assert type(cancelled[0]) is type(cancelled[1])
    seen = read(tape)
    assert _stream(seen.trees[0]) == ([{"n": 0}], "closed")
    assert (seen.events[0].outcome, seen.trees[0].get("error")) == ("return", None)


def test_an_async_stream_whose_closing_is_cancelled_is_closed(make: Any, read: Any) -> None:
    tape = make()

    async def slow_to_close() -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            await asyncio.Event().wait()

    async def run() -> None:
        stream = tape.stream_async("llm", "chat", slow_to_close)
        await anext(stream)
        closing = asyncio.ensure_future(stream.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing

    asyncio.run(run())
    assert _stream(read(tape).trees[0]) == ([1], "closed")


def test_an_async_stream_that_fails_when_cancelled_or_waits_for_a_chunk_is_failed(make: Any, read: Any) -> None:
    tape = make()

    async def fails() -> AsyncGenerator[int, None]:
        try:
            yield 1
        finally:
            raise ValueError("while closing")

    async def waits() -> AsyncGenerator[int, None]:
        yield 1
        await asyncio.Event().wait()

    async def run() -> None:
        stream = tape.stream_async("llm", "fails", fails)
        await anext(stream)
        with pytest.raises(ValueError, match="while closing"):
            await stream.athrow(asyncio.CancelledError())
        stream = tape.stream_async("llm", "waits", waits)
        await anext(stream)
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    assert [_stream(tree) for tree in read(tape).trees] == [([1], "failed"), ([1], "failed")]


def test_an_awaitable_of_an_async_stream_is_awaited_first(make: Any) -> None:
    tape, source = make(), Source()

    async def connect() -> Any:
        return source.asynchronous(1)

    async def run() -> list[Any]:
        asked = [c async for c in tape.stream_async("llm", "chat", connect)]
        given = await tape.call_async("llm", "chat", connect)
        return [*asked, *[c async for c in given]]

    assert asyncio.run(run()) == [{"n": 0}, {"n": 0}]


def test_calls_made_while_a_stream_runs_name_it_as_parent(make: Any, read: Any) -> None:
    tape = make()

    def chunks() -> Generator[int, None, None]:
        yield tape.call("tool", "inside", lambda: 1)

    for _ in tape.stream("llm", "chat", chunks):
        tape.call("tool", "beside", lambda: 2)
    assert [(e.key, e.parent) for e in read(tape).events] == [("chat", None), ("inside", 0), ("beside", None)]
