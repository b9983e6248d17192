"""Threads, pools, tasks and other processes: nothing lost, nothing counted twice."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import pickle
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.record import Recorder

ROUNDS, CALLS = 200, 32


def _whole(seen: Any, rounds: int = ROUNDS) -> None:
    count = rounds * CALLS
    assert [event.seq for event in seen.events] == list(range(count))
    assert [event.ordinal for event in seen.events] == list(range(count))
    assert [value["asked"] for value in seen.values] == seen.inputs
    assert sorted(seen.inputs) == sorted([round_, number] for round_ in range(rounds) for number in range(CALLS))


def test_parallel_calls_of_one_key_in_threads(make: Any, read: Any) -> None:
    tape = make()
    with ThreadPoolExecutor(CALLS) as pool:
        for round_ in range(ROUNDS):
            gate = threading.Barrier(4)

            def ask(number: int, round_: int = round_, gate: threading.Barrier = gate) -> Any:
                def produce() -> Any:
                    gate.wait()  # four by four they finish together
                    return {"asked": [round_, number]}

                return tape.call("tool", "same", produce, input=[round_, number])

            answers = list(pool.map(ask, range(CALLS)))
            assert answers == [{"asked": [round_, number]} for number in range(CALLS)]
    seen = read(tape)
    _whole(seen)
    assert len({event.thread for event in seen.events}) == CALLS


def test_parallel_calls_of_one_key_in_tasks_that_finish_in_another_order(make: Any, read: Any) -> None:
    tape, dice = make(), random.Random(1)

    async def run() -> None:
        for round_ in range(ROUNDS):

            async def produce(number: int, round_: int = round_) -> Any:
                for _ in range(dice.randrange(4)):
                    await asyncio.sleep(0)
                return {"asked": [round_, number]}

            def ask(number: int, round_: int = round_, produce: Any = produce) -> Any:
                return tape.call_async("tool", "same", lambda: produce(number), input=[round_, number])

            answers = await asyncio.gather(*[ask(number) for number in range(CALLS)])
            assert answers == [{"asked": [round_, number]} for number in range(CALLS)]

    asyncio.run(run())
    seen = read(tape)
    _whole(seen)
    assert seen.inputs == [[round_, number] for round_ in range(ROUNDS) for number in range(CALLS)]


def test_lanes_tell_threads_and_tasks_apart_by_name(read: Any) -> None:
    tape = Recorder(redact=None)

    async def one() -> int:
        return tape.call("tool", "x", lambda: 1)

    async def run() -> None:
        await one()
        await asyncio.gather(one(), asyncio.create_task(one(), name="planner"))
        await asyncio.to_thread(tape.call, "tool", "x", lambda: 1)

    tape.call("tool", "x", lambda: 1)
    asyncio.run(run())
    for _ in range(2):
        worker = threading.Thread(target=lambda: asyncio.run(run()), name="worker")
        worker.start()
        worker.join()
    lanes = [event.thread for event in read(tape).events]
    assert lanes[:2] == [None, None]
    assert lanes[2] == "planner"
    assert lanes[3] is not None
    assert lanes[3].startswith("Task-")
    assert lanes[3].endswith("(one)")
    assert (lanes[5], lanes[6], lanes[9], lanes[10]) == (
        "worker",
        "worker / planner",
        "worker #2",
        "worker #2 / planner",
    )
    assert not any("0x" in str(lane) for lane in lanes)


def test_a_stream_collected_while_another_call_is_written_is_not_lost_and_locks_nothing(read: Any) -> None:
    def collect() -> float:
        gc.collect()
        return 0.0

    gc.freeze()  # what other tests left behind need not be looked through at every call
    tape = Recorder(redact=None, clock=collect)
    for number in range(8):
        stream = tape.stream("llm", "chat", lambda number=number: iter([number]))
        next(stream)
        cycle: list[Any] = [stream]
        cycle.append(cycle)
        del stream, cycle
        tape.call("tool", "x", lambda: list(range(100)))
    gc.collect()
    gc.unfreeze()
    seen = read(tape)
    assert [event.seq for event in seen.events] == list(range(16))
    assert {tree["ending"] for tree in seen.trees if isinstance(tree, dict)} == {"closed"}


def test_a_signal_handler_may_record_at_any_moment(make: Any, read: Any) -> None:
    tape, signalled = make(), []

    def handler(number: int, frame: FrameType | None) -> None:
        signalled.append(tape.call("signal", "alarm", lambda: len(signalled), input={"text": "x" * 1500}))

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        for number in range(3000):
            tape.call("tool", "x", lambda number=number: {"n": number, "text": "y" * 1200}, input=[number])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    seen = read(tape)
    assert signalled
    assert [event.seq for event in seen.events] == list(range(3000 + len(signalled)))
    recorded = [value for value, event in zip(seen.values, seen.events, strict=True) if event.channel == "signal"]
    assert sorted(recorded) == sorted(signalled)


def test_a_forked_process_is_refused_and_cannot_end_the_recording(make: Any, read: Any) -> None:
    tape = make()
    tape.call("tool", "parent", lambda: 1)
    ran: list[int] = []
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(StashError, match="another process") as caught:
                tape.call("tool", "child", lambda: ran.append(1))
            tape.close()
            os.write(writer, b"refused" if caught.value.hint and not ran else b"ran")
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"refused"
    os.close(reader)
    tape.call("tool", "parent", lambda: 2)
    assert read(tape).values == [1, 2]


@pytest.mark.parametrize("send", [pickle.dumps, copy.deepcopy])
def test_a_recorder_is_not_sent_to_another_process(send: Any) -> None:
    with pytest.raises(StashError) as caught:
        send(Recorder(redact=None))
    assert caught.value.code is ErrorCode.INVALID_INPUT
