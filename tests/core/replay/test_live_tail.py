"""The live tail and re-recording; and that without it nothing real is ever called."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording


class Service:
    def __init__(self) -> None:
        self.calls = 0

    def ask(self, text: str) -> str:
        self.calls += 1
        return f"live {text}"


def program(tape: Any, service: Service, texts: list[str]) -> list[str]:
    return [tape.call("llm", "chat", lambda t=text: service.ask(t), input=text) for text in texts]


def test_replay_never_calls_the_service_and_leaves_the_file_alone(tmp_path: Path) -> None:
    recorder = Recorder()
    program(recorder, Service(), ["a", "b"])
    path = write_recording(recorder.recording(), tmp_path / "run.json")
    before = path.read_bytes(), path.stat().st_mtime_ns
    service = Service()
    for match in ("order", "input"):
        for collect in ("throw", "collect"):
            replayer = Replayer(open_recording(path), match=match, on_divergence=collect)
            with pytest.raises(StashError):
                program(replayer, service, ["a", "b", "c"])
    assert service.calls == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_the_tail_runs_live_and_is_counted() -> None:
    recorder = Recorder()
    program(recorder, Service(), ["a", "b"])
    for match in ("order", "input"):
        service = Service()
        replayer = Replayer(recorder.recording(), match=match, live_tail=True)
        assert program(replayer, service, ["a", "b", "c"]) == ["live a", "live b", "live c"]
        assert replayer.call("tool", "new", lambda: 5) == 5
        assert service.calls == 1
        assert (replayer.report().ok, replayer.report().live, replayer.report().matched) == (True, 2, 2)


def test_a_live_tail_still_checks_the_prefix_by_order() -> None:
    recorder = Recorder()
    program(recorder, Service(), ["a"])
    service = Service()
    with pytest.raises(StashError, match="the input is not that of seq 0"):
        program(Replayer(recorder.recording(), live_tail=True), service, ["x"])
    assert service.calls == 0


def test_prefix_and_tail_are_recorded_as_one_tape() -> None:
    def talk() -> Any:
        yield "one"
        yield "two"

    def whole(tape: Any, service: Service, texts: list[str]) -> list[Any]:
        out: list[Any] = [list(tape.stream("llm", "stream", talk))]
        return out + program(tape, service, texts)

    recorder = Recorder()
    whole(recorder, Service(), ["a"])
    again = Recorder()
    service = Service()
    replayer = Replayer(recorder.recording(), live_tail=True, record=again)
    assert whole(replayer, service, ["a", "b"]) == [["one", "two"], "live a", "live b"]
    tape = again.recording()
    assert replayer.report().to_json()["liveSeqs"] == [2]
    assert [(e.seq, e.channel, e.key, e.ordinal) for e in tape.events] == [
        (0, "llm", "stream", 0), (1, "llm", "chat", 0), (2, "llm", "chat", 1)
    ]  # fmt: skip
    old = recorder.recording().events
    assert [e.ref for e in tape.events][1:2] == [old[1].ref]
    assert whole(Replayer(tape), Service(), ["a", "b"]) == [["one", "two"], "live a", "live b"]


def test_live_streams_pass_through() -> None:
    async def talk() -> Any:
        got = yield 1
        yield got

    async def run() -> None:
        stream = Replayer(Recorder().recording(), live_tail=True).stream_async("llm", "s", talk)
        assert await anext(stream) == 1
        assert await stream.asend("sent") == "sent"
        await stream.aclose()

    asyncio.run(run())


def test_a_live_sync_call_refuses_an_awaitable() -> None:
    async def coroutine() -> int:
        return 1

    with pytest.raises(StashError, match="awaitable"):
        Replayer(Recorder().recording(), live_tail=True).call("tool", "t", coroutine)
