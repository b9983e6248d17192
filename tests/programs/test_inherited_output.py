"""What commands write to the program's own streams: passed on as it comes, recorded, and written again on replay."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.programs.child_recorder import Recorder

PROGRAM = [str(Path(__file__).parent / "children" / "inherited.py")]
CHANGING = re.compile(rb"\d{6,}")
OUTLIVES = b"outlives\n"
"""Written by a command that goes on when the program has ended: nobody records that."""


def run(environment: dict[str, str], *, together: bool, python: str = sys.executable) -> tuple[bytes, bytes, int]:
    """Run the program, its two streams being one file or two, and return what each got."""
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT if together else subprocess.PIPE}
    done = subprocess.run([python, *PROGRAM], env=environment, timeout=60, check=False, **streams)
    return done.stdout, done.stderr or b"", done.returncode


@pytest.mark.parametrize("together", [True, False])
def test_output_comes_as_without_us_and_again_on_replay(together: bool) -> None:
    plain = run({"PATH": os.environ["PATH"]}, together=together)
    with Recorder() as recorder:
        recorded = run(recorder.environment(), together=together)
    assert [CHANGING.sub(b"N", part) for part in recorded[:2]] == [CHANGING.sub(b"N", part) for part in plain[:2]]
    assert (recorded[2], recorder.tape.notes) == (0, [])
    with Recorder(recorder.tape) as player:
        replayed = run(player.environment(), together=together)
    assert replayed == (recorded[0].replace(OUTLIVES, b""), *recorded[1:])
    assert (player.tape.missed, player.tape.notes) == ([], [])
    values = [call["value"] for call in recorder.tape.calls]
    assert values[0]["stdout"].startswith("out\nerr\n" if together else "out\n")
    assert values[0]["stderr"] == (None if together else "err\n")
    assert [(value["returncode"], value["stderr"]) for value in values[3:5]] == [(3, None), (-9, None)]
    assert recorder.tape.named("head")[0]["value"]["stdout"] == "\0" * 200_000


def test_a_terminal_is_the_commands_own_and_what_is_not_recorded_is_said_once() -> None:
    program = "import os, subprocess\nfor _ in range(2): subprocess.run(['tty'])\nos.system('test -t 1 && echo yes')"
    master, slave = os.openpty()
    with Recorder() as recorder:
        ends = {"stdin": slave, "stdout": slave, "stderr": slave}
        done = subprocess.run([sys.executable, "-c", program], env=recorder.environment(), check=True, **ends)
    assert done.returncode == 0
    shown = os.read(master, 1000).split()
    assert shown == [os.ttyname(slave).encode()] * 2 + [b"yes"]
    os.close(slave)
    os.close(master)
    message = "what commands write to the terminal, as tty does, is not recorded, and a replay does not write it"
    assert recorder.tape.notes == [("unpinned", message)]
    assert [call["value"]["stdout"] for call in recorder.tape.calls] == [None] * 3
