"""What really reaches a terminal: bytes on a pseudo-terminal, in colour and without."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import termios
import time

import pytest

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording

PROGRAM = "import sys; from pathlib import Path; from stashdbg_tui.app import run; sys.exit(run([Path(sys.argv[1])]))"
SECRET = "sk-not-a-real-key-only-in-a-local"
CRASH = f"""
from stashdbg_tui.app import StashApp
from textual.binding import Binding

class Broken(StashApp):
    def on_mount(self):
        api_key = "{SECRET}"[::1]
        raise RuntimeError("a fault of ours")

Broken().run()
"""

STUCK = """
import time
from stashdbg_tui.app import StashApp
from stashdbg_tui.workers import threads

threads.PATIENCE = 0.1

class Stuck(StashApp):
    def on_mount(self):
        self.run_worker(lambda: time.sleep(3600), thread=True)
        self.call_later(self.exit)

Stuck().run()
"""

TWICE = """
import os, signal
kill, told = os.kill, []
def kill_told_twice(pid, number):
    if number == signal.SIGSTOP and len(told) < 2:
        told.append(signal.raise_signal(signal.SIGTSTP))
    kill(pid, number)
os.kill = kill_told_twice
"""


class Terminal:
    """A program on a pseudo-terminal, and every byte it wrote."""

    def __init__(self, program: str, *arguments: str, **environment: str) -> None:
        self.seen = b""
        self._passed = 0
        """Bytes up to the end of what was waited for last."""
        self.pid, self.fd = pty.fork()
        if not self.pid:
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test run under nohup ignores it
            paths = os.pathsep.join(path for path in sys.path if path)
            os.environ.pop("NO_COLOR", None)
            os.environ.update({"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": paths, **environment})
            os.execv(sys.executable, [sys.executable, "-c", program, *arguments])

    def wait_for(self, wanted: bytes, seconds: float = 30.0) -> None:
        until = time.monotonic() + seconds
        while (found := self.seen.find(wanted, self._passed)) < 0:
            assert time.monotonic() < until, f"{wanted!r} never came: {self.seen[-2000:]!r}"
            if not self.read():
                return
        self._passed = found + len(wanted)

    def read(self) -> bool:
        ready, _, _ = select.select([self.fd], [], [], 0.2)
        if ready:
            try:
                chunk = os.read(self.fd, 1 << 16)
            except OSError:
                return False
            self.seen += chunk
            return bool(chunk)
        return True

    def modes(self) -> list[object]:
        return termios.tcgetattr(self.fd)

    def send(self, keys: bytes) -> None:
        os.write(self.fd, keys)

    def finish(self) -> int:
        while self.read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}], ids=["colour", "no-colour"])
def test_recorded_escapes_never_reach_the_terminal(hostile, recordings, tmp_path, environment):
    terminal = Terminal(PROGRAM, str(write_recording(hostile, tmp_path / "run.json")), **environment)
    terminal.wait_for(b"event 0")
    for step in range(1, 5):
        terminal.send(b"j")
        terminal.wait_for(f"event {step}".encode())
        terminal.send(b"7")
        terminal.wait_for(b"channel")
        terminal.send(b"1")
        terminal.wait_for(b"value")
    terminal.send(b":[/]\r")
    terminal.wait_for(b"no place")
    terminal.send(b"Q")
    assert terminal.finish() == 0
    for escape in recordings.RAW_ESCAPES:
        assert escape not in terminal.seen
    assert "␛]52;c;cHdu".encode() in terminal.seen
    if environment:
        assert b"\x1b[38;2;" not in terminal.seen and b"\x1b[31m" not in terminal.seen


def test_a_crash_shows_frames_and_never_a_variable(tmp_path):
    terminal = Terminal(CRASH)
    terminal.finish()
    assert b"a fault of ours" in terminal.seen
    assert b"Please report it" in terminal.seen
    assert SECRET.encode() not in terminal.seen.replace(f'"{SECRET}"'.encode(), b"")


def test_the_place_of_a_call_opens_in_the_editor_and_the_screen_comes_back(agent, tmp_path):
    (tmp_path / "agent.py").write_text("call()\n" * 120)
    editor, seen = tmp_path / "my editor", tmp_path / "seen"
    editor.write_text(f'#!/bin/sh\necho "$@" > "{seen}"\n')
    editor.chmod(0o700)
    path = write_recording(agent, tmp_path / "run.json")
    terminal = Terminal(PROGRAM, str(path), VISUAL=f"'{editor}' -w", XDG_STATE_HOME=str(tmp_path / "state"))
    terminal.wait_for(b"event 0")
    terminal.send(b"jj")
    terminal.wait_for(b"event 2")
    terminal.send(b":source " + str(tmp_path).encode() + b"\r")
    terminal.wait_for(b"call()")
    terminal.send(b"\t\r")
    terminal.wait_for(b"back from the editor")
    assert seen.read_text().strip() == f"-w +88 {(tmp_path / 'agent.py').resolve()}"
    terminal.send(b"s")
    terminal.wait_for(b"event 3")
    terminal.send(b"Q")
    assert terminal.finish() == 0


def test_a_value_is_edited_in_a_real_editor_and_the_screen_and_its_keys_come_back(tmp_path):
    """The editor is a program on the same terminal: it reads keys and writes text there, and the screen comes back."""
    path = tmp_path / "run.json"
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, termios\n"
        "modes = termios.tcgetattr(0)\n"
        "assert modes[3] & termios.ECHO and modes[3] & termios.ICANON\n"
        "answer = input('new city? ')\n"
        "text = open(sys.argv[-1]).read()\n"
        "open(sys.argv[-1], 'w').write(text.replace('Oslo', answer))\n"
    )
    blobs = BlobStore()
    events = [RecordedEvent(seq, "tool", "where", seq, "return", blobs.put({"city": "Oslo"})) for seq in range(3)]
    write_recording(Recording("run", EventList(events), blobs, RawObject.of({"complete": True})), path)
    terminal = Terminal(PROGRAM, str(path), VISUAL=f"{sys.executable} {editor}", XDG_STATE_HOME=str(tmp_path / "state"))
    terminal.wait_for(b"event 0")
    terminal.send(b"je")
    terminal.wait_for(b"new city? ")
    left = terminal.seen.rindex(b"\x1b[?1049l")  # the screen was given up before the editor asked
    assert left < terminal.seen.rindex(b"new city? ")
    terminal.send(b"Rome\n")
    terminal.wait_for(b"Rome")
    terminal.wait_for(b"run-fork")
    assert terminal.seen.rindex(b"\x1b[?1049h") > left
    terminal.send(b"\r")
    terminal.wait_for(b"saved as run-fork.json")
    terminal.send(b"S")
    terminal.wait_for(b"event 0")
    terminal.send(b"Q")
    assert terminal.finish() == 0
    forks = [file for file in tmp_path.glob("*.json") if file != path]
    assert [open_recording(fork).blobs.tree(open_recording(fork).events[1].ref) for fork in forks] == [{"city": "Rome"}]


ENDINGS = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}


@pytest.mark.parametrize("number", ENDINGS, ids=lambda number: number.name)
def test_a_signal_that_ends_the_program_gives_the_terminal_back(agent, tmp_path, number):
    terminal = Terminal(PROGRAM, str(write_recording(agent, tmp_path / "run.json")))
    before = terminal.modes()
    terminal.wait_for(b"event 0")
    assert terminal.modes() != before
    os.kill(terminal.pid, number)
    terminal.wait_for(b"\x1b[?25h")
    assert terminal.modes() == before
    assert terminal.finish() == ENDINGS[number]
    assert b"\x1b[?1049l" in terminal.seen


def test_the_screen_comes_back_from_any_pause_and_gives_the_terminal_back(agent, tmp_path):
    terminal = Terminal(PROGRAM, str(write_recording(agent, tmp_path / "run.json")))
    before = terminal.modes()
    terminal.wait_for(b"event 0")
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        for _ in range(2):
            os.kill(terminal.pid, number)
        os.waitpid(terminal.pid, os.WUNTRACED)
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for(b"\x1b[?1049h")
        terminal.wait_for(b"event 0")
    terminal.send(b"Q")
    terminal.wait_for(b"\x1b[?25h")
    assert terminal.modes() == before
    assert terminal.finish() == 0


def test_a_second_ctrl_z_before_it_stops_does_not_stop_it_again(agent, tmp_path):
    terminal = Terminal(TWICE + PROGRAM, str(write_recording(agent, tmp_path / "run.json")))
    terminal.wait_for(b"event 0")
    for _ in range(2):
        terminal.send(b"\x1a")
        assert os.WIFSTOPPED(os.waitpid(terminal.pid, os.WUNTRACED)[1])
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for(b"\x1b[?1049h")
        terminal.wait_for(b"event 0")
    terminal.send(b"Q")
    assert terminal.finish() == 0


@pytest.mark.parametrize("before", ["", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); "])
def test_a_terminal_that_goes_away_ends_the_program(agent, tmp_path, before):
    terminal = Terminal(before + PROGRAM, str(write_recording(agent, tmp_path / "run.json")))
    terminal.wait_for(b"event 0")
    os.close(terminal.fd)
    _, status = os.waitpid(terminal.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 129


def test_work_that_does_not_end_keeps_no_program_alive_that_was_left():
    assert Terminal(STUCK).finish() == 0


def test_sixteen_colours_are_those_of_the_terminal_and_ctrl_z_goes_to_the_shell(agent, tmp_path):
    terminal = Terminal(PROGRAM, str(write_recording(agent, tmp_path / "run.json")), TERM="xterm", COLORTERM="")
    terminal.wait_for(b"event 0")
    assert re.search(rb"\x1b\[(?:\d+;)*3[1-6][;m]", terminal.seen), terminal.seen
    terminal.send(b"\x1a")
    terminal.wait_for(b"\x1b[?1049l")
    assert os.WIFSTOPPED(os.waitpid(terminal.pid, os.WUNTRACED)[1])
    os.kill(terminal.pid, signal.SIGCONT)
    terminal.wait_for(b"event 0")
    terminal.send(b"Q")
    assert terminal.finish() == 0
