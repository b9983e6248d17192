"""The pytest plugin: a marked test's calls are recorded once, and replayed ever after.

    @pytest.mark.stash("runs/refund.json")
    def test_refund(stash):
        agent(stash)

Every pytest run of an environment loads this module, so it imports nothing of stashdbg until a test asks for ``stash``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stashdbg import Stash
    from stashdbg.pytest_runs import TestRun

_RUN: pytest.StashKey[TestRun] = pytest.StashKey()
_RECORDED = "stash_recorded"
_MARKER = (
    "stash(path, *, match='order', strict=True, unused='fail', on_divergence='throw', ignore=(), types=None, redact=…):"
    " record the calls made through the `stash` fixture to `path`, beside the test file, and replay them ever after; "
    "{module}, {test} and {param} in the path stand for the test's own"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer ``--stash-record``."""
    parser.getgroup("stash", "recorded calls (stashdbg)").addoption(
        "--stash-record",
        choices=("none", "once", "all"),
        default="once",
        help="once: record where the recording is missing, else replay (the default). none: never record; a missing "
        "recording is an error. all: record again; a recording is replaced only if its test passes.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER)


@pytest.fixture
def stash(request: pytest.FixtureRequest) -> Iterator[Stash]:
    """A ``stashdbg.Stash`` that records this test's calls, or replays them, as ``@pytest.mark.stash`` says."""
    from stashdbg.pytest_runs import begin

    run = begin(request.node)
    request.node.stash[_RUN] = run
    yield run.stash
    recorded = run.end()
    if recorded is not None:
        request.node.user_properties.append((_RECORDED, recorded))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a test that is marked and would run without its recording."""
    marked = any(marker.name == "stash" for marker in item.own_markers)
    if marked and "stash" not in getattr(item, "fixturenames", ("stash",)):
        pytest.fail("the test is marked `stash` but does not ask for the `stash` fixture", pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test whose replay diverged, whether or not the program swallowed that, with the report as the reason."""
    try:
        result = yield
    except BaseException as error:
        run = item.stash.get(_RUN, None)
        failure = None if run is None else run.failure_of(error)
        if failure is None:
            raise
        raise failure.with_traceback(error.__traceback__) from None
    run = item.stash.get(_RUN, None)
    failure = None if run is None else run.failure()
    if failure is not None:
        raise failure
    return result


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let the run know how its test ended, and a failed test's report where the recording is."""
    report = yield
    run = item.stash.get(_RUN, None)
    if run is not None:
        run.took_place(report, call.excinfo.value if call.excinfo is not None else None)
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name what was recorded: those tests called the real services."""
    reports = chain.from_iterable(terminalreporter.stats.values())
    ended = (report for report in reports if getattr(report, "when", None) == "teardown")
    recorded = [str(value) for report in ended for name, value in report.user_properties if name == _RECORDED]
    if recorded:
        terminalreporter.section("recorded calls")
        for line in recorded:
            terminalreporter.write_line(line)
