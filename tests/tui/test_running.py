"""Running a program on from the screen: nothing starts unseen, what happens is seen as it happens, and how it ended."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
import time
from pathlib import Path

import pytest
from textual.widgets import Input

from stashdbg_core.fork import fork
from stashdbg_core.programs.process.run_output import OutputTail
from stashdbg_core.programs.runs import trust
from stashdbg_core.programs.runs.run_plan import RunWishes, offer_run, plan_run
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from stashdbg_tui.app import StashApp
from stashdbg_tui.screens.ablate import AblateDialog
from stashdbg_tui.screens.diff import DiffScreen
from stashdbg_tui.screens.run import RunDialog
from stashdbg_tui.widgets.panel import Panel
from tests.agents.model_server import ModelServer

AGENT = """
import json, os, sys, urllib.request

def ask(text):
    body = {"model": "small", "messages": [{"role": "user", "content": text}]}
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(os.environ["MODEL"], json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]

plan = ask("make a plan")
print("the plan:", plan, flush=True)
print("the end:", ask(plan), file=sys.stderr)
"""
SECONDS = 20


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """State and home folders of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server(monkeypatch):
    """A model that answers at once, until its ``delay`` is set."""
    with ModelServer() as model:
        monkeypatch.setenv("MODEL", f"{model.url}/v1/chat/completions")
        yield model


@pytest.fixture
def branch(tmp_path, server):
    """A fork of a recorded run, another plan put in by hand."""
    (tmp_path / "agent.py").write_text(AGENT)
    run = record_program([sys.executable, "agent.py"], tmp_path / "run.json")
    run.start()
    assert run.wait().exit_code == 0
    parent = open_recording(tmp_path / "run.json")
    put_in = {"choices": [{"message": {"role": "assistant", "content": "rest"}}]}
    written = write_recording(fork(parent, 0, override=put_in), tmp_path / "branch.json")
    trust.remember_fork(parent.path, written)
    return written


async def until(d, condition):
    """Let the app work until something is so."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, d.text()
        await d.pilot.pause(0.02)
    await d.settle()


def planted(folder, **command):
    """Write a recording from elsewhere whose command would make a file."""
    code = f"open({str(folder / 'started')!r}, 'w')"
    meta = {"command": {"argv": [sys.executable, "-c", code, "\x1b]0;PWNED\x07"], "cwd": str(folder), **command}}
    event = {"seq": 0, "channel": "tool", "key": "t", "ordinal": 0, "outcome": "return", "ref": "r"}
    tree = {"version": 1, "id": "x", "events": [event], "blobs": {"r": 1}, "meta": {"complete": True, **meta}}
    (folder / "planted.json").write_text(json.dumps(tree))
    return folder / "planted.json"


def test_the_loop_preview_run_events_end_difference(drive, branch, server, tmp_path):
    server.delay = 0.5

    async def test(d):
        assert "r run" in d.lines()[-1]
        await d.press("r")
        text = d.text()
        assert isinstance(d.app.screen, RunDialog)
        assert "served from the recording: 1 llm" in text and "the value of event 0 is the one put in by hand" in text
        assert "live after that, if the program does as in the parent:" in text and "llm  small" in text
        assert "hosts: 127.0.0.1" in text and "branch-run.json" in text and "agent.py" in text
        asked = len(server.requests)
        await d.press("enter")
        await until(d, lambda: "running" in d.status and d.screen.session.recording.id != "branch")
        assert "Ctrl+K stop" in d.lines()[-1] and "Ctrl+K stops it" in d.text()
        await until(d, lambda: "the plan: rest" in d.text())
        await until(d, lambda: not d.screen.runs)
        assert d.screen.session.count == 2 and d.position == 1 and len(server.requests) == asked + 1
        assert "ended with exit code 0: 1 served, 1 live" in d.status
        assert "e the end: You said 'rest'." in d.text() and "recorded in" in d.text()
        await d.press("Y")
        assert d.app.clipboard == shlex.join(
            ["stashdbg", "continue", str(branch), "-o", str(tmp_path / "branch-run.json")]
        )
        await until(d, lambda: d.screen._sides is not None)
        await d.press("equals_sign")
        await until(d, lambda: isinstance(d.app.screen, DiffScreen) and d.app.screen.comparison is not None)
        assert "run.json  2 events" in d.lines()[0] and "branch-run.json  2 events" in d.lines()[0]
        await d.press("q", "r")
        assert "branch-run-run.json" in d.text()  # the run was made here, too, and can be run on

    drive(test, paths=[branch])
    made = open_recording(tmp_path / "branch-run.json")
    assert made.complete and trust.was_recorded_here(tmp_path / "branch-run.json")


def test_leaving_asks_while_a_program_runs_and_stops_it(drive, branch, server, tmp_path):
    server.delay = 60

    async def test(d):
        await d.press("r", "enter")
        await until(d, lambda: "1 served, 1 live" in d.status)
        await d.press("m", "apostrophe")
        assert d.screen.panel.kind == "marks"
        await d.press("r")
        assert d.screen.panel.kind == "run"  # the output comes back; nothing is started twice
        await d.press("e")
        assert "the program is still running" in d.status  # an edit needs a recording that has ended
        await d.press("q")
        assert not d.screen.has_class("-panel") and not d.app._exit  # the list is closed first
        await d.press("q")
        assert "is running  s stop it and leave" in d.text() and "python" in d.text()
        await d.press("escape")
        assert d.screen.runs and not d.app._exit
        await d.press("Q", "s")
        end = time.monotonic() + SECONDS
        while not d.app._exit and time.monotonic() < end:
            await asyncio.sleep(0.02)
        assert d.app._exit and d.screen.live.over and d.screen.live.result.exit_code == 143

    drive(test, paths=[branch])
    made = open_recording(tmp_path / "branch-run.json")
    assert made.complete and [event.outcome for event in made.events] == ["return", "throw"]


def test_a_recording_from_elsewhere_starts_nothing_until_its_command_is_typed(drive, tmp_path):
    async def test(d):
        await d.press("r")
        text = d.text()
        assert "the recording was not made here" in text and "\x1b" not in text and "␛]0;PWNED" in text
        assert d.app.screen.query_one("#run-command", Input).value == ""
        await d.press("enter")
        assert "type the command" in d.text() and isinstance(d.app.screen, RunDialog)
        await d.press("escape")
        assert d.screen.live is None and "nothing was run" in d.status
        await d.press("r")
        await d.type("touch")
        await d.press("enter")
        assert "this is what will run now" in d.text() and d.screen.live is None
        await d.press("escape")

    drive(test, paths=[planted(tmp_path)])
    assert not (tmp_path / "started").exists() and sorted(p.name for p in tmp_path.glob("*.json*")) == ["planted.json"]


def test_keys_in_lines_that_are_only_read_do_nothing_even_before_there_are_any(drive, tmp_path):
    async def test(d):
        await d.press("r")
        panel = d.app.screen.query_one(Panel)
        panel.can_focus = True
        for rows in (panel.rows, ()):
            panel.show_rows("preview", "", rows)
            d.app.screen.set_focus(panel)
            await d.press("minus", "enter", "j", "k")
            assert isinstance(d.app.screen, RunDialog) and panel.cursor < 0

    drive(test, paths=[planted(tmp_path)])


def test_a_recording_without_a_command_says_so_and_shows_no_key(drive, agent):
    async def test(d):
        assert "r run" not in d.lines()[-1]
        await d.press("r")
        assert "does not say which program made it" in d.status
        await d.press("ctrl+k")
        assert "no program is running" in d.status

    drive(test, recording=agent)


def test_the_terminal_is_given_up_only_where_there_is_one(drive, tmp_path):
    async def test(d):
        await d.press("r", "down", "down", "down", "down", "down")
        box = d.app.screen.query_one("#run-terminal")
        box.focus()
        await d.press("space")
        d.app.screen.query_one("#run-command", Input).value = f"{sys.executable} nothing.py"
        d.app.screen.act("run")
        await d.settle()
        d.app.screen.act("run")
        await d.settle()
        assert "the screen cannot be given up here" in d.status

    drive(test, paths=[planted(tmp_path)])
    assert not (tmp_path / "started").exists()


def test_what_why_lists_is_tested_and_only_that_is_called_causal(drive, branch, server, tmp_path):
    async def test(d):
        await d.press("ctrl+t")
        assert "nothing to test yet: W lists" in d.status
        await d.press("G", "W", "ctrl+t")
        assert isinstance(d.app.screen, AblateDialog)
        assert "of event 0, llm" in d.text() and "3 times each" in d.text() and "6 runs at most" in d.text()
        asked = len(server.requests)
        d.app.screen.query_one("#ablate-times", Input).value = "1"
        await d.press("enter")
        assert "2 runs at most" in d.text() and "this is what will run now" in d.text()
        assert len(server.requests) == asked and d.app.screen.result is None
        await until(d, lambda: not d.app.screen.query_one("#do-run").has_class("-active"))  # it takes no double press
        await d.press("enter")
        await until(d, lambda: d.app.screen.result is not None)
        text = d.text()
        assert "without event 0  llm small: causal" in text and "causal: 1 of 1 that were tested" in text
        assert "1 of the same live calls" not in text and "the recordings are in" in text
        await d.press("enter")
        assert d.app.screen is d.screen and d.position == 0

    drive(test, paths=[tmp_path / "run.json"])
    assert sorted(path.name for path in (tmp_path / "run-ablation").iterdir())[0].startswith("as-recorded")


def test_outputs_that_are_tested_are_left_only_by_stopping_the_runs(drive, branch, server, tmp_path):
    server.delay = 60

    async def test(d):
        await d.press("G", "W", "ctrl+t")
        asked = len(server.requests)
        await d.pilot.press("enter")
        end = time.monotonic() + SECONDS
        while len(server.requests) == asked and time.monotonic() < end:
            await d.pilot.pause(0.02)
        await d.pilot.press("q", "Q", "ctrl+q")
        assert isinstance(d.app.screen, AblateDialog) and d.app.screen.working and not d.app._exit
        assert "Esc stops" in d.text()
        await d.pilot.press("escape")
        await until(d, lambda: d.app.screen.result is not None)
        assert d.app.screen.result.interrupted and "stopped, and the runs that had" in d.text()

    drive(test, paths=[tmp_path / "run.json"])


def test_a_planted_command_is_not_run_to_test_causes(drive, tmp_path):
    file = planted(tmp_path)
    tree = json.loads(file.read_text())
    said = {"text": "refund order H-52 at once"}
    first = {**tree["events"][0], "ref": "said"}
    second = {"seq": 1, "channel": "llm", "key": "m", "ordinal": 0, "outcome": "return", "ref": "r", "inputRef": "said"}
    file.write_text(json.dumps({**tree, "events": [first, second], "blobs": {"r": 1, "said": said}}))

    async def test(d):
        await d.press("G", "W", "ctrl+t")
        assert isinstance(d.app.screen, AblateDialog) and "the recording was not made here" in d.text()
        for _ in range(2):
            await d.press("enter")
            assert "type the command" in d.text() and d.app.screen.result is None

    drive(test, paths=[file])
    assert not (tmp_path / "started").exists() and not (tmp_path / "planted-ablation").exists()


# -- pictures ----------------------------------------------------------------------------------------------------------


class Stage:
    """What is seen of a program that runs, standing still."""

    def __init__(self) -> None:
        self.name, self.over, self.path, self.tail = "python agent.py", False, None, OutputTail()
        for stream, text in (("stdout", "the plan: rest\nasking\n"), ("stderr", "warning: slow [/] \x1b[2J\n")):
            self.tail.take(stream, text.encode())

    def words(self) -> str:
        return "running 0:04 · 1 served, 1 live"

    def look(self) -> None:
        return None

    def stop(self) -> None:
        self.over = True

    def join(self) -> None:
        return None


@pytest.fixture
def pictured(tmp_path, recordings):
    """A fork made here, whose paths are the same wherever it lies."""
    tape = recordings.Tape("run")
    tape.add("llm", "small", {"say": "rest"}, {"ask": "plan"}, thread="main")
    tape.add("tool", "mail", "sent", {"to": "ada", "password": "[REDACTED:password#1]"})
    tape.add("llm", "small", {"say": "done", "key": "[REDACTED:password#1]"}, {"ask": "more"})
    meta = {
        "complete": True,
        "command": {"argv": ["python", "agent.py", "--city", "Oslo"], "cwd": "/home/ada/desk"},
        "hosts": {"llm": ["api.example.com"]},
    }
    parent = write_recording(tape.done(meta), tmp_path / "run.json")
    branch = write_recording(
        fork(open_recording(parent), 2, override={"say": "[REDACTED:password#1]"}), Path("fork.json")
    )
    trust.remember(branch)
    return branch


def test_the_preview_looks_as_it_did(snap_compare, pictured):
    async def press(pilot):
        await pilot.app.workers.wait_for_complete()
        await pilot.press("r")
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(StashApp([pictured], theme="dark"), run_before=press, terminal_size=(80, 24))


def test_a_running_program_looks_as_it_did(snap_compare, pictured):
    async def stage(pilot):
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()
        screen = pilot.app.main_screen
        screen._plan = plan_run(offer_run(screen.session.recording), RunWishes())
        screen.live = Stage()
        screen._run_timer = screen.set_interval(3600, screen._look_at_run)
        screen.list_rows("run")
        screen.show_keys()
        screen._look_at_run()
        await pilot.app.workers.wait_for_complete()
        await pilot.pause()

    assert snap_compare(StashApp([pictured], theme="dark"), run_before=stage, terminal_size=(80, 24))
