"""``stashdbg export --pytest``: the test that it writes passes as it is, whatever was recorded."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stashdbg import Stash
from stashdbg.cli.app import run

pytest_plugins = ["pytester"]
PLAIN = ("-p", "no:cacheprovider", "--stash-record=none")


class Limit(Exception):
    """An error that no other program knows."""


def words() -> Iterator[str]:
    yield from "abc"


def failing() -> Iterator[int]:
    yield 1
    raise ValueError("boom (at 2)")


async def words_async() -> AsyncIterator[str]:
    for word in "xyz":
        yield word


def fail(error: BaseException) -> Any:
    raise error


def record_all_kinds(path: Path) -> None:
    """A run with every kind of outcome, input and name."""
    with Stash.record(path) as stash:
        stash.intercept("llm", "it's\n", lambda: "é\ud800\u202e", input={"text": "a\nb" * 100, "n": 1.5, "none": None})
        list(stash.stream("llm", "words", words))
        left = stash.stream("llm", "words", words)
        next(left)
        left.close()
        with suppress(ValueError):
            list(stash.stream("llm", "failing", failing))

        async def main() -> None:
            async for _ in stash.stream_async("llm", "async", words_async):
                pass
            await stash.intercept_async("tool", "later", lambda: asyncio.sleep(0, (1, b"\0")))

        asyncio.run(main())
        for error in (KeyError("k"), Limit("slow down"), KeyboardInterrupt(), SystemExit(3), OSError(2, "no", "f")):
            with suppress(BaseException):
                stash.intercept("tool", "fails", lambda error=error: fail(error), input=error.args)
        stash.intercept("tool", "nested", lambda: stash.intercept("tool", "inner", lambda: 1) + 1)
        stash.intercept("tool", "big", lambda: "x" * 90_000, input={"chat": ["é" * 3_000]})
        stash.intercept("tool", "set", lambda: {1, 2}, input={3})


def test_a_test_of_every_kind_of_call_passes(project: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    recording = project.path / "runs" / "a {b}'s.json"
    recording.parent.mkdir()
    record_all_kinds(recording)
    assert run(["export", str(recording), "--pytest", "-o", "test_all.py"]) == 0
    assert capsys.readouterr().out == "test_all.py\n"
    source = (project.path / "test_all.py").read_text()
    compile(source, "test_all.py", "exec")
    assert 'match="boom' in source or "match='boom" in source
    assert "inner" not in source
    project.runpytest_inprocess(*PLAIN).assert_outcomes(passed=1)
    capsys.readouterr()
    assert run(["export", str(recording), "--pytest"]) == 0
    assert capsys.readouterr().out == source


def test_the_test_fails_when_the_program_does_something_else(project: pytest.Pytester) -> None:
    with Stash.record(project.path / "run.json") as stash:
        stash.intercept("tool", "weather", lambda: "mild", input={"city": "Oslo"})
    assert run(["export", "run.json", "--pytest", "-o", "test_run.py"]) == 0
    test = project.path / "test_run.py"
    test.write_text(test.read_text().replace("Oslo", "Rome"))
    result = project.runpytest_inprocess(*PLAIN)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*/city", '*recorded: "Oslo"', '*live:     "Rome"'])


def test_every_recording_that_opens_gives_a_test_that_passes(project: pytest.Pytester, data: Path, root: Path) -> None:
    written = 0
    for file in [*sorted((data / "cases").rglob("*.json")), root / "stashdbg" / "data" / "demo.json"]:
        folder = project.mkdir(f"case{written}")
        shutil.copyfile(file, folder / "run.json")
        if run(["export", str(folder / "run.json"), "--pytest", "-o", str(folder / f"test_{written}.py")]) == 0:
            written += 1
        else:
            os.rename(folder, project.path / f"refused-{file.stem}-{file.parent.name}")
    assert written > 30
    project.runpytest_inprocess(*PLAIN).assert_outcomes(passed=written)


def test_shapes_and_places_are_checked(
    project: pytest.Pytester, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    poll = str(data / "cases" / "21-poll" / "poll.json")
    assert run(["export", poll]) == 64
    assert run(["export", poll, "--flat", "--pytest"]) == 64
    err = capsys.readouterr().err
    assert "no shape was asked for; give one of --flat, --pytest" in err
    assert "exclude each other" in err
    assert run(["export", poll, "--pytest", "-o", "test_poll.py"]) == 0
    assert run(["export", poll, "--pytest", "-o", "test_poll.py"]) == 0
    assert capsys.readouterr().out == "test_poll.py\ntest_poll-2.py\n"
    project.runpytest_inprocess(*PLAIN, "test_poll.py").assert_outcomes(passed=1)


def test_very_many_calls_are_cut_and_the_test_still_passes(project: pytest.Pytester) -> None:
    with Stash.record(project.path / "long.json") as stash:
        for number in range(300):
            stash.value("tool", "count", number)
    assert run(["export", "long.json", "--pytest", "-o", "test_long.py"]) == 0
    source = (project.path / "test_long.py").read_text()
    assert 'unused="ignore"' in source
    assert "# the calls from seq 200 on are left out; 300 events are recorded" in source
    project.runpytest_inprocess(*PLAIN).assert_outcomes(passed=1)


def test_what_has_no_file_gives_no_test(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io
    import sys

    class Input:
        buffer = io.BytesIO(b'{"version":1,"id":"x","events":[],"blobs":{},"meta":{}}')

    monkeypatch.setattr(sys, "stdin", Input())
    assert run(["export", "-", "--pytest"]) == 64
    assert "this one has none; give a file, not -" in capsys.readouterr().err
