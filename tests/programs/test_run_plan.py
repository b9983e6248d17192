"""What is offered and planned before a program runs on, the tail of what it writes, and how its end is told."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.fork import fork
from stashdbg_core.programs.process.command import Command
from stashdbg_core.programs.process.run_output import OutputTail
from stashdbg_core.programs.runs import trust
from stashdbg_core.programs.runs.parents import parent_of
from stashdbg_core.programs.runs.program_run import RunResult
from stashdbg_core.programs.runs.run_plan import RunWishes, new_path, offer_run, plan_run, preview_run
from stashdbg_core.programs.runs.watched_run import WatchedRun, ending_words
from stashdbg_core.replay.divergence import Divergence, DivergenceReport
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording

HERE = {"argv": ["python", "agent.py", "--city", "New York"], "cwd": "/desk", "hashSeed": 0, "seed": "0" * 64}
SECRET = "[REDACTED:password#1]"


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def recording(path: Path, command: Any = HERE, *, made_here: bool = True) -> Any:
    """A file of a model call and a tool that sent something, with a masked value."""
    common = {"ordinal": 0, "outcome": "return"}
    events = [
        {"seq": 0, "channel": "llm", "key": "small", "ref": "r", **common},
        {"seq": 1, "channel": "tool", "key": "send mail", "ref": "r", **common},
        {"seq": 2, "channel": "tool", "key": "late", "ref": "r", **common},
    ]
    meta = {"command": command, "complete": True} if command is not None else {"complete": True}
    tree = {"version": 1, "id": "parent", "events": events, "blobs": {"r": {"pass": SECRET}}, "meta": meta}
    path.write_text(json.dumps(tree))
    if made_here:
        trust.remember(path)
    return open_recording(path)


def test_a_command_recorded_here_is_offered_ready_to_run_in_its_folder(tmp_path: Path) -> None:
    offer = offer_run(recording(tmp_path / "run.json"))
    assert offer.refusal is None and offer.command_text == "python agent.py --city 'New York'"
    for typed in ("", offer.command_text):
        plan = plan_run(offer, RunWishes(command=typed))
        assert plan.command.argv == tuple(HERE["argv"]) and plan.command.cwd == Path("/desk") and not plan.typed
        assert plan.path == tmp_path / "run-run.json"
        assert plan.command_line() == f"stashdbg continue {tmp_path}/run.json -o {tmp_path}/run-run.json"
    edited = plan_run(offer, RunWishes(command="python agent.py --city Oslo"))
    assert edited.typed and edited.command.cwd == tmp_path and edited.command.seed == HERE["seed"]
    assert edited.command_line().endswith("-- python agent.py --city Oslo")


@pytest.mark.parametrize(
    ("made_here", "command", "why"),
    [
        (False, HERE, "the recording was not made here, so its command does not run by itself"),
        (True, {**HERE, "argv": ["python", "agent.py", SECRET]}, f"holds {SECRET} in place of a secret"),
    ],
)
def test_any_other_command_is_shown_and_has_to_be_typed(
    tmp_path: Path, made_here: bool, command: Any, why: str
) -> None:
    offer = offer_run(recording(tmp_path / "run.json", command, made_here=made_here))
    assert offer.command_text == "" and why in offer.refusal_words and "agent.py" not in offer.refusal_words
    assert preview_run(offer).served == {"llm": 1, "tool": 2}
    for typed in ("", "   "):
        with pytest.raises(StashError, match="type the command"):
            plan_run(offer, RunWishes(command=typed))
    plan = plan_run(offer, RunWishes(command="python mine.py"))
    assert plan.command.argv == ("python", "mine.py") and plan.command.cwd == tmp_path


def test_a_file_that_was_exchanged_since_it_was_opened_runs_nothing_by_itself(tmp_path: Path) -> None:
    planted = recording(tmp_path / "run.json", {**HERE, "argv": ["evil"]}, made_here=False)
    recording(tmp_path / "run.json")
    offer = offer_run(planted)
    assert offer.refusal is not None and "changed since it was opened" in offer.refusal.message
    offer = offer_run(open_recording(tmp_path / "run.json"))
    (tmp_path / "run.json").write_bytes((tmp_path / "run.json").read_bytes() + b"\n")
    with pytest.raises(StashError, match="not made here"):
        plan_run(offer, RunWishes())


def test_a_command_that_acts_on_a_terminal_is_not_put_into_a_field(tmp_path: Path) -> None:
    offer = offer_run(recording(tmp_path / "run.json", {**HERE, "argv": ["python", "\x1b]0;PWNED\x07"]}))
    assert offer.refusal is None and offer.command_text == ""
    assert plan_run(offer, RunWishes()).command.argv[1] == "\x1b]0;PWNED\x07"


def test_what_is_typed_is_read_as_a_shell_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB", "correct-horse")
    offer = offer_run(recording(tmp_path / "run.json"))
    wishes = RunWishes(rerun="'tool/send mail'", secrets="password#1=env:DB", file="mine")
    plan = plan_run(offer, wishes)
    assert plan.preview.rerun == ("tool/send mail",) and plan.preview.placeholders == ()
    assert plan.path == tmp_path / "mine.json"
    assert "--rerun 'tool/send mail' --secret 'password#1=env:DB'" in plan.command_line()
    for bad, said in (
        (RunWishes(command="python 'agent"), "no closing quotation"),
        (RunWishes(command="python -I agent.py"), "ignores PYTHONPATH"),
        (RunWishes(rerun="tool"), "CHANNEL/KEY"),
        (RunWishes(secrets="password#1"), "env:NAME"),
        (RunWishes(file="run.json"), "replaces no file"),
    ):
        with pytest.raises(StashError) as caught:
            plan_run(offer, bad)
        assert said in f"{caught.value.message} {caught.value.hint}"
    with pytest.raises(StashError, match="does not say which program"):
        offer_run(recording(tmp_path / "bare.json", None))


def test_the_new_file_lies_beside_the_recording_and_its_name_is_free(tmp_path: Path) -> None:
    first = recording(tmp_path / "run.json")
    (tmp_path / "run-run.json").touch()
    (tmp_path / "run-run-2.json.journal").touch()
    assert new_path(first) == tmp_path / "run-run-3.json"


def test_the_parent_is_found_by_id_and_digest_wherever_it_lies_in_the_folder(tmp_path: Path) -> None:
    run = recording(tmp_path / "z.json")
    branch = open_recording(write_recording(fork(run, 2), tmp_path / "a.json"))
    found = parent_of(branch)
    assert found is not None and found.path == tmp_path / "z.json"
    (tmp_path / "z.json").write_text((tmp_path / "z.json").read_text().replace("late", "lost"))
    assert parent_of(branch) is None and parent_of(run) is None


def test_the_tail_of_an_output_is_bounded_decoded_and_told_apart() -> None:
    tail = OutputTail()
    for stream, data in (
        ("stdout", b"one\ntw"),
        ("stderr", b"oops\r\n"),
        ("stdout", b"o\n10%\r50%\r100%\n\xe2\x82"),
        ("stdout", b"\xac \xff"),
    ):
        tail.take(stream, data)
    tail.note("ours")
    shown = [(line.stream, line.text) for line in tail.lines()]
    assert shown == [
        ("stdout", "one"),
        ("stderr", "oops"),
        ("stdout", "two"),
        ("stdout", "100%"),
        ("note", "ours"),
        ("stdout", "€ \ufffd"),
    ]
    tail.take("stdout", b"x" * 100_000 + b"\n" * 5000 + b"y" * 100_000)
    assert len(tail.lines()) <= 1001 and max(len(line.text) for line in tail.lines()) <= 2000


EXTRA = Divergence("extra-call", "llm", "small", 0, "no recorded call has this input")
LEFT = Divergence("missing-call", "tool", "late", 0, "it was never made", 2)


def report(*divergences: Divergence, live: int = 0) -> DivergenceReport:
    return DivergenceReport(divergences, 2, sum(one is LEFT for one in divergences), 0, live=live)


@pytest.mark.parametrize(
    ("result", "stopped", "said"),
    [
        (RunResult(0, None, report(live=3), {}, hooked=True), False, "ended with exit code 0: 2 served, 3 live"),
        (RunResult(143, None, report(live=3), {}, hooked=True), True, "stopped with exit code 143: 2 served, 3 live"),
        (RunResult(1, None, report(EXTRA), {}, hooked=True), False, "stopped before the fork point: it did something"),
        (RunResult(1, None, report(LEFT), {}, hooked=True), False, "before the fork point: 1 recorded call never made"),
        (RunResult(7, None, None, {}, hooked=False), False, "ended with exit code 7; nothing was recorded"),
    ],
)
def test_how_it_ended_is_said_in_a_sentence(result: RunResult, stopped: bool, said: str) -> None:
    assert said in ending_words(result, Command(("sh", "x"), Path()), stopped=stopped)[0]


def test_a_program_that_cannot_be_started_is_told_and_leaves_no_file(tmp_path: Path) -> None:
    offer = offer_run(recording(tmp_path / "run.json"))
    before = sorted(tmp_path.iterdir())
    plan = plan_run(offer, RunWishes(command=f"{tmp_path}/nowhere"))
    live = WatchedRun(lambda say, output: plan.program(say, output), "nowhere")
    live.start()
    live.join()
    assert live.over and live.path is None and live.look() is None and "cannot run" in live.ending()[0]
    assert sorted(tmp_path.iterdir()) == before


def test_a_program_is_watched_to_its_end_and_its_recording_grows(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text("import time, sys\nprint(time.time(), flush=True)\nsys.stderr.write('done')\nsys.exit(4)\n")
    offer = offer_run(recording(tmp_path / "run.json"))
    (tmp_path / "empty.json").write_text(
        json.dumps({"version": 1, "id": "e", "events": [], "blobs": {}, "meta": {"command": HERE, "complete": True}})
    )
    offer = offer_run(open_recording(tmp_path / "empty.json"))
    plan = plan_run(offer, RunWishes(command=f"{sys.executable} agent.py"))
    live = WatchedRun(lambda say, output: plan.program(say, output), "agent")
    live.start()
    live.join()
    assert live.words().startswith("ended") and "1 value live" in live.ending()[0] and "exit code 4" in live.ending()[0]
    assert [(line.stream, bool(line.text)) for line in live.tail.lines()] == [("stdout", True), ("stderr", True)]
    found = live.look()
    assert found is not None and [event.key for event in found.events] == ["time"] and live.look() is None
