"""Programs, recorders and replays that end badly: the program is as without us, the recording whole so far."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stashdbg_core.fork import fork
from stashdbg_core.programs.runs.program_run import ProgramRun
from stashdbg_core.programs.runs.rerunning import command_of, continue_program, replay_program
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_core.store.open import open_recording
from tests.programs.local_server import LocalServer, local_server

ODD = str(Path(__file__).parent / "children" / "odd.py")
STEPS = """
import sys, time
for line in sys.stdin:
    print(line.strip(), time.time() > 0, flush=True)
"""
COMMAND = [sys.executable, "-m", "stashdbg"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder and a state folder of their own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with local_server() as started:
        yield started


def ran(make: Callable[..., ProgramRun]) -> tuple[int, bytes]:
    """Run a program to its end; return its code and what it wrote to standard output."""
    written = bytearray()
    run = make(output=lambda stream, data: written.extend(data if stream == "stdout" else b""))
    run.start()
    return run.wait().exit_code, bytes(written)


def test_a_program_that_does_odd_things_replays_and_keeps_its_secrets(server: LocalServer) -> None:
    recorded = ran(lambda **more: record_program([sys.executable, ODD, server.url], Path("run.json"), **more))
    assert recorded[0] == 6
    assert recorded[1].splitlines()[:4] == [b"[''] ['csrf', 'session']", b"['csrf', 'session'] ['csrf', 'session']",
                                            recorded[1].splitlines()[2], b"here"]  # fmt: skip
    asked = server.requests
    recording = open_recording(Path("run.json"))
    assert recording.complete
    command = command_of(recording, ())
    assert ran(lambda **more: replay_program(recording, command, **more)) == recorded
    assert server.requests == asked
    text = Path("run.json").read_text()
    assert "s3cr3tv4lue" not in text and "t0ken-0123456789" not in text
    assert "[REDACTED:stashdbg-token]" in text


def test_each_python_that_a_shell_starts_has_a_lane_and_nothing_it_starts_has_a_network(server: LocalServer) -> None:
    port = server.url.rpartition(":")[2]
    Path("draw.py").write_text("import random, time\nprint(random.random(), time.time())\n")
    Path("plain.py").write_text(f"import socket\nprint(socket.socket().connect_ex(('127.0.0.1', {port})))\n")
    script = f"for n in 1 2; do {sys.executable} draw.py; done; {sys.executable} -I plain.py"
    recorded = ran(lambda **more: record_program(["bash", "-c", script], Path("run.json"), **more))[1].split()
    recording = open_recording(Path("run.json"))
    assert [event.thread for event in recording.events] == [None, "program 2"]
    assert recorded[0] != recorded[2] and recorded[4] == b"0"
    command = command_of(recording, ())
    replayed = ran(lambda **more: replay_program(recording, command, **more))[1].split()
    assert replayed[:4] == recorded[:4]
    assert replayed[4] == (b"101" if sys.platform == "linux" else b"0")


class Steps:
    """The command line running a program that goes a step for each line it is given."""

    def __init__(self, *words: str) -> None:
        Path("steps.py").write_text(STEPS)
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [*COMMAND, *words, "--", sys.executable, "steps.py"], stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )

    def step(self, word: str) -> str:
        """Give a line, and return what comes back; empty if the program has ended."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        stdin.write(f"{word}\n")
        stdin.flush()
        return stdout.readline()

    def kill(self) -> None:
        """Kill what records, and leave the program."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def rest(self) -> tuple[str, str]:
        """Return what is written up to the end."""
        return self.process.communicate(timeout=30)


def test_a_recorder_that_is_killed_leaves_the_program_running_and_what_it_had() -> None:
    program = Steps("record")
    assert [program.step("one"), program.step("two")] == ["one True\n", "two True\n"]
    program.kill()
    assert program.step("three") == "three True\n"
    out, err = program.rest()
    assert (out, err) == ("", "stashdbg: the process that records is gone; the program goes on unrecorded\n")
    recording = open_recording(Path("run.json.journal"))
    assert not recording.complete
    assert [event.key for event in recording.events] == ["read", "time"] * 2
    assert sorted(os.listdir()) == ["run.json.journal", "steps.py"]


def test_a_replay_that_is_killed_ends_its_program() -> None:
    program = Steps("record")
    lines = [program.step(word) for word in ("one", "two")]
    assert program.rest()[0] == "" and lines[1] == "two True\n"
    Path("steps.py").write_text(STEPS + "print(open('gate').read(), time.time())\n")
    os.mkfifo("gate")
    replay = subprocess.Popen(
        [*COMMAND, "replay", "run.json", "--", sys.executable, "steps.py"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with open("gate", "w"):  # opens when the program has come there
        replay.send_signal(signal.SIGKILL)
        replay.wait(30)
    out, err = replay.communicate(timeout=30)
    assert out.splitlines() == ["one True", "two True"]
    assert err == "stashdbg: the process that replays is gone; the program ends here, for a replay never runs live\n"


def test_an_interrupt_of_the_group_ends_both_as_it_would_the_program() -> None:
    program = subprocess.Popen(
        [*COMMAND, "record", "--", sys.executable, "-c", "import time\nprint(time.time(), flush=True)\ntime.sleep(60)"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert program.stdout is not None and program.stdout.readline()
    began = time.monotonic()
    os.killpg(program.pid, signal.SIGINT)
    _, err = program.communicate(timeout=30)
    assert (program.returncode, time.monotonic() - began < 25) == (130, True)
    assert "KeyboardInterrupt" in err and err.endswith("stashdbg: run.json: 1 event\n")
    assert open_recording(Path("run.json")).meta["exit"] == {"signal": "SIGINT"}


def test_a_command_given_a_value_that_is_no_end_of_it_stops_the_run_and_does_not_hang() -> None:
    program = [sys.executable, "-c", "import subprocess; print(subprocess.run(['echo'], stdout=-1).returncode)"]
    assert ran(lambda **more: record_program(program, Path("run.json"), **more)) == (0, b"0\n")
    branch = fork(open_recording(Path("run.json")), at=0, override={"code": 0})
    said: list[str] = []
    ended = ran(
        lambda **more: continue_program(
            branch,
            command_of(branch, program),
            Path("next.json"),
            say=lambda kind, message: said.append(f"{kind}: {message}"),
            **more,
        )
    )
    assert ended == (1, b"")
    assert said == ["refused: the value put in for echo is no end of a command: it has no returncode"]


def limited(size: int, *program: str) -> subprocess.CompletedProcess[str]:
    """Record a program where no file can be larger than ``size``, as on a disk with so much room."""
    return subprocess.run(
        [*COMMAND, "record", "--", sys.executable, *program], capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
    )  # fmt: skip


def test_nothing_runs_where_there_is_no_room_to_record_it() -> None:
    done = limited(0, "-c", "open('ran', 'w')")
    assert done.returncode == 66 and "cannot write run.json.journal: File too large" in done.stderr
    assert os.listdir() == []


def test_a_disk_that_fills_up_costs_the_recording_its_end_and_the_program_nothing() -> None:
    done = limited(24_000, "-c", "import sys, time\nfor n in range(200): time.time()\nprint(n)\nsys.exit(3)")
    assert (done.returncode, done.stdout) == (3, "199\n")
    recording = open_recording(Path("run.json.journal"))
    kept = len(recording.events)
    first, last = done.stderr.splitlines()
    assert f"event {kept} could not be written (File too large)" in first and 20 < kept < 200
    assert last == f"stashdbg: run.json.journal: {kept} events, {200 - kept} more NOT recorded"
    assert not recording.complete and not Path("run.json").exists()


def test_with_json_the_program_speaks_on_standard_error_and_one_object_says_what_became_of_it() -> None:
    program = ["--", sys.executable, "-c", "import time\nprint(time.time() > 0)\nraise SystemExit(3)"]
    taped = subprocess.run([*COMMAND, "record", "--json", *program], capture_output=True, text=True, check=False)
    told = json.loads(taped.stdout)
    assert (told["file"], told["events"], told["lost"], told["exitCode"]) == ("run.json", 1, 0, 3)
    assert (taped.stderr, taped.returncode) == ("True\n", 3)
    nothing = subprocess.run([*COMMAND, "replay", "run.json", "--json", "--", "true"], capture_output=True, check=False)
    assert (nothing.stdout, nothing.returncode) == (b"", 1)
    assert "nothing was recorded or served" in json.loads(nothing.stderr)["error"]["message"]
