"""What a type checker must infer where a tape may be recorded or replayed; never run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_type

from stashdbg_core.calls import Tape
from stashdbg_core.record import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.stash import Stash, create_stash


def both(recorder: Recorder, replayer: Replayer) -> list[Tape]:
    return [recorder, replayer]


async def later() -> str:
    return ""


def words() -> Iterator[bytes]:
    yield b""


async def run(stash: Stash) -> None:
    assert_type(stash.intercept("a", "b", lambda: 3, input=1, label="x"), int)
    assert_type(await stash.intercept_async("a", "b", later), str)
    assert_type(await stash.intercept_async("a", "b", lambda: 2.5), float)
    assert_type(stash.value("a", "b", (1, "x")), tuple[int, str])
    for word in stash.stream("a", "b", words):
        assert_type(word, bytes)

    @stash.wrapped("tool")
    def search(text: str, *, limit: int = 3) -> list[str]:
        return [text]

    assert_type(search("x", limit=2), list[str])
    with Stash.record("x.json", max_events=3) as recording:
        assert_type(recording, Stash)
    create_stash(replay="run.json", match="input")
