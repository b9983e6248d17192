"""One fork run many times: what is run, what it costs, which runs end alike, and an end in the middle."""

from __future__ import annotations

import json
import pickle
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run as stashdbg
from stashdbg_core.errors import StashError
from stashdbg_core.fork import fork
from stashdbg_core.programs.experiments.sweep import plan_sweep, sweep
from stashdbg_core.programs.experiments.trials import Trial, Trials
from stashdbg_core.programs.runs.continuing_run import WhatIf
from stashdbg_core.programs.runs.rerunning import command_of
from stashdbg_core.programs.runs.trust import was_recorded_here
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from tests.programs.deciding_model import DecidingServer, deciding_server, recorded_agent


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DecidingServer]:
    """The model's server, and in the folder a recorded run with a fork at the weather."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    with deciding_server() as started:
        recording = recorded_agent(started)
        write_recording(fork(recording, 0, override={"text": "fog"}), Path("fork.json"))
        yield started


class Inline(Executor):
    """Runs what it is given at once, as an executor of somebody's own would."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*pickle.loads(pickle.dumps(args)), **kwargs))
        return future


def test_values_are_run_and_equal_endings_grouped(server: DecidingServer, capsys: pytest.CaptureFixture[str]) -> None:
    Path("values.json").write_text('[{"text": "sun"}, {"text": "rainbow"}]')
    words = ["sweep", "fork.json", "--set", '{"text": "rain"}', "--values", "values.json", "--times", "1"]
    command = json.loads(Path("run.json").read_text())["meta"]["command"]["argv"]
    assert stashdbg([*words, "--dry-run", "--", *command]) == 0
    said = capsys.readouterr().out
    assert "that 3 times: 3 values" in said and "in all 12 live calls, if each run does as the parent" in said
    asked = server.asked.total()
    assert stashdbg([*words, "--", *command]) == 64  # no terminal to ask on
    assert server.asked.total() == asked and not Path("fork-sweep").exists()
    capsys.readouterr()

    assert stashdbg([*words, "-o", "kept", "--yes", "--", *command]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "count  exit  tokens in  out  runs  ending",
        "    2     0         28   12  1, 3  done: booked: take an umbrella",
        "    1     4         14    6  2     done: booked: go for a walk",
    ]
    assert 'run 2: {"text": "sun"}' in err and "3 of 3 runs, kept in kept" in err
    assert sorted(path.name for path in Path("kept").iterdir()) == [
        "fork-1.json", "fork-2.json", "fork-3.json", "run-1.json", "run-2.json", "run-3.json",
    ]  # fmt: skip
    branch, ran = open_recording("kept/fork-2.json"), open_recording("kept/run-2.json")
    assert ran.meta["fork"] == branch.meta["fork"] and ran.blobs.tree(ran.events[0].ref) == {"text": "sun"}
    assert was_recorded_here(Path("kept/run-2.json"))
    assert server.asked["weather"] == 1 and server.asked["plan"] == 4


def test_any_executor_runs_it_and_parted_runs_are_told_apart(server: DecidingServer) -> None:
    recording = open_recording("fork.json")
    command = command_of(open_recording("run.json"), ())
    found = sweep(plan_sweep(recording, command, times=2), Path("kept"), trials=Trials(Inline()))
    assert [group.numbers for group in found.groups] == [(1, 2)]
    tree = found.to_json()
    assert set(tree) == {"runs", "groups", "values", "planned", "interrupted", "folder"}
    run = tree["runs"][0]
    assert (run["exitCode"], run["live"], run["inputTokens"], run["value"]) == (4, 4, 14, None)
    Path("agent.py").write_text(Path("agent.py").read_text().replace("/weather", "/climate"))
    parted = sweep(plan_sweep(recording, command), Path("parted"), trials=Trials(Inline()))
    assert parted.runs[0].ending.state == "parted"


def test_stopping_ends_the_programs_and_keeps_what_they_recorded(server: DecidingServer) -> None:
    server.gate = threading.Event()
    trials = Trials(jobs=2)
    plan = plan_sweep(open_recording("fork.json"), command_of(open_recording("run.json"), ()), times=5)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(sweep(plan, Path("kept"), trials=trials)))
    thread.start()
    deadline = threading.Event()
    while server.asked["last"] < 3 and thread.is_alive():  # one of the recorded run, one of each that runs now
        deadline.wait(0.02)
    trials.stop()
    thread.join(30)
    (stopped,) = found
    assert stopped.interrupted and len(stopped.runs) == 2
    assert {end.ending.exit_code for end in stopped.runs} == {143} and all(
        end.ending.state == "stopped" for end in stopped.runs
    )
    kept = open_recording("kept/run-1.json")
    assert len(kept.events) == 5 and kept.complete


def test_what_cannot_be_swept_is_refused(server: DecidingServer) -> None:
    run, branch = open_recording("run.json"), open_recording("fork.json")
    command = command_of(run, ())
    with pytest.raises(StashError, match="no fork that puts one in"):
        plan_sweep(run, command, values=[1])
    with pytest.raises(StashError, match="1 to 10,000 runs"):
        plan_sweep(branch, command, times=0)
    with pytest.raises(StashError, match="cannot run no-such-program"):
        sweep(plan_sweep(branch, command.typed(["no-such-program"])), Path("kept"))
    assert not Path("kept").exists()


def test_a_trial_can_be_sent_to_another_process() -> None:
    from stashdbg_core.fork import override_of_value
    from stashdbg_core.programs.process.command import new_command

    trial = Trial("continue", Path("a"), new_command(["python"]), Path("b"), what_if=WhatIf({3: override_of_value(1)}))
    assert pickle.loads(pickle.dumps(trial)) == trial


def test_a_run_that_makes_too_many_live_calls_is_ended(
    server: DecidingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    command = json.loads(Path("run.json").read_text())["meta"]["command"]["argv"]
    assert stashdbg(["sweep", "fork.json", "--yes", "--max-calls", "2", "--json", "--", *command]) == 1
    (ended,) = json.loads(capsys.readouterr().out)["runs"]
    assert (ended["state"], ended["live"]) == ("limited", 2)
    assert stashdbg(["sweep", "fork.json", "--yes", "--max-calls", "-1", "--", *command]) == 64
    assert stashdbg(["continue", "fork.json", "--yes", "--max-calls", "2", "--json", "--", *command]) == 1
    told = capsys.readouterr()
    assert json.loads(told.out)["live"] == 2 and "limit: ended after 2 live calls" in told.err


def test_a_program_that_never_comes_to_the_fork_has_not_run_on(
    server: DecidingServer, capsys: pytest.CaptureFixture[str]
) -> None:
    for own, code in ((0, 1), (5, 5)):
        assert (
            stashdbg(["continue", "fork.json", "--yes", "--", sys.executable, "-c", f"raise SystemExit({own})"]) == code
        )
        assert "ended before it came to event 0, so nothing ran on" in capsys.readouterr().err
    assert stashdbg(["replay", "run.json", "--ignore", "id"]) == 64
    assert "--ignore 'id' is not a JSON pointer; start it with /, such as /id" in capsys.readouterr().err
