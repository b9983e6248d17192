"""The façade: one instrumentation, recorded or replayed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.record import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.stash import Stash, create_recorder, create_replayer, create_stash, load_stash


class Model:
    """Answers differently each time, and not at all twice."""

    def __init__(self, live: bool) -> None:
        self.live = live
        self.calls = 0

    def answer(self) -> dict[str, Any]:
        assert self.live, "the real service was called"
        self.calls += 1
        return {"text": f"answer {self.calls}", "usage": (1, 2)}

    async def answer_async(self) -> dict[str, Any]:
        return self.answer()

    def fail(self) -> int:
        assert self.live, "the real service was called"
        raise FileNotFoundError(2, "gone", "x.txt")

    def words(self) -> Iterator[str]:
        assert self.live, "the real service was called"
        yield from ("a", "b")

    async def words_async(self) -> AsyncIterator[str]:
        assert self.live, "the real service was called"
        for word in ("c", "d"):
            yield word


def agent(stash: Stash, model: Model) -> list[Any]:
    """A program that is instrumented once."""
    seen: list[Any] = [stash.intercept("llm", "plan", model.answer, input={"n": n}) for n in range(2)]
    try:
        stash.intercept("tool", "read", model.fail)
    except FileNotFoundError as error:
        seen.append((error.errno, error.filename, str(error)))
    seen.append(list(stash.stream("llm", "words", model.words)))
    seen.append(stash.value("random", "seed", 42 if model.live else 43))

    async def more() -> None:
        seen.append(await stash.intercept_async("llm", "later", model.answer_async))
        seen.append([word async for word in stash.stream_async("llm", "words", model.words_async)])

    asyncio.run(more())
    return seen


def test_a_replay_gives_the_program_what_the_recorded_run_gave_it(tmp_path: Path) -> None:
    with Stash.record(tmp_path / "run.json") as recording:
        recorded = agent(recording, Model(live=True))
    assert recording.mode == "record"
    assert recording.path == tmp_path / "run.json"
    sources = [recording.recording(), tmp_path / "run.json", str(tmp_path / "run.json"), recording.save()]
    sources.append(recording.save().encode())
    for source in sources:
        replay = load_stash(source)
        assert replay.mode == "replay"
        assert len(replay.remaining()) == 7
        assert agent(replay, Model(live=False)) == recorded
        assert (replay.consumed(), replay.remaining(), replay.divergences()) == (7, [], [])
        assert replay.report().matched == 7
        assert replay.recording().id == recording.recording().id


def test_create_stash_records_or_replays() -> None:
    recording = create_stash(id="r", redact=None)
    assert recording.intercept("a", "b", lambda: 1) == 1
    replay = create_stash(replay=recording.recording())
    assert replay.intercept("a", "b", lambda: 2) == 1
    assert isinstance(create_recorder(id="x"), Recorder)
    assert isinstance(create_replayer(recording.recording(), match="input"), Replayer)


def test_a_recording_stash_has_nothing_to_report() -> None:
    stash = create_stash()
    assert (stash.consumed(), stash.remaining(), stash.divergences()) == (0, [], [])
    assert stash.report().to_json()["divergences"] == []


def test_save_gives_text_or_writes_a_file(tmp_path: Path) -> None:
    stash = create_stash(id="r")
    stash.value("a", "b", 1)
    assert stash.save(tmp_path / "x.json") == tmp_path / "x.json"
    assert (tmp_path / "x.json").read_text() == stash.save()
    assert stash.save(tmp_path / "x.json") == tmp_path / "x-2.json"


def test_async_with_ends_the_recording_and_notes_the_error(tmp_path: Path) -> None:
    async def run() -> None:
        async with Stash.record(tmp_path / "run.json") as stash:
            stash.value("a", "b", 1)
            raise KeyError("k")

    with pytest.raises(KeyError):
        asyncio.run(run())
    kept = load_stash(tmp_path / "run.json").recording()
    assert kept.meta["exception"]["class"] == "builtins:KeyError"
    assert kept.complete


def test_text_that_is_no_recording_is_refused() -> None:
    with pytest.raises(StashError):
        load_stash('{"not": "a recording"}')
    with pytest.raises(StashError):
        load_stash("no-such-file.json")
