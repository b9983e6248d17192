"""The program gets what it would have got, and the tape has it as it was at that moment."""

from __future__ import annotations

import asyncio
import gc
import weakref
from typing import Any

import pytest

from stashdbg_core.calls import CallOptions, current_call
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.values import exception_kind


def test_the_same_object_reaches_the_program(make: Any, read: Any) -> None:
    tape, result = make(), {"answer": [1, 2]}
    assert tape.call("tool", "search", lambda: result, input={"q": "x"}) is result
    seen = read(tape)
    assert seen.values == [{"answer": [1, 2]}]
    assert seen.inputs == [{"q": "x"}]
    assert [(e.seq, e.channel, e.key, e.ordinal, e.outcome) for e in seen.events] == [
        (0, "tool", "search", 0, "return")
    ]


def test_the_same_exception_reaches_the_program_and_its_text_the_tape(make: Any, read: Any) -> None:
    tape, error = make(), KeyError("missing")

    def fail() -> None:
        raise error

    with pytest.raises(KeyError) as caught:
        tape.call("tool", "search", fail)
    assert caught.value is error
    seen = read(tape)
    assert seen.events[0].outcome == "throw"
    assert seen.trees[0]["args"] == ["missing"]


def test_later_changes_of_input_and_value_do_not_reach_the_tape(make: Any, read: Any) -> None:
    tape, messages = make(), [{"role": "user"}]
    answer = tape.call("llm", "chat", lambda: {"tokens": [1]}, input=messages)
    messages.append({"role": "assistant"})
    answer["tokens"].append(2)

    def spoil() -> int:
        messages.clear()
        return 1

    tape.call("llm", "chat", spoil, input=messages)
    seen = read(tape)
    assert seen.inputs == [[{"role": "user"}], [{"role": "user"}, {"role": "assistant"}]]
    assert seen.values == [{"tokens": [1]}, 1]


def test_large_values_are_snapshots_too(make: Any, read: Any) -> None:
    tape, chat = make(), [{"text": "x" * 900} for _ in range(20)]
    tape.call("llm", "chat", lambda: chat)
    chat[3]["text"] = "changed"
    assert read(tape).values == [[{"text": "x" * 900}] * 20]


def test_no_input_is_not_an_input_of_none(make: Any, read: Any) -> None:
    tape = make()
    tape.call("tool", "a", lambda: 1)
    tape.call("tool", "a", lambda: 1, input=None)
    assert read(tape).inputs == [..., None]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyboardInterrupt(), "interrupt"),
        (SystemExit(3), "exit"),
        (asyncio.CancelledError(), "cancelled"),
        (OSError(2, "no"), "error"),
    ],
)
def test_interrupt_exit_and_cancellation_are_told_apart(make: Any, read: Any, error: BaseException, kind: str) -> None:
    tape = make()

    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        tape.call("tool", "x", fail)
    seen = read(tape)
    assert seen.events[0].outcome == "throw"
    assert exception_kind(seen.trees[0]) == kind


def test_a_cancelled_task_leaves_its_call_on_the_tape(make: Any, read: Any) -> None:
    tape = make()

    async def run() -> None:
        async def slow() -> None:
            await asyncio.Event().wait()

        task = asyncio.create_task(tape.call_async("tool", "slow", slow))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert exception_kind(read(tape).trees[0]) == "cancelled"


def test_a_call_made_during_another_names_it_as_parent(make: Any, read: Any) -> None:
    tape = make()

    async def inner() -> int:
        return tape.call("tool", "deep", lambda: 1)

    async def outer() -> int:
        return sum(await asyncio.gather(*[tape.call_async("tool", "inner", inner) for _ in range(2)]))

    assert asyncio.run(tape.call_async("agent", "outer", outer)) == 2
    assert {(e.key, e.parent) for e in read(tape).events} == {("outer", None), ("inner", 0), ("deep", 1), ("deep", 3)}
    assert current_call.get() is None


def test_what_the_caller_says_of_a_call_is_kept(make: Any, read: Any) -> None:
    tape = make(clock=lambda: 1_700_000_000.5)
    tape.call("tool", "a", lambda: 1, options=CallOptions(label="first", call_id="c1", thread="sub", parent=7))
    event = read(tape).events[0]
    assert (event.label, event.call_id, event.thread, event.parent, event.at) == (
        "first",
        "c1",
        "sub",
        7,
        1_700_000_000_500.0,
    )
    assert event.ms is not None
    assert event.ms >= 0


def test_an_awaitable_from_a_sync_call_is_refused_and_never_left_unawaited(make: Any) -> None:
    async def work() -> int:
        return 1

    with pytest.raises(StashError, match="produced an awaitable") as caught:
        make().call("tool", "x", work)
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert "intercept_async" in str(caught.value.hint)


@pytest.mark.parametrize(("channel", "key"), [(1, "a"), ("a", None), (["a"], "b")])
def test_a_name_that_is_no_text_is_refused_before_the_call_runs(make: Any, channel: Any, key: Any) -> None:
    ran: list[int] = []
    with pytest.raises(StashError) as caught:
        make().call(channel, key, lambda: ran.append(1))
    assert caught.value.code is ErrorCode.INVALID_INPUT
    assert ran == []


def test_primitives_record_a_call_that_is_no_function(make: Any, read: Any) -> None:
    tape = make()
    first, second, third = (tape.begin("tool", name, {"n": name}) for name in "abc")
    second.threw(ValueError("bad"))
    first.returned(5)
    seen = read(tape)
    assert [(e.key, e.outcome) for e in seen.events] == [("a", "return"), ("b", "throw"), ("c", "throw")]
    assert seen.trees[2] == {"$stash": "pending"}
    with pytest.raises(StashError, match="second outcome"):
        first.returned(6)
    third.returned(None)
    assert read(tape).values[2] is None


def test_nothing_recorded_keeps_the_programs_objects_alive(make: Any) -> None:
    class Thing:
        pass

    tape = make()
    thing = Thing()
    alive = weakref.ref(thing)
    with pytest.warns(UserWarning, match="not whole"):
        assert tape.value("tool", "x", thing, input=thing) is thing
    del thing
    gc.collect()
    assert alive() is None
