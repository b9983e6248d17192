"""The child's side of whole programs: what is recorded, what a replay serves, and that nobody notices."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.programs.child_recorder import Recorder, Tape

CHILDREN = Path(__file__).parent / "children"
STDIN = "ada\nline two\nfour and more\nend"


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The interpreter of a virtual environment that has nothing of ours, not even pip."""
    folder = tmp_path_factory.mktemp("bare") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return str(folder / "bin" / "python")


@pytest.fixture(scope="module")
def facts(bare_python: str) -> tuple[subprocess.CompletedProcess[str], Tape]:
    """A program that does everything, recorded."""
    with Recorder() as recorder:
        return recorder.run([str(CHILDREN / "facts.py")], python=bare_python, stdin=STDIN), recorder.tape


def test_a_replay_prints_the_same_and_runs_no_command(
    facts: tuple[subprocess.CompletedProcess[str], Tape], bare_python: str
) -> None:
    recorded, tape = facts
    assert (recorded.returncode, recorded.stderr, tape.notes) == (0, "", [])
    with Recorder(tape) as recorder:
        replayed = recorder.run([str(CHILDREN / "facts.py")], python=bare_python, more={"PATH": "/nowhere"})
    assert replayed.stdout == recorded.stdout
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert (recorder.tape.missed, recorder.tape.notes) == ([], [])
    inside = [call for call in tape.calls if call["parent"] is not None]
    assert len(recorder.tape.calls) == len(tape.calls) - len(inside)


def test_calls_say_what_they_are(facts: tuple[subprocess.CompletedProcess[str], Tape]) -> None:
    _, tape = facts
    python = tape.named(Path(tape.named("head")[0]["input"]["argv"][0]).name)[0]
    assert python["value"]["stdout"]["$stash"] == "bytes"
    piped = next(call for call in tape.named("sh") if call["input"]["stdin"] == "hey")
    assert piped["input"] == {"argv": ["sh", "-c", "date +%N; cat"], "cwd": None, "stdin": "hey"}
    assert piped["value"]["stdout"].endswith("\nhey")
    assert (piped["channel"], piped["outcome"], piped["site"][:9]) == ("tool", "return", "facts.py:")
    assert tape.named("cat")[0]["value"] == {"returncode": 0, "stdout": "a\nb\n", "stderr": None, "stdin": "a\nb\n"}
    killed = [call["value"] for call in tape.named("sleep") if call["value"].get("signals")]
    assert [value["returncode"] for value in killed] == [-9, -9]
    assert tape.named("no-such-program")[0]["value"]["class"] == "builtins:FileNotFoundError"
    interrupted = next(call for call in tape.named("sleep") if call["input"]["argv"][1] == "20")
    assert (interrupted["outcome"], interrupted["value"]["kind"]) == ("throw", "interrupt")
    inner = next(call for call in tape.calls if call["parent"] is not None)
    outer = tape.calls[inner["parent"]]
    assert (inner["key"], outer["input"]["argv"][1], inner["thread"]) == ("time", "-c", outer["key"])
    assert "".join(call["value"] for call in tape.named("read")) == STDIN
    lanes = {call["thread"] for call in tape.named("time_ns") if "thread" in call}
    pool = {"call work", *(f"call work #{number}" for number in range(2, 7))}
    assert lanes >= {*pool, "thread <lambda>"}
    assert len([lane for lane in lanes if lane.startswith("task task")]) == 3
    keys = Counter((call["channel"], call["key"]) for call in tape.calls)
    assert keys["random", "uuid4"] == keys["random", "uuid1"] == keys["random", "urandom(3)"] == 1
    assert {"datetime.now", "datetime.now(tz)"} <= set(tape_keys(tape, "clock"))


def tape_keys(tape: Tape, channel: str) -> list[str]:
    """Return the keys of a channel."""
    return [call["key"] for call in tape.calls if call["channel"] == channel]


def test_workers_run_again_each_in_its_own_lane() -> None:
    with Recorder() as recorder:
        recorded = recorder.run(["-W", "ignore", str(CHILDREN / "workers.py")])
    assert (recorded.returncode, recorded.stderr) == (0, "")
    with Recorder(recorder.tape) as player:
        replayed = player.run(["-W", "ignore", str(CHILDREN / "workers.py")])
    assert (replayed.stdout, replayed.stderr, player.tape.missed) == (recorded.stdout, "", [])
    lanes = {call.get("thread") for call in recorder.tape.named("time_ns")}
    assert {f"process {number}" for number in range(1, 7)} <= lanes
    assert {"call job #5 [4]", "call job #6 [2]", "call job #7", "call pair [1]", "call job #8 [3]"} <= lanes
    assert {"call job", "call job #2", "call job #3", "call job #4"} <= {str(lane).split(" / ")[-1] for lane in lanes}


def test_a_replay_is_offline_and_a_recording_names_what_it_misses() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        program = [str(CHILDREN / "offline.py"), str(port)]
        with Recorder() as recorder:
            recorded = recorder.run(program)
        assert (
            recorded.stdout
            == "connect done\nagain done\nc done\nb'x'\nlocal done\nlookup done\nstart done\nthread done\n"
        )
        assert recorder.tape.notes == [
            ("unhooked-connection", f"127.0.0.1:{port}"),
            ("unpinned", "os.posix_spawn /bin/true starts a program past the recording; a replay refuses it"),
        ]
        with Recorder(recorder.tape) as player:
            replayed = player.run([*program, "name"])
        assert replayed.stderr == ""
        lines = replayed.stdout.splitlines()
        in_c = "OSError 101" if sys.platform.startswith("linux") else "done"
        assert lines[:3] == ["connect OSError 101", "again OSError 101", f"c {in_c}"]
        assert lines[3:] == [
            "b'x'", "local done", "lookup done", f"name gaierror {socket.EAI_AGAIN}", "start PermissionError 1",
            f"thread {in_c}",
        ]  # fmt: skip
        refused = [message.split(" was refused")[0] for kind, message in player.tape.notes if kind == "refused"]
        assert refused == [
            f"a connection to 127.0.0.1:{port}",
            "looking up stashdbg.example",
            "starting /bin/true by os.posix_spawn",
        ]


def test_a_program_that_asks_for_nothing_loads_little_of_ours_and_nothing_else(bare_python: str) -> None:
    program = [
        "-c",
        "import sys; print(*(name for name, module in sys.modules.items() if hasattr(module, '__file__')))",
    ]
    alone = subprocess.run([bare_python, *program], capture_output=True, text=True, check=True).stdout.split()
    with Recorder() as recorder:
        recorded = recorder.run(program, python=bare_python).stdout.split()
    c_code = {"_contextvars", "_json", "_socket", "binascii", "fcntl"}
    ours = {name for name in recorded if name.startswith(("stash_child", "sitecustomize"))}
    assert set(recorded) - set(alone) - ours - c_code == {"__future__"}
    assert len(ours) < 20 and not any("process" in name and "ids" not in name for name in ours)


@pytest.mark.parametrize("options", [[], ["-W", "error", "-X", "dev"]])
def test_the_program_sees_no_difference(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.customised = getattr(sys, 'customised', 0) + 1\n")
    program = [*options, str(CHILDREN / "appearance.py"), "word"]
    path = {} if options else {"PYTHONPATH": str(tmp_path)}
    with Recorder() as recorder:
        environment = recorder.environment(**path)
        recorded = recorder.run(program, more=dict(path))
    alone = {name: value for name, value in environment.items() if not name.startswith(("STASHDBG", "PYTHON"))}
    plain = subprocess.run(
        [sys.executable, *program], env={**alone, **path}, input="", capture_output=True, text=True, check=True
    )
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr)
    assert ("] 1 True" in plain.stdout) is not options
    assert [call["key"] for call in recorder.tape.calls] == ["time"]


def test_options_that_leave_us_out_are_seen_by_the_absence_of_a_hello() -> None:
    with Recorder() as recorder:
        for option in ("-S", "-I", "-E"):
            assert recorder.run([option, "-c", "print(1)"]).stdout == "1\n"
        assert recorder.tape.hellos == []


def test_modules_are_patched_however_they_are_loaded() -> None:
    with Recorder() as recorder:
        done = recorder.run([str(CHILDREN / "imports.py")])
    assert done.stdout.splitlines() == [
        "[('there', 1), 'json.decoder', ('plain', 1)] 2 SourceFileLoader False",
        "2 ('plain', 1) True",
        "[] 2 2",
        "1",
        "ValueError",
        "ModuleNotFoundError",
    ]
    assert [kind for kind, _ in recorder.tape.notes] == ["unpinned"]
    assert "failing" in recorder.tape.notes[0][1]
    assert done.stderr == ""


COUNTING = "import time, os, sys, signal\nfor n in range(6):\n    print(n, time.time() > 0, flush=True)\n"


def test_without_its_recorder_a_program_goes_on_and_a_replay_does_not() -> None:
    with Recorder(die_after=3) as recorder:
        recorded = recorder.run(["-c", COUNTING])
    gone = "stashdbg: the process that records is gone; the program goes on unrecorded\n"
    assert (recorded.stdout.count("True"), recorded.stderr, recorded.returncode) == (6, gone, 0)
    with Recorder() as recorder:
        recorder.run(["-c", COUNTING])
    with Recorder(recorder.tape, die_after=3) as player:
        replayed = player.run(["-c", COUNTING])
    assert (replayed.stdout.count("True"), replayed.returncode) == (2, 1)
    assert replayed.stderr.startswith("stashdbg: the process that replays is gone")
    assert replayed.stderr.count("\n") == 1
    late = Recorder(recorder.tape)
    late.close()
    for mode, runs in (("", 6), ("replay", 0)):
        done = late.run(["-c", COUNTING], more={"STASHDBG_MODE": mode})
        assert (done.stdout.count("True"), done.returncode) == (runs, 0 if runs else 1)
        assert "ConnectionRefusedError" in done.stderr


@pytest.mark.parametrize(
    ("ending", "code", "goodbyes"),
    [
        ("os._exit(3)", 3, []),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM, []),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, []),
        ("sys.exit(4)", 4, [{"op": "bye"}]),
        ("1 / 0", 1, [{"op": "bye", "exit": 1}]),
    ],
)
def test_the_recording_is_whole_up_to_the_end(ending: str, code: int, goodbyes: list[object]) -> None:
    with Recorder() as recorder:
        done = recorder.run(["-c", COUNTING + ending])
    assert (done.returncode, len(recorder.tape.calls), recorder.tape.goodbyes) == (code, 6, goodbyes)
    assert ("uncaught", "ZeroDivisionError: division by zero") in recorder.tape.notes or "/" not in ending


def test_a_continued_run_takes_what_is_recorded_and_then_goes_on_for_real() -> None:
    program = ["-c", "import time, subprocess\nfor n in range(4): print(time.time(), subprocess.getoutput('date +%N'))"]
    with Recorder() as recorder:
        first = recorder.run(program).stdout.splitlines()
    del recorder.tape.calls[4:]
    with Recorder(recorder.tape, mode="continue") as continued:
        then = continued.run(program).stdout.splitlines()
    assert then[:2] == first[:2]
    assert not set(then[2:]) & set(first)
    assert len(continued.tape.calls) == 8


def test_a_miss_ends_a_replay_without_a_traceback() -> None:
    with Recorder() as recorder:
        recorder.run(["-c", "print(1)"])
    with Recorder(recorder.tape) as player:
        done = player.run(["-c", "import subprocess\ntry: subprocess.run(['date'])\nexcept Exception: print('caught')"])
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 1)
    assert [call["key"] for call in player.tape.missed] == ["date"]


def test_a_terminal_gets_its_prompt_and_its_lines_are_recorded() -> None:
    program = ["-c", "name = input('name? ')\nprint('hello', name)"]
    master, slave = os.openpty()
    with Recorder() as recorder:
        ends = {"stdin": slave, "stdout": slave, "stderr": slave}
        process = subprocess.Popen([sys.executable, *program], env=recorder.environment(), **ends)
        os.write(master, b"ada\n")
        assert process.wait(30) == 0
    os.close(slave)
    shown = b""
    while b"hello ada" not in shown:
        shown += os.read(master, 1000)
    os.close(master)
    assert b"name? " in shown
    assert [(call["key"], call["value"]) for call in recorder.tape.calls] == [("input", "ada")]
    with Recorder(recorder.tape) as player:
        assert player.run(program).stdout == "name? hello ada\n"


def test_lanes_draw_their_own_numbers_until_the_program_seeds_the_generator() -> None:
    with Recorder() as recorder:
        recorded = recorder.run([str(CHILDREN / "draws.py")])
    assert (recorded.stderr, recorded.returncode, recorder.tape.notes) == ("", 0, [])
    for _ in range(2):
        with Recorder(recorder.tape) as player:
            replayed = player.run([str(CHILDREN / "draws.py")])
        assert (replayed.stderr, replayed.stdout) == ("", recorded.stdout)
