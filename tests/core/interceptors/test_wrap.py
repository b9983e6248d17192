"""Wrapped functions: of the kind they were, their arguments the input, their name the key."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.interceptors import wrap, wrapped
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.stash import create_stash
from stashdbg_core.values import TypeRegistry


@dataclass
class Reply:
    text: str


class Client:
    pass


def get(a: int, b: int = 2, *rest: int, flag: bool = False, **more: Any) -> list[Any]:
    """Get."""
    return [a, b, rest, flag, more]


def inputs(recorder: Recorder) -> list[Any]:
    recording = recorder.recording()
    return [recording.blobs[event.input_ref] for event in recording.events if event.input_ref]


def test_arguments_are_named_and_defaults_filled_in() -> None:
    recorder = Recorder()
    call = wrap(recorder, "tool", None, get)
    call(1)
    call(a=1, b=2)
    call(1, 3, 4, 5, flag=True, x=6)
    full = {"a": 1, "b": 2, "rest": [], "flag": False, "more": {}}
    assert inputs(recorder) == [full, full, {"a": 1, "b": 3, "rest": [4, 5], "flag": True, "more": {"x": 6}}]
    assert recorder.recording().events[0].key == f"{__name__}:get"
    replayer = Replayer(recorder.recording(), match="input")
    assert wrap(replayer, "tool", None, get)(b=2, a=1) == [1, 2, (), False, {}]
    with pytest.raises(StashError):
        wrap(Replayer(recorder.recording()), "tool", None, get)(2, 1)


def test_wrong_arguments_raise_what_the_function_would() -> None:
    recorder = Recorder()
    with pytest.raises(TypeError, match="missing a required argument: 'a'"):
        wrap(recorder, "tool", None, get)()  # type: ignore[call-arg]
    assert len(recorder.recording().events) == 0


def test_every_kind_of_function_stays_its_kind() -> None:
    def plain() -> int:
        return 1

    def chunks() -> Iterator[int]:
        got = yield 1
        yield got

    async def later() -> int:
        return 2

    async def chunks_later() -> AsyncIterator[int]:
        got = yield 3
        yield got

    def program(tape: Any) -> Any:
        async def part() -> Any:
            stream = wrap(tape, "t", "d", chunks_later)()
            assert inspect.isasyncgen(stream)
            return [await wrap(tape, "t", "c", later)(), await anext(stream), await stream.asend("sent")]

        first = wrap(tape, "t", "b", chunks)()
        return [wrap(tape, "t", "a", plain)(), next(first), first.send("sent"), *asyncio.run(part())]

    for function, check in (
        (chunks, inspect.isgeneratorfunction),
        (later, inspect.iscoroutinefunction),
        (chunks_later, inspect.isasyncgenfunction),
    ):
        assert check(wrap(Recorder(), "t", None, function))
    recorder = Recorder()
    assert program(recorder) == [1, 1, "sent", 2, 3, "sent"]
    assert program(Replayer(recorder.recording())) == [1, 1, "sent", 2, 3, "sent"]


def test_the_decorator_keeps_name_signature_and_result_class() -> None:
    stash = create_stash()

    @stash.wrapped("tool", returns=Reply)
    def answer(question: str) -> Reply:
        """Answer."""
        return Reply(question)

    assert answer("q") == Reply("q")
    assert (answer.__name__, answer.__doc__) == ("answer", "Answer.")
    assert str(inspect.signature(answer)) == "(question: 'str') -> 'Reply'"
    again = wrapped(Replayer(stash.recording()), "tool", returns=Reply)(answer.__wrapped__)  # type: ignore[attr-defined]
    assert again("q") == Reply("q")


def test_receivers_and_what_cannot_be_stored_are_left_out() -> None:
    recorder = Recorder()

    class Agent:
        @wrapped(recorder, "tool", "plan")
        def plan(self, client: Client, goal: str, how: str = "fast") -> str:
            return goal

        def act(self, client: Client, goal: str) -> str:
            return goal

    Agent().plan(Client(), "win")
    wrap(recorder, "tool", "bound", Agent().act, leave_out=["client"])(Client(), "win")
    assert inputs(recorder)[0] == {"client": {"leftOut": f"{__name__}:Client"}, "goal": "win", "how": "fast"}
    assert inputs(recorder)[1] == {"goal": "win"}
    assert recorder.losses == {}


class Model(str):
    __slots__ = ()


def test_an_argument_of_a_registered_class_is_part_of_the_input() -> None:
    recorder = Recorder(types=TypeRegistry(Model))
    wrap(recorder, "tool", "ask", lambda model: str(model))(Model("small"))
    (given,) = inputs(recorder)
    assert "leftOut" not in str(given) and "small" in str(given)
    replayer = Replayer(recorder.recording(), types=TypeRegistry(Model))
    assert wrap(replayer, "tool", "ask", lambda model: str(model))(Model("small")) == "small"
    with pytest.raises(StashError, match="small"):
        wrap(Replayer(recorder.recording(), types=TypeRegistry(Model)), "tool", "ask", lambda model: "")(Model("big"))


def test_a_generator_argument_is_not_used_up() -> None:
    recorder = Recorder()
    call = wrap(recorder, "tool", "sum", lambda numbers: sum(numbers))
    assert call(n for n in range(4)) == 6
    assert inputs(recorder) == [{"numbers": {"leftOut": "builtins:generator"}}]


def test_a_nameless_callable_needs_a_key() -> None:
    with pytest.raises(StashError, match="has no name of its own"):
        wrap(Recorder(), "tool", None, functools.partial(get, 1))
    recorder = Recorder()
    assert wrap(recorder, "tool", "k", functools.partial(get, 1))(b=5)[:2] == [1, 5]
    assert inputs(recorder)[0]["a" if "a" in inputs(recorder)[0] else "b"] in (1, 5)
    with pytest.raises(StashError, match="cannot be wrapped"):
        wrap(recorder, "tool", "k", 5)  # type: ignore[arg-type]


def test_input_references_are_the_same_in_every_process(root: Any) -> None:
    script = (
        "from stashdbg_core.interceptors import wrap\n"
        "from stashdbg_core.record.recorder import Recorder\n"
        "class Client: pass\n"
        "def f(client, tags): return 1\n"
        "recorder = Recorder()\n"
        "wrap(recorder, 'tool', None, f)(Client(), {'b', 'a', 'c'})\n"
        "event = recorder.recording().events[0]\n"
        "print(event.key, event.input_ref)\n"
    )
    path = os.pathsep.join([str(root), str(root / "core")])
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert outputs.pop().startswith("__main__:f sha256:")
