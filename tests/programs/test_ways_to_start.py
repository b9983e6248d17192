"""However a Python program is started, and whatever it makes of its process: recorded, and the same on replay."""

from __future__ import annotations

import os
import sys
import zipapp
from pathlib import Path

import pytest

from stashdbg_core.programs.runs.program_run import ProgramRun, RunResult
from stashdbg_core.programs.runs.rerunning import command_of, replay_program
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_core.store.open import open_recording

PROGRAM = f"""#!{sys.executable}
import random, sys, time
print(time.time(), random.random())
"""
LAUNCHER = """
import os, sys, time
print(time.time(), flush=True)
try:
    os.execlp("no-such-program-anywhere", "x")
except FileNotFoundError:
    pass
child = os.fork()
if not child:
    os.execlp(sys.executable, "python", "program.py")
os.waitpid(child, 0)
os.execve("./program.py", ["./program.py"], {**os.environ, "LAUNCHED": "1"})
"""
DAEMON = """
import os, time
print(time.time(), flush=True)
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.chdir("/")
os.closerange(3, 1024)
print([time.time() for _ in range(3)], flush=True)
"""
RESTLESS = """
import os, random, signal, sys, threading, time
sys.settrace(lambda *event: None)
os.environ.clear()
os.chdir("/")
os.closerange(3, 256)
signal.signal(signal.SIGALRM, lambda number, frame: print("alarm", time.time()))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
thread = threading.Thread(target=lambda: sys.exit(print(random.random())))
thread.start()
thread.join()
sys.exit("at its end")
"""
PYTHON = sys.executable
WAYS: dict[str, tuple[list[str], int, int]] = {
    "strict": ([PYTHON, "-X", "dev", "-W", "error", "program.py"], 0, 1),
    "script": (["./program.py"], 0, 1),
    "module": ([PYTHON, "-m", "program"], 0, 1),
    "text": ([PYTHON, "-c", PROGRAM], 0, 1),
    "archive": ([PYTHON, "program.pyz"], 0, 1),
    "stdin": (["sh", "-c", f"exec {PYTHON} - < program.py"], 0, 1),
    "launcher": ([PYTHON, "launcher.py"], 0, 3),
    "daemon": ([PYTHON, "daemon.py"], 0, 4),
    "restless": ([PYTHON, "restless.py"], 1, 1),
}
"""The command, its exit code, and how many values of the clock it reads."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with the programs, and a locale that is not UTF-8."""
    for name, value in {"XDG_STATE_HOME": str(tmp_path / "state"), "LC_ALL": "C", "PYTHONUTF8": "0"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    for name, text in (("launcher", LAUNCHER), ("daemon", DAEMON), ("restless", RESTLESS), ("program", PROGRAM)):
        Path(f"{name}.py").write_text(text)
    Path("program.py").chmod(0o700)
    Path("archived").mkdir()
    Path("archived/__main__.py").write_text(PROGRAM)
    zipapp.create_archive("archived", "program.pyz")


class Written:
    """What a program writes to each of its streams, whose parts come from a thread each."""

    def __init__(self) -> None:
        self.streams = {"stdout": bytearray(), "stderr": bytearray()}

    def take(self, stream: str, data: bytes) -> None:
        self.streams[stream].extend(data)


def ended(run: ProgramRun) -> RunResult:
    run.start()
    return run.wait()


@pytest.mark.parametrize("way", WAYS)
def test_it_is_recorded_and_the_same_on_replay(way: str) -> None:
    argv, code, readings = WAYS[way]
    first, again = Written(), Written()
    recorded = ended(record_program(argv, Path("run.json"), output=first.take))
    recording = open_recording(Path("run.json"))
    assert recorded.exit_code == code and recorded.notes == {}
    assert [event.key for event in recording.events if event.channel == "clock"] == ["time"] * readings
    replayed = ended(replay_program(recording, command_of(recording, ()), output=again.take))
    assert (replayed.exit_code, again.streams) == (code, first.streams)
    assert not replayed.diverged


def test_what_a_program_becomes_that_is_no_python_is_named_and_refused_on_replay() -> None:
    argv = [PYTHON, "-c", "import os; os.execlp('echo', 'echo', 'here')"]
    said = Written()
    recorded = ended(record_program(argv, Path("run.json"), output=said.take))
    ((kind, message),) = recorded.notes
    assert (
        said.streams["stdout"] == b"here\n"
        and kind == "unpinned"
        and "echo starts a program past the recording" in message
    )
    recording = open_recording(Path("run.json"))
    replayed = ended(replay_program(recording, command_of(recording, ())))
    assert replayed.diverged


def test_a_python_that_keeps_the_hooks_out_is_not_become_on_replay() -> None:
    marker = Path("ran")
    words = ["python", "-I", "-c", "open('ran', 'w')"]
    argv = [PYTHON, "-c", f"import os, sys; os.execv(sys.executable, {words})"]
    ended(record_program(argv, Path("run.json")))
    assert marker.exists()
    os.unlink(marker)
    recording = open_recording(Path("run.json"))
    replayed = ended(replay_program(recording, command_of(recording, ())))
    assert replayed.diverged and not marker.exists()
