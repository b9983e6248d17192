"""A program starts before what records it is loaded: nothing of it runs too early, and nothing it says is lost."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import platformdirs
import pytest

from stashdbg_core.programs.runs.head_start import config_folders, head_start
from stashdbg_core.programs.runs.recording_run import RecordingRun
from stashdbg_core.programs.tapes.server import Server
from stashdbg_core.programs.tapes.tape import ProgramTape, masking_of
from stashdbg_core.store.open import open_recording
from tests.programs.speaking import SEED, Speaker, events

RECORD = [sys.executable, "-m", "stashdbg", "record"]
MARK = [sys.executable, "-c", "open('ran', 'w')"]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to record in, and a home of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_of_a_program_runs_that_cannot_be_recorded(place: Path) -> None:
    lost = subprocess.run([*RECORD, "-o", "no/such.json", "--", *MARK], capture_output=True, timeout=60, check=False)
    assert lost.returncode == 66 and b"no/such.json" in lost.stderr
    (place / "config" / "stashdbg").mkdir(parents=True)
    (place / "config" / "stashdbg" / "redaction.toml").write_text("[[rule]]\nname = 7\n")
    wrong = subprocess.run([*RECORD, "--", *MARK], capture_output=True, timeout=60, check=False)
    assert wrong.returncode == 64 and b"redaction.toml" in wrong.stderr
    assert sorted(path.name for path in place.iterdir()) == ["config"]


def test_a_program_has_the_descriptors_that_a_shell_hands_it(place: Path) -> None:
    (place / "given").write_text("given\n")
    with open("given") as file:
        program = [sys.executable, "-c", f"print(open('/dev/fd/{file.fileno()}').read(), end='')"]
        for words in (program, ["env", *program]):  # started at once, and started with care
            command = [*RECORD, "--force", "--", *words]
            done = subprocess.run(command, stdout=subprocess.PIPE, pass_fds=[file.fileno()], timeout=60, check=True)
            assert done.stdout == b"given\n"
    assert open_recording(Path("run.json")).complete


def test_what_is_asked_before_there_is_a_tape_has_its_place_on_it(place: Path) -> None:
    server = Server("record", SEED)
    server.open()
    before = time.time() * 1000
    first, second = Speaker(server), Speaker(server)
    post = {"op": "http", "method": "POST", "url": "http://x/y", "headers": [], "body": {"$stash": "bytes"}}
    assert first.ask(op="call", channel="tool", key="t", input=1) == {"seq": 0, "run": True}
    assert second.ask(**post) == {"seq": 1, "run": True}  # what is wrong with it is seen later
    third = Speaker(server)
    assert third.ask(op="call", channel="tool", key="t", input=3, thread="b") == {"seq": 2, "run": True}
    after = time.time() * 1000
    tape = ProgramTape(Path("run.json"), masking_of(None), {"command": {"argv": ["agent"]}})
    said: list[str] = []
    run = RecordingRun(tape, SEED, lambda kind, text: said.append(kind))
    server.attach(run)
    assert third.ask(op="end", seq=2, outcome="return", value="three") == {}
    assert first.ask(op="end", seq=0, outcome="return", value="one") == {}
    first.call("tool", "t", "four", input=4)
    server.stop()
    run.close(exit={"code": 0})
    known = [(channel, ordinal, value) for channel, _, ordinal, _, value in events(Path("run.json"))]
    assert known == [("tool", 0, "one"), ("call", 0, {"$stash": "pending"}), ("tool", 1, "three"), ("tool", 2, "four")]
    recording = open_recording(Path("run.json"))
    assert all(before <= (event.at or 0) <= after for event in recording.events[:3])
    assert said == ["not-recorded"]


def test_settings_are_looked_for_where_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    assert platformdirs.user_config_dir("stashdbg") in config_folders()
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert platformdirs.user_config_dir("stashdbg") in config_folders()


def test_what_takes_care_has_no_head_start() -> None:
    for argv in (("sh", "-c", "true"), ("python", "-I", "x.py"), ("python-of-no-such-name",), ("python9.9.9", "x.py")):
        assert head_start(argv) is None
