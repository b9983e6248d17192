"""Streams replayed: the same chunks, and the end they had."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer


def letters() -> Iterator[str]:
    yield "a"
    yield "b"
    yield "c"
    return 3


def broken() -> Iterator[str]:
    yield "a"
    yield "b"
    raise ValueError("boom")


async def letters_async() -> AsyncIterator[str]:
    for letter in "abc":
        yield letter


async def broken_async() -> AsyncIterator[str]:
    yield "a"
    raise ValueError("boom")


def never() -> Any:
    raise AssertionError("replay ran the real call")


def replayer_after(use: Any, produce: Any) -> Replayer:
    recorder = Recorder()
    use(recorder.stream("llm", "chat", produce, input="hi"))
    return Replayer(recorder.recording())


def replayed(replayer: Replayer) -> Any:
    return replayer.stream("llm", "chat", never, input="hi")


def returning(stream: Any) -> tuple[list[Any], Any]:
    chunks = []
    while True:
        try:
            chunks.append(next(stream))
        except StopIteration as stop:
            return chunks, stop.value


def test_an_exhausted_stream_ends_with_its_value() -> None:
    replayer = replayer_after(list, letters)
    assert returning(replayed(replayer)) == (["a", "b", "c"], 3)
    assert replayer.report().ok


def test_a_stream_that_failed_fails_there() -> None:
    def use(stream: Iterator[str]) -> None:
        with pytest.raises(ValueError, match="boom"):
            list(stream)

    stream = replayed(replayer_after(use, broken))
    assert [next(stream), next(stream)] == ["a", "b"]
    with pytest.raises(ValueError, match="boom"):
        next(stream)


def test_asking_for_more_than_a_closed_stream_gave_is_a_divergence() -> None:
    def use(stream: Any) -> None:
        next(stream), next(stream)
        stream.close()

    replayer = replayer_after(use, letters)
    stream = replayed(replayer)
    assert [next(stream), next(stream)] == ["a", "b"]
    with pytest.raises(StashError, match="closed by its consumer after 2 chunks, the program asks for more") as caught:
        next(stream)
    assert caught.value.code == ErrorCode.DIVERGENCE
    assert [d.kind for d in replayer.report().divergences] == ["extra-call"]


def test_leaving_earlier_is_fine_and_noted() -> None:
    replayer = replayer_after(list, letters)
    stream = replayed(replayer)
    next(stream)
    stream.close()
    report = replayer.report()
    assert report.ok
    assert "left after 1 of 3 chunks" in report.notes[0]


def patient() -> Iterator[str]:
    try:
        yield "a"
    except ValueError as error:
        yield f"caught {error}"
    yield "b"
    try:
        yield "c"
    except ValueError as error:
        raise KeyError("other") from error


def test_what_is_thrown_in_is_caught_where_it_was_when_recorded() -> None:
    def use(stream: Any) -> list[Any]:
        seen = [next(stream), stream.throw(ValueError("x")), next(stream), next(stream)]
        with pytest.raises(KeyError, match="other"):
            stream.throw(ValueError("y"))
        return seen

    replayer = replayer_after(use, patient)
    assert use(replayed(replayer)) == ["a", "caught x", "b", "c"]
    assert replayer.report().ok and not replayer.report().notes


def test_what_the_recorded_stream_let_through_is_raised_itself() -> None:
    def use(stream: Any) -> None:
        error = ValueError("mine")
        next(stream)
        with pytest.raises(ValueError, match="mine") as caught:
            stream.throw(error)
        assert caught.value is error

    use(replayed(replayer_after(use, letters)))
    use(replayed(replayer_after(lambda stream: (next(stream), stream.close()), letters)))  # no answer is known


def test_what_is_thrown_into_an_async_stream_is_caught_where_it_was() -> None:
    async def careful() -> AsyncIterator[str]:
        try:
            yield "a"
        except ValueError:
            yield "b"

    async def use(tape: Any, produce: Any) -> list[str]:
        stream = tape.stream_async("llm", "chat", produce, input="hi")
        return [await anext(stream), await stream.athrow(ValueError("x")), *[chunk async for chunk in stream]]

    async def both() -> None:
        recorder = Recorder()
        assert await use(recorder, careful) == ["a", "b"]
        assert await use(Replayer(recorder.recording()), never) == ["a", "b"]

    asyncio.run(both())


def test_a_stream_takes_its_place_at_the_first_chunk() -> None:
    replayer = replayer_after(list, letters)
    replayed(replayer)
    assert list(replayed(replayer)) == ["a", "b", "c"]


def test_async_streams() -> None:
    async def run(tape: Any, produce: Any) -> list[str]:
        return [chunk async for chunk in tape.stream_async("llm", "chat", produce, input="hi")]

    async def both() -> None:
        recorder = Recorder()
        assert await run(recorder, letters_async) == ["a", "b", "c"]
        with pytest.raises(ValueError, match="boom"):
            await run(recorder, broken_async)
        replayer = Replayer(recorder.recording())
        assert await run(replayer, never) == ["a", "b", "c"]
        stream = replayer.stream_async("llm", "chat", never, input="hi")
        assert await anext(stream) == "a"
        with pytest.raises(ValueError, match="boom"):
            await anext(stream)
        assert replayer.report().ok

    asyncio.run(both())


def test_an_intercepted_generator_is_a_stream_on_replay_too() -> None:
    recorder = Recorder()
    assert list(recorder.call("llm", "chat", letters)) == ["a", "b", "c"]
    assert list(Replayer(recorder.recording()).call("llm", "chat", never)) == ["a", "b", "c"]


def test_a_value_asked_for_as_a_stream_and_the_wrong_kind_of_stream_are_divergences() -> None:
    recorder = Recorder()
    recorder.call("llm", "chat", lambda: 1)
    with pytest.raises(StashError, match="recorded as a plain value, asked for as a sync stream"):
        next(Replayer(recorder.recording()).stream("llm", "chat", never))

    async def ask(replayer: Replayer) -> None:
        async for _ in replayer.stream_async("llm", "chat", never, input="hi"):
            break

    with pytest.raises(StashError, match="recorded as a sync stream, asked for as an async stream"):
        asyncio.run(ask(replayer_after(list, letters)))
