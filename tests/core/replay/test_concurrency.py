"""Parallel calls of one key: every caller gets its own answer, whatever finished first."""

from __future__ import annotations

import asyncio
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer

REPETITIONS = 200
CALLERS = 32


def in_threads(tape: Any, order: list[int], gate: threading.Barrier | None = None) -> dict[int, Any]:
    """Make ``CALLERS`` calls at once; with a gate, every call is under way before the first one ends."""

    def ask(number: int) -> Any:
        def produce() -> dict[str, int]:
            if gate is not None:
                gate.wait()
            return {"answer": number}

        return tape.call("tool", "search", produce, input={"q": number})

    with ThreadPoolExecutor(CALLERS) as pool:
        return dict(zip(order, pool.map(ask, order), strict=True))


async def in_tasks(tape: Any, order: list[int], turns: dict[int, int]) -> dict[int, Any]:
    """Make ``CALLERS`` calls at once; ``turns`` says how many turns of the loop each takes."""

    async def ask(number: int) -> Any:
        async def produce() -> dict[str, int]:
            for _ in range(turns[number]):
                await asyncio.sleep(0)
            return {"answer": number}

        return await tape.call_async("tool", "search", produce, input={"q": number})

    return dict(zip(order, await asyncio.gather(*(ask(number) for number in order)), strict=True))


def own_answers() -> dict[int, Any]:
    return {number: {"answer": number} for number in range(CALLERS)}


def test_threads_get_their_own_answers_by_input() -> None:
    recorder = Recorder()
    assert in_threads(recorder, list(range(CALLERS)), threading.Barrier(CALLERS)) == own_answers()
    recording = recorder.recording()
    for repetition in range(REPETITIONS):
        replayer = Replayer(recording, match="input")
        order = random.Random(repetition).sample(range(CALLERS), CALLERS)
        assert in_threads(replayer, order) == own_answers()
        assert replayer.report().ok


def test_tasks_get_their_own_answers_by_input_and_by_start_order() -> None:
    for repetition in range(REPETITIONS):
        chance = random.Random(repetition)
        turns = {number: chance.randrange(20) for number in range(CALLERS)}
        recorder = Recorder()
        assert asyncio.run(in_tasks(recorder, list(range(CALLERS)), turns)) == own_answers()
        by_order = Replayer(recorder.recording(), match="order")
        assert asyncio.run(in_tasks(by_order, list(range(CALLERS)), {})) == own_answers()
        by_input = Replayer(recorder.recording(), match="input")
        other_order = chance.sample(range(CALLERS), CALLERS)
        assert asyncio.run(in_tasks(by_input, other_order, {})) == own_answers()
        assert by_order.report().ok
        assert by_input.report().ok


def test_another_start_order_is_a_divergence_by_order_never_a_swap() -> None:
    recorder = Recorder()
    for number in range(2):
        recorder.call("tool", "search", lambda n=number: n, input={"q": number})
    replayer = Replayer(recorder.recording(), match="order", on_divergence="collect")
    for number in (1, 0):
        replayer.call("tool", "search", int, input={"q": number})
    assert [d.kind for d in replayer.report().divergences] == ["input-mismatch", "input-mismatch"]


def test_equal_inputs_in_parallel_are_each_served_once() -> None:
    recorder = Recorder()
    for number in range(CALLERS):
        recorder.call("tool", "poll", lambda n=number: n, input="same")
    replayer = Replayer(recorder.recording(), match="input")
    with ThreadPoolExecutor(CALLERS) as pool:
        served = list(pool.map(lambda _: replayer.call("tool", "poll", int, input="same"), range(CALLERS)))
    assert sorted(served) == list(range(CALLERS))
    assert replayer.report().ok
