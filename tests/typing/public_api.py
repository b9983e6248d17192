"""What a type checker must infer of the public API; checked by ``tests/test_typing.py``, never run.

Every ``type: ignore`` here is needed: a wrong use that became acceptable would fail the check.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, assert_type

from stashdbg import (
    DROP,
    DivergenceReport,
    RecordedEvent,
    Recorder,
    Recording,
    RedactContext,
    Replayer,
    SeededRandom,
    Stash,
    TypeRegistry,
    create_deterministic_clock,
    create_recorder,
    create_replayer,
    create_seeded_random,
    create_stash,
    load_stash,
    open_recording,
    wrap,
    wrapped,
)


@dataclass
class Order:
    total: int


async def fetch() -> str:
    return ""


def words() -> Iterator[bytes]:
    yield b""


async def words_async() -> AsyncIterator[Order]:
    yield Order(1)


def calls(stash: Stash) -> None:
    assert_type(stash.intercept("tool", "t", lambda: 3), int)
    assert_type(stash.intercept("tool", "t", lambda: Order(1), input={"a": 1}, label="x", returns=Order), Order)
    assert_type(stash.value("tool", "t", (1, "x")), tuple[int, str])
    assert_type(stash.stream("llm", "s", words), Generator[bytes, Any, Any])
    assert_type(stash.stream_async("llm", "s", words_async), AsyncGenerator[Order, Any])
    stash.intercept("tool", "t", 3)  # type: ignore[arg-type]
    stash.intercept("tool", "t", lambda: 3, inputs=1)  # type: ignore[call-arg]
    stash.intercept(1, "t", lambda: 3)  # type: ignore[arg-type]


async def async_calls(stash: Stash) -> None:
    assert_type(await stash.intercept_async("tool", "t", fetch), str)
    assert_type(await stash.intercept_async("tool", "t", lambda: 2.5), float)
    async for chunk in stash.stream_async("llm", "s", words_async):
        assert_type(chunk, Order)
    async with Stash.record("run.json") as recording:
        assert_type(recording, Stash)


def wrapping(stash: Stash, recorder: Recorder, replayer: Replayer) -> None:
    def search(text: str, *, limit: int = 3) -> list[str]:
        return [text]

    @stash.wrapped("tool")
    def plain(text: str, *, limit: int = 3) -> list[str]:
        return [text]

    @wrapped(recorder, "tool", "later")
    async def later(number: int) -> Order:
        return Order(number)

    assert_type(wrap(replayer, "tool", None, search)("x", limit=2), list[str])
    assert_type(plain("x", limit=2), list[str])
    assert [assert_type(later(1), Coroutine[Any, Any, Order])]
    plain(1)  # type: ignore[arg-type]
    plain("x", size=2)  # type: ignore[call-arg]
    wrap(stash, "tool", "t", search)(limit=2)  # type: ignore[call-arg]


def around(stash: Stash, recording: Recording) -> None:
    assert_type(stash.save(), str)
    assert_type(stash.save("run.json"), Path)
    assert_type(stash.recording(), Recording)
    assert_type(stash.remaining(), list[RecordedEvent])
    assert_type(stash.report(), DivergenceReport)
    assert_type(create_stash(replay=recording, match="input"), Stash)
    assert_type(load_stash(b"{}", on_divergence="collect"), Stash)
    assert_type(create_recorder(max_events=3), Recorder)
    assert_type(create_replayer(open_recording("run.json")), Replayer)
    assert_type(create_deterministic_clock(stash).time(), float)
    assert_type(create_deterministic_clock(stash).now(), datetime)
    assert_type(create_seeded_random(stash), SeededRandom)
    assert_type(create_seeded_random(stash).random(), float)
    load_stash("run.json", match="inputs")  # type: ignore[arg-type]
    create_stash(matches="input")  # type: ignore[call-overload]


def hide(value: Any, context: RedactContext) -> Any:
    return DROP if context.kind == "input" else value


def options(types: TypeRegistry) -> Callable[[], Stash]:
    @types.register
    class Mine:
        size: int = 3

    assert_type(Mine().size, int)
    return lambda: Stash.record("run.json", redact=hide, types=types, strict=True, meta={"by": "me"}, force=True)
