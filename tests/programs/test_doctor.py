"""Replays side by side: what is the same each time, what is not, where, and what would pin it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from stashdbg.cli.app import run as stashdbg
from stashdbg_core.programs.experiments.pins import cause_of
from stashdbg_core.programs.runs.starting import record_program
from tests.programs.deciding_model import deciding_server, recorded_agent

FLAKY = """
import os, random, sys, time, urllib.request
class Thing:
    pass
def tell(text):
    urllib.request.urlopen(sys.argv[1] + "/tell?" + text.replace(" ", "+")).read()
def count():
    with open("count") as file:
        number = int(file.read()) + 1
    with open("count", "w") as file:
        file.write(str(number))
    return number
tell(f"{time.time()} {random.random()} {set('abcdef')}")
number = count()
tell(f"was here {number} times")
print("always")
print("run", number)
sys.exit(number % 2)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


def test_a_program_that_is_pinned_does_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    with deciding_server() as server:
        recorded_agent(server)
        asked = server.asked.total()
        assert stashdbg(["replay", "run.json", "--times", "2"]) == 0
        assert capsys.readouterr().out == "2 replays, the same each time: stdout, exit code, calls\n"
        assert server.asked.total() == asked
        server.moody = True
        assert stashdbg(["replay", "run.json", "--times", "2", "--live", "--json"]) == 1
        tree = json.loads(capsys.readouterr().out)
    assert tree["live"] and not tree["stdoutSame"] and tree["exitCodeSame"]
    answers = {d["call"]: d["cause"] for d in tree["differences"] if d["part"] == "call"}
    assert answers["llm small"] == "outside" and asked < server.asked.total()


def test_what_differs_is_told_by_call_site(capsys: pytest.CaptureFixture[str]) -> None:
    Path("flaky.py").write_text(FLAKY)
    Path("count").write_text("0")
    with deciding_server() as server:
        run = record_program([sys.executable, "flaky.py", server.url], Path("run.json"))
        run.start()
        assert run.wait().exit_code == 1
    assert stashdbg(["replay", "run.json", "--times", "3", "-j", "1", "--json"]) == 1
    tree = json.loads(capsys.readouterr().out)
    assert set(tree) == {
        "runs", "live", "same", "stdoutSame", "exitCodeSame", "callsSame", "exitCodes", "differences", "unhooked",
        "interrupted", "exitCode",
    }  # fmt: skip
    assert (tree["runs"], tree["same"], tree["exitCodes"]) == (3, False, [0, 1, 0])
    call, output, code = tree["differences"]
    assert call["site"] == "flaky.py:6 tell" and call["pointer"] == "/url" and call["runs"] == [1, 2, 3]
    assert "was+here+1+times" in call["before"] and "was+here+2+times" in call["after"]
    assert (output["part"], output["call"], output["before"], output["after"]) == ("stdout", "line 2", "run 2", "run 3")
    assert (code["part"], code["before"], code["after"]) == ("exitCode", "0", "1")

    Path("count").write_text("0")
    assert stashdbg(["replay", "run.json", "--times", "2", "-j", "1"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("2 replays: stdout and exit code and calls differ\n")
    assert (
        "flaky.py:6 tell  http GET " in out and "to pin it:" in out and all(len(line) <= 80 for line in out.split("\n"))
    )


def test_a_program_that_was_changed_is_told_from_one_that_varies(capsys: pytest.CaptureFixture[str]) -> None:
    with deciding_server() as server:
        recorded_agent(server)
    Path("agent.py").write_text(Path("agent.py").read_text().replace('"sum up"', '"sum it up"'))
    assert stashdbg(["replay", "run.json", "--times", "2", "--json"]) == 1
    tree = json.loads(capsys.readouterr().out)
    (found,) = tree["differences"]
    assert (found["cause"], found["pointer"]) == ("changed", "/messages/0/content") and tree["stdoutSame"]
    assert stashdbg(["replay", "run.json", "--times", "1"]) == 64
    assert stashdbg(["replay", "run.json", "--live"]) == 64


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("<Thing object at 0x7fe024338790>", "<Thing object at 0x7f9c7b3dfb90>", "address"),
        ("?q=%200x7fe024338790", "?q=%200x7f9c7b3dfb90", "address"),
        ("at 2026-11-30 14:09", "at 2026-11-30 14:10", "clock"),
        ("1764511111.25", "1764511112.5", "clock"),
        ("id 1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed", "id 9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d", "random"),
        ("0.8444218515250481", "0.7579544029403025", "random"),
        ("/tmp/tmpab12cd34/x", "/tmp/tmpzz98yy76/x", "temporary"),
        ("['b', 'a', 'c']", "['a', 'b', 'c']", "order"),
        ("took 12.5 ms", "took 13.1 ms", "number"),
        ("run 2", "run 3", "number"),
        ("it is cold", "it is warm", "read"),
        (None, "made", "path"),
    ],
)
def test_what_a_difference_looks_like(before: str | None, after: str | None, kind: str) -> None:
    assert cause_of(before, after).kind == kind
