"""A hostile recording starts nothing: commands run by themselves only from files made here by this user."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run
from stashdbg_core.errors import StashError
from stashdbg_core.programs.process.command import recorded_command
from stashdbg_core.programs.runs import trust
from stashdbg_core.store.open import open_recording


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return trust.trust_path()


@pytest.fixture
def planted(tmp_path: Path) -> Callable[..., Path]:
    """Write a recording whose command makes a file named ``started``."""

    def write(name: str = "planted.json", **command: Any) -> Path:
        code = f"open({str(tmp_path / 'started')!r}, 'w')"
        meta = {"command": {"argv": [sys.executable, "-c", code], "cwd": str(tmp_path), **command}}
        event = {"seq": 0, "channel": "tool", "key": "t", "ordinal": 0, "outcome": "return", "ref": "r"}
        site = {"site": f"{tmp_path}/evil.py:1 main"}
        tree = {"version": 1, "id": "x", "events": [{**event, **site}], "blobs": {"r": 1}, "meta": meta}
        (tmp_path / name).write_text(json.dumps(tree))
        return tmp_path / name

    return write


def test_what_was_not_made_here_starts_nothing(
    state: Path, planted: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = planted()
    (tmp_path / "redaction.toml").write_text("[[rule]]\nname='x'\ncode='evil'\n")
    (tmp_path / "stashdbg.toml").write_text("run = 'evil'\n")
    for words in (
        ["replay"],
        ["continue", "--yes"],
        ["continue", "--dry-run"],
        ["show"],
        ["stats"],
        ["why", "--at", "0"],
    ):
        code = run([words[0], str(file), *words[1:]])
        told = capsys.readouterr().err
        if words[0] in ("replay", "continue"):
            assert code == 64
            assert "was not made here" in told and "-c" in told and "after --" in told
    assert not (tmp_path / "started").exists()
    assert not state.exists()


def test_a_file_made_here_runs_until_it_is_changed(state: Path, planted: Callable[..., Path]) -> None:
    file = planted()
    trust.remember(file)
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert trust.runnable_command(open_recording(file)).argv[0] == sys.executable
    file.write_text(file.read_text() + " ")
    with pytest.raises(StashError, match="was not made here"):
        trust.runnable_command(open_recording(file))


def test_processes_that_end_together_are_all_known(state: Path, planted: Callable[..., Path]) -> None:
    files = [planted(f"run-{number}.json", hashSeed=number) for number in range(12)]
    state.parent.mkdir(parents=True)
    state.write_text("0" * 30)  # half a line, left by a power cut
    state.chmod(0o600)
    code = "import sys; from pathlib import Path; from stashdbg_core.programs.runs import trust\n"
    code += "sys.stdin.read()\nfor name in sys.argv[1:]: trust.remember(Path(name))"
    each = [
        subprocess.Popen([sys.executable, "-c", code, *map(str, files[start::2])], stdin=subprocess.PIPE)
        for start in (0, 1)
    ]
    for process in each:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(60) for process in each] == [0, 0]
    assert all(map(trust.was_recorded_here, files))


def test_the_oldest_digests_go_first(
    state: Path, planted: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "_KEPT", 3)
    monkeypatch.setattr(trust, "_MOST", 5)
    files = [planted(f"run-{number}.json", hashSeed=number) for number in range(6)]
    for file in [*files, files[-1]]:
        trust.remember(file)
    assert [trust.was_recorded_here(file) for file in files] == [False, False, False, True, True, True]


def test_a_fork_is_trusted_as_far_as_its_parent(state: Path, planted: Callable[..., Path]) -> None:
    ours, foreign = planted("ours.json"), planted("foreign.json", hashSeed=1)
    fork, other = planted("fork.json", hashSeed=2), planted("other.json", hashSeed=3)
    trust.remember(ours)
    trust.remember_fork(ours, fork)
    trust.remember_fork(foreign, other)
    assert [trust.was_recorded_here(file) for file in (ours, fork, foreign, other)] == [True, True, False, False]


def test_digests_that_others_can_write_count_for_nothing(state: Path, planted: Callable[..., Path]) -> None:
    file = planted()
    trust.remember(file)
    state.chmod(0o666)
    assert not trust.was_recorded_here(file)
    state.chmod(0o600)
    state.rename(state.with_name("elsewhere"))
    state.symlink_to(state.with_name("elsewhere"))
    assert not trust.was_recorded_here(file)


def test_a_masked_command_is_not_run_in_its_masked_form(state: Path, planted: Callable[..., Path]) -> None:
    file = planted(argv=["agent", "--key", "[REDACTED:openai-key#1]"])
    trust.remember(file)
    with pytest.raises(StashError, match="in place of a secret") as caught:
        trust.runnable_command(open_recording(file))
    assert caught.value.hint == "type the command with the secret after --"


@pytest.mark.parametrize(
    "command",
    [None, 7, [], {"argv": "ls"}, {"argv": []}, {"argv": [1]}, {"argv": ["a\0b"]}, {"argv": {"0": "ls"}}],
)
def test_an_odd_command_is_none(state: Path, planted: Callable[..., Path], command: Any) -> None:
    file = planted()
    tree = json.loads(file.read_text())
    tree["meta"]["command"] = command
    file.write_text(json.dumps(tree))
    trust.remember(file)
    assert recorded_command(open_recording(file)) is None
    with pytest.raises(StashError, match="does not say which program"):
        trust.runnable_command(open_recording(file))


def test_odd_seeds_and_folders_are_replaced(planted: Callable[..., Path]) -> None:
    file = planted(cwd="relative", hashSeed=-1, seed="; rm -rf /")
    command = recorded_command(open_recording(file))
    assert command is not None
    assert (command.cwd, command.hash_seed, command.seed) == (Path.cwd(), 0, "0" * 64)


def test_what_is_shown_of_a_command_cannot_act_on_a_terminal(state: Path, planted: Callable[..., Path]) -> None:
    file = planted(argv=["sh", "-c", "\x1b]0;owned\x07" + "x" * 5000])
    told = subprocess.run(
        [sys.executable, "-m", "stashdbg", "replay", str(file)], capture_output=True, check=False, timeout=60
    )
    assert told.returncode == 64
    assert b"\x1b" not in told.stderr and len(told.stderr) < 1000
