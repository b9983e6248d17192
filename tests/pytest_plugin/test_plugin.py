"""The plugin as a user meets it: test files, run by pytest."""

from __future__ import annotations

import json
import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from stashdbg import open_recording

pytest_plugins = ["pytester"]

REWRITTEN = ("-W", "ignore::pytest.PytestAssertRewriteWarning")
"""The outer run has the plugin loaded already."""

AGENT = """
import asyncio
import pytest
from pathlib import Path
from stashdbg import StashError

CALLS = Path(__file__).with_name("calls")

def service(city):
    with CALLS.open("a") as log:
        log.write(city + "\\n")
    return {"city": city, "degrees": 21}

def agent(stash, *cities):
    return [stash.intercept("tool", "weather", lambda c=c: service(c), input={"city": c})["degrees"] for c in cities]
"""


def run(project: pytest.Pytester, body: str | None = None, *options: str) -> pytest.RunResult:
    if body is not None:
        (project.path / "test_agent.py").write_text(AGENT + body)
    return project.runpytest_inprocess("-p", "no:cacheprovider", "-W", "error", *REWRITTEN, *options)


def served(project: pytest.Pytester) -> list[str]:
    """The real calls made so far."""
    log = project.path / "calls"
    return log.read_text().split() if log.exists() else []


def files(project: pytest.Pytester) -> list[str]:
    return sorted(os.listdir(project.path / "runs"))


ONE = """
@pytest.mark.stash("runs/x.json")
def test_weather(stash):
    assert agent(stash, CITIES) == [21] * len([CITIES])
"""


def one(*cities: str) -> str:
    return ONE.replace("CITIES", ", ".join(map(repr, cities)))


def test_the_first_run_records_and_later_ones_replay(project: pytest.Pytester) -> None:
    first = run(project, one("Oslo", "Rome"))
    first.assert_outcomes(passed=1)
    first.stdout.fnmatch_lines(["*recorded calls*", "runs/x.json: 2 calls of test_agent.py::test_weather"])
    before = (project.path / "runs" / "x.json").read_bytes()
    again = run(project)
    again.assert_outcomes(passed=1)
    again.stdout.no_fnmatch_line("*recorded calls*")
    assert served(project) == ["Oslo", "Rome"]
    assert files(project) == ["x.json"]
    assert (project.path / "runs" / "x.json").read_bytes() == before
    assert open_recording(project.path / "runs" / "x.json").meta["test"] == "test_agent.py::test_weather"


def test_a_replay_that_parts_from_the_recording_fails_with_the_report_alone(project: pytest.Pytester) -> None:
    run(project, one("Oslo", "Rome"))
    result = run(project, one("Oslo", "Bern"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "*the test does not do what runs/x.json recorded",
        "1 matched, 1 diverged, 0 recorded but never made",
        "input-mismatch  seq 1  tool weather #1  at test_agent.py:*",
        "  /city",
        '    recorded: "Rome"',
        '    live:     "Bern"',
        "to record it again: pytest --stash-record=all test_agent.py::test_weather",
    ])  # fmt: skip
    assert "Traceback" not in result.stdout.str()
    assert "replayer.py" not in result.stdout.str()
    assert served(project) == ["Oslo", "Rome"]


def test_a_divergence_that_the_program_swallows_still_fails(project: pytest.Pytester) -> None:
    run(project, one("Oslo"))
    body = """
@pytest.mark.stash("runs/x.json")
def test_weather(stash):
    agent(stash, "Oslo")
    try:
        agent(stash, "Rome")
    except Exception:
        pass
"""
    result = run(project, body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["extra-call  not recorded  tool weather #1*", "  *1 recorded, call 2 asked*"])


def test_a_task_group_of_divergences_is_a_report_too(project: pytest.Pytester) -> None:
    body = """
@pytest.mark.stash("runs/x.json")
def test_weather(stash):
    async def main():
        async with asyncio.TaskGroup() as group:
            for city in CITIES:
                group.create_task(stash.intercept_async("tool", "weather", lambda: service(city), input=city))
    asyncio.run(main())
"""
    run(project, body.replace("CITIES", '["Oslo", "Rome"]')).assert_outcomes(passed=1)
    result = run(project, body.replace("CITIES", '["Bern", "Genf"]'))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*the test does not do what*", "input-mismatch*", "input-mismatch*"])
    result.stdout.no_fnmatch_line("*ExceptionGroup*")


def test_recorded_calls_that_are_not_made_fail_unless_told_otherwise(project: pytest.Pytester) -> None:
    run(project, one("Oslo", "Rome"))
    result = run(project, one("Oslo"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["1 matched, 0 diverged, 1 recorded but never made", "missing-call  seq 1  tool weather #1*"]
    )
    run(project, one("Oslo").replace('x.json"', 'x.json", unused="ignore"')).assert_outcomes(passed=1)


def test_another_failure_keeps_its_own_text_and_gets_the_report_beside_it(project: pytest.Pytester) -> None:
    run(project, one("Oslo", "Rome"))
    result = run(project, one("Oslo").replace("== [21]", "== [99]"))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["*assert *21* == *99*", "*replay of runs/x.json*", "1 matched, 0 diverged, 1 recorded*"]
    )


def test_a_call_that_cannot_be_replayed_ends_at_the_programs_own_line(project: pytest.Pytester) -> None:
    body = """
@pytest.mark.stash("runs/x.json", redact=lambda value, context: DROP)
def test_weather(stash):
    stash.intercept("tool", "weather", lambda: 1)
"""
    body = "\nfrom stashdbg import DROP\n" + body
    run(project, body).assert_outcomes(passed=1)
    result = run(project, body)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *StashError: *cannot be replayed*", "test_agent.py:*: StashError"])
    assert "stashdbg_core/" not in result.stdout.str()


def test_a_failing_run_is_kept_aside_and_the_good_recording_stays(project: pytest.Pytester) -> None:
    run(project, one("Oslo"))
    good = (project.path / "runs" / "x.json").read_bytes()
    for _ in range(2):  # the second failing run replaces what is left of the first
        result = run(project, one("Rome").replace("== [21]", "== [99]"), "--stash-record=all")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(
            ["this run's calls are in runs/x.failed.json; `stashdbg runs/x.failed.json` opens it"]
        )
        assert files(project) == ["x.failed.json", "x.json"]
    assert (project.path / "runs" / "x.json").read_bytes() == good
    failed = open_recording(project.path / "runs" / "x.failed.json")
    assert [failed.blobs[event.input_ref] for event in failed.events if event.input_ref] == [{"city": "Rome"}]
    assert failed.meta["exception"]["class"] == "builtins:AssertionError"
    run(project, one("Bern"), "--stash-record=all").assert_outcomes(passed=1)
    assert b"Bern" in (project.path / "runs" / "x.json").read_bytes()


def test_a_failing_first_run_leaves_no_recording_to_replay(project: pytest.Pytester) -> None:
    run(project, one("Oslo").replace("== [21]", "== [99]")).assert_outcomes(failed=1)
    assert files(project) == ["x.failed.json"]
    run(project, one("Oslo")).assert_outcomes(passed=1)
    assert served(project) == ["Oslo", "Oslo"]


def test_a_skipped_test_leaves_nothing_and_an_expected_failure_is_no_recording(project: pytest.Pytester) -> None:
    body = """
@pytest.mark.stash("runs/skipped.json")
def test_skipped(stash):
    agent(stash, "Oslo")
    pytest.skip("no time")

@pytest.mark.xfail
@pytest.mark.stash("runs/expected.json")
def test_expected(stash):
    agent(stash, "Oslo")
    assert False
"""
    run(project, body).assert_outcomes(skipped=1, xfailed=1)
    assert files(project) == ["expected.failed.json"]


def test_none_never_records_and_says_what_to_do(project: pytest.Pytester) -> None:
    result = run(project, one("Oslo"), "--stash-record=none")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([
        "*there is no recording at runs/x.json, and --stash-record=none forbids to make one",
        "record it: pytest --stash-record=once test_agent.py::test_weather; then keep the file",
    ])  # fmt: skip
    assert served(project) == []
    run(project)
    run(project, None, "--stash-record=none").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("", "*the `stash` fixture needs a recording"),
        ("@pytest.mark.stash()", "*the `stash` marker takes one path"),
        ('@pytest.mark.stash("a", "b")', "*the `stash` marker takes one path"),
        ('@pytest.mark.stash("a", mode="x")', "*the `stash` marker has no option mode"),
        ('@pytest.mark.stash("a", unused="never")', "*unused='never' in the `stash` marker"),
        ('@pytest.mark.stash("{name}")', "*{name} in the path of the `stash` marker"),
        ('@pytest.mark.stash("bad.json")', "*bad.json*"),
        ('@pytest.mark.stash("bad.json/x.json")', "*cannot make the folder of bad.json/x.json*"),
    ],
)
def test_a_wrong_marker_or_file_is_an_error_in_plain_words(project: pytest.Pytester, marker: str, message: str) -> None:
    (project.path / "bad.json").write_text("not a recording")
    result = run(project, f"\n{marker}\ndef test_it(stash):\n    pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([message])
    assert "Traceback" not in result.stdout.str()
    assert "pytest_runs.py" not in result.stdout.str()


def test_a_marked_test_without_the_fixture_does_not_run_unrecorded(project: pytest.Pytester) -> None:
    result = run(project, '\n@pytest.mark.stash("runs/x.json")\ndef test_it():\n    service("Oslo")\n')
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*marked `stash` but does not ask for the `stash` fixture"])
    assert served(project) == []


PARAMETRISED = """
class TestAgent:
    @pytest.mark.stash("runs/{module}/{test}-{param}.json")
    @pytest.mark.parametrize("city", ["Oslo", "../Rome", "a/b"])
    def test_city(self, stash, city):
        agent(stash, city)
"""


def test_parametrised_tests_have_a_recording_each(project: pytest.Pytester) -> None:
    run(project, PARAMETRISED).assert_outcomes(passed=3)
    names = files_below(project.path / "runs")
    assert len(names) == 3
    assert "test_agent/TestAgent.test_city-Oslo.json" in names
    assert all(name.startswith("test_agent/TestAgent.test_city-") for name in names)
    run(project, None, "--stash-record=none").assert_outcomes(passed=3)
    assert len(served(project)) == 3


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_two_tests_that_record_one_file_are_told_apart(project: pytest.Pytester) -> None:
    result = run(project, PARAMETRISED.replace("-{param}", ""), "--stash-record=all")
    result.assert_outcomes(passed=1, errors=2)
    result.stdout.fnmatch_lines(["*was recorded by test_agent.py::TestAgent::test_city* a moment ago", "*{param}*"])


def test_fixtures_may_make_calls_and_a_divergence_there_is_an_error(project: pytest.Pytester) -> None:
    body = """
@pytest.fixture
def ready(stash):
    return agent(stash, CITY)

@pytest.mark.stash("runs/x.json")
def test_weather(ready, stash):
    assert ready + agent(stash, "Rome") == [21, 21]
"""
    run(project, body.replace("CITY", '"Oslo"')).assert_outcomes(passed=1)
    run(project).assert_outcomes(passed=1)
    result = run(project, body.replace("CITY", '"Bern"'))
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*/city*", "*replay of runs/x.json*"])


def test_options_of_the_marker_reach_the_replay(project: pytest.Pytester) -> None:
    body = """
@pytest.mark.stash("runs/x.json", OPTIONS)
def test_weather(stash):
    agent(stash, CITIES)
"""
    run(project, body.replace("OPTIONS", "").replace("CITIES", '"Oslo", "Rome"'))
    for options, cities in [
        ('match="input"', '"Rome", "Oslo"'),
        ("strict=False", '"Bern", "Genf"'),
        ('ignore=["/city"]', '"Bern", "Genf"'),
    ]:
        run(project, body.replace("OPTIONS", options).replace("CITIES", cities)).assert_outcomes(passed=1)
    both = run(project, body.replace("OPTIONS", 'on_divergence="collect"').replace("CITIES", '"Bern", "Genf"'))
    both.assert_outcomes(failed=1)
    both.stdout.fnmatch_lines(["0 matched, 2 diverged, *", "input-mismatch  seq 0*", "input-mismatch  seq 1*"])


def test_redaction_and_types_of_the_marker_reach_the_recording(project: pytest.Pytester) -> None:
    body = """
from dataclasses import dataclass
from stashdbg import TypeRegistry
types = TypeRegistry()

@types.register
@dataclass
class Weather:
    degrees: int

@pytest.mark.stash("runs/x.json", types=types, redact=lambda value, context: "hidden" if value == "secret" else value)
def test_weather(stash):
    assert stash.intercept("tool", "t", lambda: Weather(3), input="secret") == Weather(3)
"""
    run(project, body).assert_outcomes(passed=1)
    run(project).assert_outcomes(passed=1)
    assert "secret" not in json.dumps(json.loads((project.path / "runs" / "x.json").read_text())["blobs"])


def test_async_tests_and_unittest_cases(project: pytest.Pytester) -> None:
    body = """
import unittest

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.anyio
@pytest.mark.stash("runs/async.json")
async def test_async(stash):
    async def ask():
        return service("Oslo")
    assert (await stash.intercept_async("tool", "weather", ask))["degrees"] == 21

@pytest.mark.stash("runs/case.json")
class Case(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def _with(self, stash):
        self.stash = stash

    def test_case(self):
        agent(self.stash, "Oslo")
        self.assertEqual(1, ONE)
"""
    run(project, body.replace("ONE", "2")).assert_outcomes(passed=1, failed=1)
    assert files(project) == ["async.json", "case.failed.json"]
    run(project, body.replace("ONE", "1")).assert_outcomes(passed=2)
    run(project, None, "--stash-record=none").assert_outcomes(passed=2)


def test_an_unreadable_place_or_a_full_one_is_said(project: pytest.Pytester) -> None:
    body = """
@pytest.mark.stash("runs/x.json")
def test_weather(stash):
    agent(stash, "Oslo")
    stash.path.with_name(stash.path.name + ".journal").unlink()
"""
    result = run(project, body, "-W", "ignore")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*the recording could not be written to runs/x.failed.json"])


def test_workers_of_xdist_record_and_replay(project: pytest.Pytester) -> None:
    (project.path / "test_agent.py").write_text(AGENT + PARAMETRISED)
    first = project.runpytest_subprocess("-p", "xdist", "-n", "2", "-p", "no:cacheprovider")
    first.assert_outcomes(passed=3)
    first.stdout.fnmatch_lines(["*recorded calls*", "runs/test_agent/TestAgent.test_city-Oslo.json: 1 call of *"])
    again = project.runpytest_subprocess("-p", "xdist", "-n", "2", "-p", "no:cacheprovider", "--stash-record=none")
    again.assert_outcomes(passed=3)
    assert len(served(project)) == 3


def test_installing_stashdbg_installs_the_plugin() -> None:
    (entry,) = entry_points(group="pytest11", name="stashdbg")
    assert entry.value == "stashdbg.pytest_plugin"


def test_the_plugin_costs_a_run_without_it_nothing(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTEST_PLUGINS")
    (project.path / "test_agent.py").write_text(
        AGENT.replace("from stashdbg import StashError", "")
        + """
import sys
def loaded():
    return {name.split(".")[0] for name in sys.modules}
def test_unmarked():
    assert not {"stashdbg_core", "msgspec"} & loaded()
@pytest.mark.stash("runs/x.json")
def test_marked(stash):
    assert not {"textual", "rich", "typer", "stashdbg_tui"} & loaded()
"""
    )
    project.runpytest_subprocess("-p", "stashdbg.pytest_plugin").assert_outcomes(passed=2)


def test_options_and_marker_are_in_pytests_own_help(project: pytest.Pytester) -> None:
    result: Any = project.runpytest_inprocess("--help")
    result.stdout.fnmatch_lines(["*--stash-record={none,once,all}"])
    project.runpytest_inprocess("--markers").stdout.fnmatch_lines(["@pytest.mark.stash(path*"])
