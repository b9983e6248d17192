"""Each event names the program's own line that made the call."""

from __future__ import annotations

import asyncio
import functools
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stashdbg_core.record import Recorder
from stashdbg_core.stash import Stash


def _line(mark: str) -> int:
    with open(__file__, encoding="utf-8") as source:
        return next(number for number, text in enumerate(source, 1) if text.rstrip().endswith(f"# {mark}"))


def _site(mark: str, function: str) -> str:
    return f"test_sites.py:{_line(mark)} {function}"


def _sites(tape: Recorder) -> list[str | None]:
    return [event.site for event in tape.recording().events]


def plan(tape: Recorder) -> Any:
    return tape.call("llm", "plan", lambda: 1)  # in plan


def test_a_call_names_its_line_and_function() -> None:
    tape = Recorder(redact=None)
    plan(tape)
    tape.value("tool", "x", 1)  # value
    next(tape.stream("tool", "x", lambda: [1]))  # stream
    tape.begin("tool", "x")  # begin
    name = "test_a_call_names_its_line_and_function"
    assert _sites(tape) == [_site("in plan", "plan"), _site("value", name), _site("stream", name), _site("begin", name)]


def test_library_frames_in_between_do_not_count() -> None:
    tape = Recorder(redact=None)
    functools.reduce(lambda total, _: total + plan(tape), range(2), 0)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(plan, tape).result()
    list(map(functools.partial(tape.value, "tool", "x"), [1]))  # map
    name = "test_library_frames_in_between_do_not_count"
    assert _sites(tape) == [_site("in plan", "plan")] * 3 + [_site("map", name)]


def test_a_task_made_of_the_call_itself_names_the_line_that_made_it() -> None:
    tape = Recorder(redact=None)

    async def run() -> None:
        async def one() -> int:
            return 1

        await asyncio.gather(*[tape.call_async("tool", "x", one) for _ in range(2)])  # gather
        await asyncio.create_task(tape.call_async("tool", "x", one))  # task

    asyncio.run(run())
    assert _sites(tape) == [_site("gather", "run")] * 2 + [_site("task", "run")]


def test_the_facade_and_decorators_are_not_the_program() -> None:
    tape = Recorder(redact=None)
    stash = Stash(tape)

    @stash.wrapped("tool")
    def search(text: str) -> str:
        return text

    stash.intercept("tool", "x", lambda: 1)  # facade
    search("a")  # decorated
    name = "test_the_facade_and_decorators_are_not_the_program"
    assert _sites(tape) == [_site("facade", name), _site("decorated", name)]


def test_code_without_a_file_has_a_site_too() -> None:
    tape = Recorder(redact=None)
    exec("def typed(tape):\n    tape.value('tool', 'x', 1)", names := {"__name__": "__main__"})
    names["typed"](tape)  # type: ignore[operator]
    assert _sites(tape) == ["<string>:2 typed"]


def test_very_many_code_objects_do_not_pile_up() -> None:
    tape = Recorder(redact=None)
    for number in range(12_000):
        exec(compile(f"tape.value('tool', 'x', {number})", f"made-{number}.py", "exec"))
    assert _sites(tape)[-1] == "made-11999.py:1 <module>"
    assert len(tape._sites._codes) <= 10_000
    assert sys.getrefcount(tape) < 50
