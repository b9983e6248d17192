"""Programs really started: they behave as without us, and what they did is whole in the recording."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run
from stashdbg_core.errors import StashError
from stashdbg_core.fork import fork
from stashdbg_core.programs.process.child_environment import environment
from stashdbg_core.programs.process.command import new_command
from stashdbg_core.programs.process.python_command import isolating_flag
from stashdbg_core.programs.runs import trust
from stashdbg_core.programs.runs.program_run import ProgramRun, RunResult, unhooked
from stashdbg_core.programs.runs.rerunning import command_of, continue_program, replay_program
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from tests.programs.local_server import LocalServer, local_server

AGENT = """
import json, os, random, subprocess, sys, time, urllib.request
def ask(text):
    body = json.dumps({"model": "gpt-x", "messages": [{"role": "user", "content": text}]}).encode()
    request = urllib.request.Request(sys.argv[1] + "/echo", body, {"content-type": "application/json"})
    return json.load(urllib.request.urlopen(request))
first = ask("roll %d" % random.randrange(10**6))
print(first, time.time(), sorted(os.environ.items(), key=lambda item: hash(item))[0][0], flush=True)
said = subprocess.run([sys.executable, "-c", "print('tool')"], capture_output=True, text=True).stdout
print(ask(said), hash("x"), [name for name in os.environ if "STASH" in name], file=sys.stderr)
sys.exit(3)
"""
JOB = """
import os, signal, sys, threading, time
before = time.time()
if sys.argv[1] == "exit": os._exit(5)
if sys.argv[1] == "crash": raise ValueError("for the tape")
if sys.argv[1] == "kill": os.kill(os.getpid(), 9)
if sys.argv[1] == "daemon":
    threading.Thread(target=lambda: [time.time() for _ in iter(int, 1)], daemon=True).start()
if sys.argv[1] == "cat": sys.stdout.write(sys.stdin.read().upper())
if sys.argv[1] == "wait":
    signal.signal(signal.SIGTERM, lambda *_: (print("term", flush=True), sys.exit(7)))
    print("ready", os.isatty(0), os.isatty(1), *(os.get_terminal_size() if os.isatty(1) else ()), flush=True)
    while True: time.sleep(60)
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the programs, and a state folder of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(AGENT)
    Path("job.py").write_text(JOB)
    return tmp_path


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with local_server() as started:
        yield started


class Ran:
    """A run to its end, and what it wrote."""

    def __init__(self, make: Callable[..., ProgramRun], *args: Any, **options: Any) -> None:
        self.written = {"stdout": b"", "stderr": b""}
        self.said: list[tuple[str, str]] = []
        self.run = make(*args, say=lambda *words: self.said.append(words), output=self._take, **options)
        self.run.start()
        self.result: RunResult = self.run.wait()

    def _take(self, stream: str, data: bytes) -> None:
        self.written[stream] += data


def record(*words: str) -> Ran:
    return Ran(record_program, [sys.executable, *words], Path("run.json"))


def test_record_replay_fork_continue(server: LocalServer, place: Path) -> None:
    first = record("agent.py", server.url)
    assert first.result.exit_code == 3 and first.result.path == Path("run.json")
    assert b"[]" in first.written["stderr"]
    recording = open_recording(Path("run.json"))
    assert [(e.channel, e.key) for e in recording.events if e.channel in ("llm", "http")]
    assert recording.meta["command"]["argv"] == [sys.executable, "agent.py", server.url]
    assert recording.meta["command"]["python"] == ".".join(map(str, sys.version_info[:3]))
    asked = server.requests

    for _ in range(3):
        again = Ran(replay_program, recording, command_of(recording, ()))
        assert again.result.report is not None and str(again.result.report).endswith("0 recorded but never made")
        assert again.result.report.ok and again.result.exit_code == 3
        assert again.written == first.written
    assert server.requests == asked

    at = next(e.seq for e in recording.events if e.channel == "tool")
    tool = recording.blobs.tree(recording.events[at].ref)
    changed = json.loads(json.dumps(tool).replace("tool", "hand"))
    write_recording(fork(recording, at, override=changed), Path("fork.json"))
    branch = open_recording(Path("fork.json"))
    with pytest.raises(StashError, match="was not made here"):
        command_of(branch, ())
    trust.remember_fork(Path("run.json"), Path("fork.json"))
    on = Ran(continue_program, branch, command_of(branch, ()), Path("new.json"))
    assert server.requests == asked + 1
    assert on.written["stdout"] == first.written["stdout"]
    assert b"hand" in on.written["stderr"] and b"tool" not in on.written["stderr"]
    assert on.result.report is not None and on.result.report.live == 1
    assert trust.was_recorded_here(Path("new.json"))


@pytest.mark.parametrize(
    ("job", "code", "facts"),
    [
        ("exit", 5, {"code": 5}),
        ("crash", 1, {"code": 1}),
        ("kill", 137, {"signal": "SIGKILL"}),
        ("daemon", 0, {"code": 0}),
        ("cat", 0, {"code": 0}),
    ],
)
def test_however_a_program_ends_its_recording_is_whole(job: str, code: int, facts: dict[str, Any]) -> None:
    ran = record("job.py", job)
    recording = open_recording(Path("run.json"))
    assert ran.result.exit_code == code
    assert recording.meta["exit"] == facts
    assert recording.complete and recording.events[0].key == "time"
    assert not Path("run.json.journal").exists()
    if job == "crash":
        assert recording.meta["exception"] == {"class": "ValueError", "text": "for the tape"}
        assert ran.written["stderr"].count(b"for the tape") == 2  # the traceback's line of source, and its last line
    assert ran.said == []


def test_a_run_can_be_watched_and_stopped() -> None:
    seen: list[bytes] = []
    watched = record_program(
        [sys.executable, "job.py", "wait"], Path("run.json"), output=lambda stream, data: seen.append(data)
    )
    watched.start()
    until(lambda: b"ready" in b"".join(seen))
    assert watched.journal is not None and watched.events == 1
    assert len(open_recording(watched.journal).events) == 1
    watched.stop()
    assert watched.wait().exit_code == 7
    assert watched.wait() is watched.wait()
    assert b"term" in b"".join(seen)


def test_a_program_told_to_stop_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stashdbg_core.programs.runs.program_run._PATIENCE", 0.2)
    Path("once.py").write_text("import time\ntime.time()\n")
    record("once.py")
    hangs = "import threading, time\ntime.time()\nthreading.Thread(target=lambda: time.time()).start()\n"
    Path("once.py").write_text(hangs + "threading.Event().wait()\n")
    recording = open_recording(Path("run.json"))
    again = Ran(replay_program, recording, command_of(recording, ()))
    assert again.result.diverged and again.result.exit_code != 0


def test_what_cannot_be_recorded_is_refused_clearly() -> None:
    for words, flag in (
        (["python", "-I", "x.py"], "-I"),
        (["/usr/bin/python3.12", "-uE", "x.py"], "-E"),
        (["env", "A=1", "python3", "-W", "error", "-S", "-m", "x"], "-S"),
    ):
        assert isolating_flag(words) == flag
        with pytest.raises(StashError, match=flag):
            new_command(words)
    for words in (
        ["python", "x.py", "-I"],
        ["python", "-c", "print()", "-S"],
        ["python", "-m", "x", "-E"],
        ["ls", "-I"],
    ):
        assert isolating_flag(words) is None
    with pytest.raises(StashError, match="cannot run nothing-of-that-name: No such file"):
        Ran(record_program, ["nothing-of-that-name"], Path("run.json"))
    bare = Ran(record_program, ["sh", "-c", "exit 4"], Path("run.json"))
    assert (bare.result.exit_code, bare.result.path, bare.result.hooked) == (4, None, False)
    assert "nothing was recorded" in unhooked(bare.run.command).message
    assert not [name for name in os.listdir() if name.startswith("run")]


def test_the_environment_holds_what_the_hooks_need_and_nothing_of_another_run(place: Path) -> None:
    command = new_command(["python", "agent.py"])
    outer = environment(
        command.hash_seed,
        "record",
        str(place / "outer"),
        "t1",
        {"PYTHONPATH": "/mine", "A": "1", "STASHDBG_PARENT": "7"},
    )
    inner = environment(command.hash_seed, "replay", str(place / "inner"), "t2", outer)
    assert inner["PYTHONPATH"].split(os.pathsep)[1:] == ["/mine"]
    assert inner["STASHDBG_SOCKET"] == str(place / "inner") and inner["STASHDBG_TOKEN"] == "t2"
    assert inner["STASHDBG_MODE"] == "replay"
    assert inner["A"] == "1" and "STASHDBG_PARENT" not in inner
    assert outer["PYTHONHASHSEED"] == "0" and outer["STASHDBG_HIDE"] == "PYTHONHASHSEED"


def test_the_command_line_asks_before_it_goes_live_and_tells_in_json(capfd: pytest.CaptureFixture[str]) -> None:
    Path("job.py").write_text("import time\nprint('out')\ntime.time()\n")
    record("job.py")
    assert run(["continue", "run.json", "-o", "new.json"]) == 64
    told = capfd.readouterr()
    assert "give --yes" in told.err and "served from the recording: 1 clock" in told.err and told.out == ""
    assert not Path("new.json").exists()
    assert run(["replay", "run.json", "--json"]) == 0
    told = capfd.readouterr()
    assert json.loads(told.out)["matched"] == 1 and told.err == "out\n"
    Path("job.py").write_text("import time\ntime.time()\ntime.time()\n")
    for more, kept in (([], 1), (["--on-divergence", "collect"], 1)):
        assert run(["replay", "run.json", "--json", *more]) == kept
        tree = json.loads(capfd.readouterr().out)
        assert [(found["kind"], found["site"]) for found in tree["divergences"]] == [
            ("extra-call", "job.py:3 <module>")
        ]
    assert run(["replay", "run.json", "--on-divergence", "throw"]) == 64
    assert run(["record", "-o", "no/such/folder.json", "--", sys.executable, "job.py"]) == 66
    assert "no/such" in capfd.readouterr().err


def stashdbg(*words: str) -> list[str]:
    return [sys.executable, "-m", "stashdbg", *words, "--", sys.executable, "job.py"]


def test_the_command_line_passes_streams_and_signals_on() -> None:
    piped = subprocess.run([*stashdbg("record"), "cat"], input=b"a\n", capture_output=True, timeout=60, check=False)
    assert (piped.returncode, piped.stdout) == (0, b"A\n")
    assert piped.stderr.startswith(b"stashdbg: run.json: ") and piped.stderr.count(b"\n") == 1
    waits = subprocess.Popen([*stashdbg("record"), "wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert waits.stdout is not None
    assert waits.stdout.readline() == b"ready False False\n"
    waits.send_signal(signal.SIGTERM)
    rest, told = waits.communicate(timeout=60)
    assert (waits.returncode, rest, told) == (7, b"term\n", b"stashdbg: run-2.json: 1 event\n")


def test_a_terminal_program_has_the_terminal_and_ctrl_c_is_its_own() -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (33, 101))
    started = subprocess.Popen(
        [*stashdbg("record"), "wait"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while b"ready" not in shown or b"\n" not in shown:
        shown += os.read(ours, 1000)
    assert b"ready True True 101 33" in shown
    os.write(ours, b"\x03")
    try:
        while part := os.read(ours, 1000):
            shown += part
    except OSError:  # the other side is closed
        pass
    assert started.wait(60) == 130
    assert shown.count(b"KeyboardInterrupt") == 1
    assert open_recording(Path("run.json")).meta["exit"] == {"signal": "SIGINT"}
    os.close(ours)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_forked_worker_takes_signals_for_itself() -> None:
    code = """
import os, signal
from stashdbg_core.programs.process.passed_on import PassedOn
class Program:
    def send_signal(self, number): print("passed on", number, flush=True)
signals = PassedOn()
signals.catch()
signals.pass_to(Program())
pid = os.fork()
if pid == 0:
    os.kill(os.getpid(), signal.SIGTERM)
    os._exit(0)
print(os.waitpid(pid, 0)[1] == signal.SIGTERM, flush=True)
os.kill(os.getpid(), signal.SIGTERM)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\npassed on 15\n"
