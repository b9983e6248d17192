"""Faults of neighbouring tools, by kind, against the public API: recording, streams, concurrency and replay.

The numbers are those of the collection of cases. Each kind is tested in depth where it is made, under ``tests/core``;
here it is met as a program meets it, by ``import stashdbg`` alone.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import itertools
import json
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import stashdbg
from stashdbg import ErrorCode, Stash, StashError, TypeRegistry, load_stash

types = TypeRegistry()


@types.register
@dataclass
class Order:
    id: str
    total: Decimal


@types.register
class Colour(enum.Enum):
    RED = "r"


@types.register
class Limit(Exception):
    def __init__(self, code: int, *, after: float) -> None:
        super().__init__(f"limit {code}")
        self.after = after


def never() -> Any:
    raise AssertionError("replay ran the real call")


def raising(error: BaseException) -> Callable[[], Any]:
    def call() -> Any:
        raise error

    return call


def again(stash: Stash, **options: Any) -> Stash:
    """A replay of what a stash recorded, through the file's text."""
    return load_stash(stash.save(), **options)


def inputs(stash: Stash) -> list[Any]:
    recording = stash.recording()
    return [recording.blobs[event.input_ref] for event in recording.events if event.input_ref]


def refused(call: Callable[[], Any]) -> StashError:
    with pytest.raises(StashError) as caught:
        call()
    return caught.value


# Recording


def test_01_what_changes_after_the_call_stays_as_it_was() -> None:
    stash, messages = Stash.record(), [{"n": 0}]
    for number in range(1, 4):
        answer = stash.intercept("llm", "chat", lambda: {"seen": list(messages)}, input=messages)
        answer["seen"].clear()
        messages.append({"n": number})
    assert [len(given) for given in inputs(stash)] == [1, 2, 3]
    assert [len(again(stash).intercept("llm", "chat", never, input=[{"n": 0}])["seen"])] == [1]


def test_02_masking_the_file_leaves_the_program_its_token() -> None:
    stash, answer, seen = Stash.record(), {"token": "tok-AAAA1111BBBB2222"}, []
    login = stash.intercept("tool", "login", lambda: answer)
    stash.intercept("tool", "fetch", lambda: seen.append(login["token"]), input=login["token"])
    assert login is answer
    assert seen == ["tok-AAAA1111BBBB2222"]
    assert "AAAA1111" not in json.dumps(again(stash).intercept("tool", "login", never))


def test_03_masking_happens_once(tmp_path: Path) -> None:
    runs = []

    def twice(value: Any, context: Any) -> Any:
        runs.append(context.kind)
        return value.replace("user=", "user=user=X") if isinstance(value, str) else value

    stash = Stash.record(redact=twice)
    stash.intercept("tool", "t", lambda: "user=ada")
    text = stash.save()
    for number in range(3):
        text = load_stash(load_stash(text).save(tmp_path / f"{number}.json")).save()
    assert load_stash(text).intercept("tool", "t", never) == "user=user=Xada"
    assert runs == ["value"]


@pytest.mark.parametrize("strict", [False, True])
def test_04_what_cannot_be_copied_does_not_stop_the_program(strict: bool) -> None:
    class Hostile:
        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("no copies")

        def __repr__(self) -> str:
            raise RuntimeError("no text")

    cycle: dict[str, Any] = {}
    cycle["me"] = cycle
    with open(__file__) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore", stashdbg.RecordingLossWarning)
        for value in (file, threading.Lock(), (n for n in "ab"), cycle, Hostile()):
            stash = Stash.record(strict=strict)
            if strict:
                assert refused(lambda v=value, s=stash: s.intercept("tool", "t", lambda: 1, input={"v": v})).code
                continue
            assert stash.intercept("tool", "t", lambda: 1, input={"v": value}) == 1
            assert "unstorable" in json.dumps(inputs(stash))


@pytest.mark.parametrize(
    "value",
    [
        (1, 2), {1, 2}, frozenset({(1, 2)}), b"\x00\xff", dt.date(2026, 1, 2), Decimal("0.10"), {1: "a", "1": "b"},
        Path("/a"), Order("K", Decimal("1.50")), Colour.RED, float("nan"), -0.0, 2**70, [1, 1.0, True],
    ],
    ids=repr,
)  # fmt: skip
def test_05_values_come_back_as_what_they_were(value: Any) -> None:
    stash = Stash.record(types=types)
    stash.intercept("tool", "t", lambda: value)
    served = again(stash, types=types).intercept("tool", "t", never)
    assert type(served) is type(value)
    assert repr(served) == repr(value)


def test_07_bytes_and_what_looks_like_their_mark_are_told_apart() -> None:
    values = [1, b"PK\x03\x04\xff\xfe", "504b0304", {"$stash": "bytes", "base64": "UEs="}]
    stash = Stash.record()
    for value in values:
        stash.value("tool", "t", value)
    replay = again(stash)
    assert [replay.value("tool", "t", None) for _ in values] == values


def test_13_interruption_exit_and_cancellation_are_recorded_and_raised_again() -> None:
    stash = Stash.record()

    async def slow() -> None:
        await asyncio.sleep(60)

    async def main(tape: Stash, run: Any) -> None:
        await asyncio.wait_for(tape.intercept_async("tool", "slow", run), 0.05)

    with pytest.raises(TimeoutError):
        asyncio.run(main(stash, slow))
    for error in (KeyboardInterrupt(), SystemExit(3)):
        with pytest.raises(type(error)) as caught:
            stash.intercept("tool", "t", raising(error))
        assert caught.value is error
    assert [event.outcome for event in stash.recording().events] == ["throw"] * 3

    replay = again(stash)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(replay.intercept_async("tool", "slow", never))
    with pytest.raises(KeyboardInterrupt):
        replay.intercept("tool", "t", never)
    with pytest.raises(SystemExit, match="3"):
        replay.intercept("tool", "t", never)


# Streams


def five() -> Iterator[int]:
    yield from range(5)


async def five_async() -> AsyncIterator[int]:
    for number in range(5):
        yield number


def test_14_a_stream_left_early_is_an_event_with_what_was_taken() -> None:
    stash = Stash.record()
    assert list(itertools.islice(stash.stream("llm", "s", five), 2)) == [0, 1]
    for taken in (stream := stash.stream("llm", "s", five)):
        if taken == 1:
            break
    stream.close()

    async def main() -> None:
        chunks = stash.stream_async("llm", "a", five_async)
        assert [await anext(chunks), await anext(chunks)] == [0, 1]
        await chunks.aclose()

    asyncio.run(main())
    stash.stream("llm", "never", five)
    replay = again(stash)
    assert len(replay.remaining()) == 3
    for _ in range(2):
        chunks = replay.stream("llm", "s", never)
        assert [next(chunks), next(chunks)] == [0, 1]
        assert refused(lambda chunks=chunks: next(chunks)).code == ErrorCode.DIVERGENCE


def test_15_closing_reaches_the_programs_generator() -> None:
    log: list[str] = []

    async def source() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    def echo() -> Any:
        got = yield "ready"
        with suppress(ValueError):
            yield got
        return "done"

    async def main() -> None:
        stream = Stash.record().stream_async("llm", "s", source)
        assert await anext(stream) == 1
        await stream.aclose()
        assert log == ["closed"]

    asyncio.run(main())
    stream = Stash.record().stream("llm", "s", echo)
    assert next(stream) == "ready"
    assert stream.send("hello") == "hello"
    with pytest.raises(StopIteration) as ended:
        stream.throw(ValueError("caught"))
    assert ended.value.value == "done"


def test_16_an_error_midway_comes_at_its_place() -> None:
    def source() -> Iterator[str]:
        yield from "ab"
        raise ValueError("boom")

    stash = Stash.record()
    with pytest.raises(ValueError, match="boom") as caught:
        list(stash.stream("llm", "s", source))
    with pytest.raises(ValueError, match="boom") as served:
        list(again(stash).stream("llm", "s", never))
    assert str(served.value) == str(caught.value) == "boom"
    assert len(stash.recording().events) == 1
    stream = again(stash).stream("llm", "s", never)
    assert [next(stream), next(stream)] == ["a", "b"]


def test_17_nothing_is_used_up_by_recording() -> None:
    log: list[str] = []

    def source(given: Iterator[str]) -> Iterator[str]:
        for item in given:
            log.append(f"made {item}")
            yield item

    given = iter("abc")
    stash = Stash.record()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stashdbg.RecordingLossWarning)
        log.extend(f"got {item}" for item in stash.wrapped("tool", "t")(source)(given))
    assert log == ["made a", "got a", "made b", "got b", "made c", "got c"]


# Concurrency


def test_19_threads_pools_and_tasks_record_alike() -> None:
    stash = Stash.record()

    def call(name: str) -> str:
        return stash.intercept("tool", "t", lambda: name, input=name)

    async def main() -> None:
        await asyncio.gather(asyncio.to_thread(call, "d"), asyncio.to_thread(call, "e"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, "abcd"))
    asyncio.run(main())
    thread = threading.Thread(target=call, args=("f",))
    thread.start()
    thread.join()
    events = stash.recording().events
    assert [event.seq for event in events] == list(range(7))
    assert sorted(event.ordinal for event in events) == list(range(7))


@pytest.mark.parametrize("match", ["order", "input"])
def test_20_parallel_calls_of_one_name_get_their_own_answers(match: Any) -> None:
    async def search(text: str, delay: float) -> str:
        await asyncio.sleep(delay)
        return text.upper()

    async def main(stash: Stash, delays: tuple[float, ...]) -> list[str]:
        calls = zip("abc", delays, strict=True)
        return await asyncio.gather(
            *(stash.intercept_async("tool", "search", lambda t=t, d=d: search(t, d), input=t) for t, d in calls)
        )

    stash = Stash.record()
    assert asyncio.run(main(stash, (0.03, 0.01, 0.02))) == ["A", "B", "C"]
    for _ in range(20):
        assert asyncio.run(main(again(stash, match=match), (0, 0, 0))) == ["A", "B", "C"]


def test_20_threads_get_their_own_answers_by_input() -> None:
    stash, barrier = Stash.record(), threading.Barrier(3)

    def call(tape: Stash, text: str) -> str:
        barrier.wait(10)
        return tape.intercept("tool", "search", lambda: text.upper(), input=text)

    for _ in range(20):
        for tape in (stash := Stash.record(), again):
            served = tape if isinstance(tape, Stash) else again(stash, match="input")
            with ThreadPoolExecutor(3) as pool:
                assert list(pool.map(lambda text, t=served: call(t, text), "abc")) == ["A", "B", "C"]


# Replay


def test_21_22_a_poll_ends_as_it_did_and_three_misses_are_three_messages(data: Path) -> None:
    replay = load_stash(data / "cases" / "21-poll" / "poll.json")
    assert [replay.intercept("tool", "status", never, input={}) for _ in range(3)] == ["pending", "pending", "done"]
    exhausted = refused(lambda: replay.intercept("tool", "status", never, input={}))
    assert exhausted.code == ErrorCode.RECORDING_EXHAUSTED
    assert "3 recorded, call 4 asked" in exhausted.message
    assert "unknown channel; the recording has tool" in refused(lambda: replay.intercept("web", "x", never)).message
    assert "the nearest is status" in refused(lambda: replay.intercept("tool", "Status", never)).message


def test_23_24_another_calls_answer_is_never_served() -> None:
    stash = Stash.record()
    for city in ("flights", "hotels"):
        stash.intercept("tool", "search", city.upper, input={"q": city})
    replay = again(stash, match="input")
    assert replay.intercept("tool", "search", never, input={"q": "hotels"}) == "HOTELS"
    error = refused(lambda: replay.intercept("tool", "search", never, input={"q": "cars"}))
    assert error.details["nearest"][0]["changes"] == [{"pointer": "/q", "recorded": '"flights"', "live": '"cars"'}]
    assert replay.intercept("tool", "search", never, input={"q": "flights"}) == "FLIGHTS"
    unchecked = Stash.record()
    unchecked.intercept("tool", "price", lambda: 42)
    replay = again(unchecked)
    assert replay.intercept("tool", "price", never, input={"sku": "A-2"}) == 42
    assert replay.report().unchecked == 1


def test_26_a_message_says_which_side_is_which_and_stays_short() -> None:
    big = {"items": [{"text": "x" * 100, "n": n} for n in range(10_000)]}
    stash = Stash.record()
    stash.intercept("llm", "big", lambda: 1, input=big)
    big["items"][7_000]["n"] = -1
    error = refused(lambda: again(stash).intercept("llm", "big", never, input=big))
    assert "at /items/7000/n; recorded: 7000 / live: -1" in error.message
    assert "test_cases_record_replay.py:" in error.message
    assert len(error.message) < 500


def test_27_neither_key_order_nor_how_arguments_are_given_matters() -> None:
    def function(x: int, y: int = 2) -> int:
        return x + y

    stash = Stash.record()
    stash.intercept("tool", "t", lambda: 1, input={"a": 1, "b": [1, 2]})
    assert stash.wrapped("tool", "f")(function)(1) == 3
    assert again(stash).intercept("tool", "t", never, input={"b": [1, 2], "a": 1}) == 1
    assert again(stash).wrapped("tool", "f")(function)(y=2, x=1) == 3
    refused(lambda: again(stash).intercept("tool", "t", never, input={"a": 1, "b": [2, 1]}))


def test_28_times_ids_and_meta_decide_nothing(data: Path) -> None:
    one, other = (stashdbg.open_recording(data / "cases" / "28-only-time" / name) for name in ("a.json", "b.json"))
    assert [event.at for event in one.events] != [event.at for event in other.events]
    replays = [load_stash(one), load_stash(other)]
    for event in one.events:
        given = {} if event.input_ref is None else {"input": one.blobs[event.input_ref]}
        answers = [replay.intercept(event.channel, event.key, never, **given) for replay in replays]
        assert answers[0] == answers[1]
    assert all(replay.report().ok for replay in replays)


def test_29_a_part_that_is_never_the_same_can_be_ignored_and_is_listed() -> None:
    stash = Stash.record()
    stash.intercept("llm", "plan", lambda: 1, input={"note": "note_8f3a", "text": "hello"})
    changed = {"note": "note_77c1", "text": "hello"}
    error = refused(lambda: again(stash).intercept("llm", "plan", never, input=changed))
    assert "note_8f3a" in error.message
    assert "note_77c1" in error.message
    replay = again(stash, ignore=["/note"])
    assert replay.intercept("llm", "plan", never, input=changed) == 1
    assert replay.report().ignored == ("/note",)


PROGRAM = """
import stashdbg
class Client: pass
def f(client, names): return sorted(names)
stash = stashdbg.Stash.record()
stash.wrapped("tool")(f)(Client(), {"b", "a", "c"})
event = stash.recording().events[0]
print(event.key, event.input_ref)
"""


def test_30_names_and_inputs_are_the_same_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1
    assert printed.pop().startswith("__main__:f sha256:")


def test_31_different_calls_never_share_a_name() -> None:
    def function(a: int, b: int) -> tuple[int, int]:
        return (a, b)

    stash = Stash.record()
    call = stash.wrapped("tool", "f")(function)
    call(a=1, b=2)
    call(a=2, b=1)
    stash.intercept("a", "b:c", lambda: "one")
    stash.intercept("a:b", "c", lambda: "two")
    replay = again(stash, match="input")
    assert replay.intercept("a:b", "c", never) == "two"
    assert replay.intercept("a", "b:c", never) == "one"
    assert replay.wrapped("tool", "f")(function)(a=2, b=1) == (2, 1)


def test_32_exceptions_come_back_as_themselves_with_their_own_text() -> None:
    def chained() -> Any:
        try:
            raise KeyError("inner")
        except KeyError as inner:
            raise RuntimeError("outer") from inner

    unknown = type("Gone", (Exception,), {"__module__": "deleted"})("lost")
    errors = [
        Limit(42, after=1.5),
        KeyError("k"),
        OSError(2, "no", "f"),
        ExceptionGroup("g", [ValueError("v")]),
        unknown,
    ]
    stash = Stash.record(types=types)
    for error in errors:
        with pytest.raises(type(error)):
            stash.intercept("tool", "t", raising(error))
    with pytest.raises(RuntimeError):
        stash.intercept("tool", "t", chained)
    replay, served = again(stash, types=types), []
    for _ in range(6):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - its type is what is compared
            replay.intercept("tool", "t", never)
        served.append(caught.value)
    assert [type(error) for error in served[:4]] == [Limit, KeyError, FileNotFoundError, ExceptionGroup]
    assert [str(error) for error in served[:5]] == [str(error) for error in errors]
    assert served[0].after == 1.5
    assert served[2].filename == "f"
    assert isinstance(served[4], stashdbg.RecordedError)
    assert served[4].type_name == "Gone"
    assert isinstance(served[5].__cause__, KeyError)


def test_34_replay_calls_nothing_and_touches_no_file(tmp_path: Path) -> None:
    with Stash.record(tmp_path / "run.json") as stash:
        stash.intercept("tool", "t", lambda: 1)
    before = ((tmp_path / "run.json").read_bytes(), (tmp_path / "run.json").stat().st_mtime_ns)
    live: list[int] = []
    replay = load_stash(tmp_path / "run.json")
    replay.intercept("tool", "t", lambda: live.append(1))
    refused(lambda: replay.intercept("tool", "t", lambda: live.append(2)))
    refused(lambda: replay.intercept("tool", "new", lambda: live.append(3)))
    assert live == []
    assert ((tmp_path / "run.json").read_bytes(), (tmp_path / "run.json").stat().st_mtime_ns) == before
    assert os.listdir(tmp_path) == ["run.json"]
    tail = load_stash(tmp_path / "run.json", live_tail=True)
    tail.intercept("tool", "t", lambda: live.append(4))
    tail.intercept("tool", "t", lambda: live.append(5))
    assert live == [5]
    assert tail.report().live == 1


def test_35_a_failed_run_never_replaces_the_good_one(tmp_path: Path) -> None:
    with Stash.record(tmp_path / "run.json") as stash:
        stash.value("tool", "t", "good")
    good = (tmp_path / "run.json").read_bytes()
    with pytest.raises(RuntimeError), Stash.record(tmp_path / "run.json") as stash:  # noqa: PT012
        stash.value("tool", "t", "first of five")
        raise RuntimeError("the agent failed")
    assert (tmp_path / "run.json").read_bytes() == good
    failed = stashdbg.open_recording(tmp_path / "run-2.json")
    assert failed.meta["exception"]["class"] == "builtins:RuntimeError"
    assert len(failed.events) == 1


def test_38_a_giant_value_is_stored_once_and_named(tmp_path: Path) -> None:
    giant = "x" * 30_000_000
    with Stash.record(tmp_path / "run.json") as stash:
        for number in range(3):
            stash.intercept("tool", "screenshot", lambda: giant, input=number)
        stash.intercept("tool", "screenshot", lambda: giant[:-1] + "y")
    assert 60_000_000 < (tmp_path / "run.json").stat().st_size < 61_000_000
    biggest = stashdbg.recording_stats(stashdbg.open_recording(tmp_path / "run.json")).to_json()
    assert "screenshot" in json.dumps(biggest)
