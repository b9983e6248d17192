"""``stashdbg seal`` and ``stashdbg verify`` as a user types them."""

from __future__ import annotations

import json
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli import exit_codes

Run = Callable[..., Any]


def edit(path: Path, old: bytes, new: bytes) -> None:
    text = path.read_bytes()
    assert text.count(old) >= 1
    path.write_bytes(text.replace(old, new, 1))


def test_seal_then_verify(stashdbg: Run, recording: Path) -> None:
    sealed = stashdbg("seal", recording)
    root = sealed.out.strip()
    path = recording.with_name("run.seal.json")
    assert sealed.code == exit_codes.OK
    assert len(root) == 64
    assert "sealed 4 events" in sealed.err
    assert "can seal them anew" in sealed.err
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    verified = stashdbg("verify", recording)
    assert verified.code == exit_codes.OK
    assert verified.out.splitlines() == [
        "sealed: 4 events, nothing has changed",
        f"root       {root}",
        "signature  not signed",
    ]
    assert "sealed them anew" in verified.err
    pinned = stashdbg("verify", recording, "--expect", root)
    assert (pinned.code, pinned.err) == (exit_codes.OK, "")
    assert "(as expected)" in pinned.out


def test_json_has_the_promised_keys(stashdbg: Run, recording: Path) -> None:
    made = json.loads(stashdbg("seal", recording, "--json").out)
    assert made == {
        "file": str(recording.with_name("run.seal.json")),
        "root": made["root"],
        "events": 4,
        "meta": 1,
        "extra": 0,
        "blobs": 0,
        "signed": False,
    }
    found = json.loads(stashdbg("verify", recording, "--json").out)
    assert {"valid", "verdict", "brokenAt", "uncovered", "root", "signature"} <= found.keys()
    assert (found["valid"], found["verdict"], found["brokenAt"], found["uncovered"]) == (True, "sealed", None, [])
    assert found["signature"] == {"state": "none"}
    edit(recording, b"sunny", b"rainy")
    ran = stashdbg("verify", recording, "--json")
    found = json.loads(ran.out)
    assert ran.code == exit_codes.DIFFERENT
    assert (found["valid"], found["verdict"], found["brokenAt"]) == (False, "value-edited", 1)
    assert found["broken"] == [{"seq": 1, "part": "value", "verdict": "value-edited"}]


def test_a_changed_recording_fails_and_the_event_is_named(stashdbg: Run, recording: Path) -> None:
    stashdbg("seal", recording)
    edit(recording, b"first try", b"second try")
    ran = stashdbg("verify", recording)
    assert ran.code == exit_codes.DIFFERENT
    assert ran.out.startswith("notes-edited: the notes of event 1 are not what was sealed\n")


def test_no_seal_and_what_is_none(stashdbg: Run, recording: Path, tmp_path: Path) -> None:
    ran = stashdbg("verify", recording)
    assert ran.code == exit_codes.DIFFERENT
    assert ran.out.startswith("no-seal: ")
    ran = stashdbg("verify", recording, "--seal", recording)
    assert ran.code == exit_codes.DIFFERENT
    assert ran.out.startswith("foreign-seal: ")
    assert stashdbg("verify", tmp_path / "none.json").code == exit_codes.NO_INPUT
    assert stashdbg("verify", recording, "--expect", "12").code == exit_codes.DIFFERENT
    stashdbg("seal", recording)
    assert stashdbg("verify", recording, "--expect", "12").code == exit_codes.USAGE
    assert stashdbg("verify", "--seal", recording.with_name("run.seal.json"), recording).code == exit_codes.OK


def test_a_seal_is_not_replaced_without_force(stashdbg: Run, recording: Path) -> None:
    first = stashdbg("seal", recording).out
    again = stashdbg("seal", recording)
    assert again.code == exit_codes.USAGE
    assert "there already" in again.err
    assert again.out == ""
    forced = stashdbg("seal", recording, "--force")
    assert forced.code == exit_codes.OK
    assert forced.out != first
    assert stashdbg("verify", recording, "--expect", first.strip()).out.startswith("other-root: ")


def test_what_cannot_be_sealed_says_why(stashdbg: Run, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "dup.json"
    shutil.copy(data / "cases" / "61-dup-keys" / "dup.json", path)
    ran = stashdbg("seal", path)
    assert ran.code == exit_codes.BAD_DATA
    assert "event 0" in ran.err
    assert "twice" in ran.err
    assert list(tmp_path.iterdir()) == [path]
    assert stashdbg("seal", "-").code == exit_codes.USAGE
    assert stashdbg("verify", "-").code == exit_codes.USAGE


def test_hostile_text_reaches_no_terminal(stashdbg: Run, make: Run) -> None:
    path = make([{"value": 1, "key": "\x1b[31mred"}], meta={"\x1b]0;title\x07": 1, "complete": True}, id="\x1b[2J")
    stashdbg("seal", path)
    tree = json.loads(path.read_bytes())
    tree["meta"]["\x1b]0;title\x07"] = 2
    path.write_text(json.dumps(tree))
    ran = stashdbg("verify", path)
    assert ran.out.startswith("meta-edited: ")
    assert "\x1b" not in ran.out + ran.err


def test_signing_from_the_command_line(stashdbg: Run, recording: Path, tmp_path: Path) -> None:
    key = tmp_path / "key"
    if shutil.which("ssh-keygen") is None:
        key.write_text("x")
        ran = stashdbg("seal", recording, "--key", key)
        assert ran.code == exit_codes.NO_INPUT
        assert "ssh-keygen is not installed" in ran.err
        return
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    signers = tmp_path / "signers"
    signers.write_text("ann@x " + key.with_suffix(".pub").read_text())
    assert "signed and sealed" in stashdbg("seal", recording, "--key", key).err
    ran = stashdbg("verify", recording, "--signers", signers)
    assert (ran.code, ran.err) == (exit_codes.OK, "")
    assert "signature  signed by ann@x" in ran.out
    stashdbg("seal", recording, "--force")
    ran = stashdbg("verify", recording, "--signers", signers)
    assert ran.code == exit_codes.DIFFERENT
    assert ran.out.startswith("unsigned: ")


def test_a_redacted_copy_verifies_and_lists_what_is_not_covered(stashdbg: Run, make: Run, tmp_path: Path) -> None:
    path = make([{"value": {"api_key": "sk-proj-" + "Ab1" * 14}}, {"value": "plain"}])
    stashdbg("seal", path)
    copy = tmp_path / "copy.json"
    assert stashdbg("redact", path, "-o", copy).code == exit_codes.OK
    ran = stashdbg("verify", copy)
    assert ran.code == exit_codes.OK
    assert ran.out.startswith("sealed; 1 field is redacted and not covered\n  not covered: value of event 0\n")
    uncovered = json.loads(stashdbg("verify", copy, "--json").out)["uncovered"]
    assert uncovered == [{"seq": 0, "part": "value", "masked": True}]


@pytest.mark.parametrize("command", ["seal", "verify"])
def test_no_screen_is_loaded(command: str, recording: Path, environment: Run) -> None:
    program = (
        "import sys\nfrom stashdbg.cli.app import run\nrun(sys.argv[1:])\n"
        "print(sorted({m.split('.')[0] for m in sys.modules} & {'textual', 'rich', 'deepdiff', 'stashdbg_tui'}))"
    )
    words = [sys.executable, "-c", program, command, str(recording)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment(), check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_says_what_a_seal_does_not_prove(stashdbg: Run) -> None:
    assert "whoever has both files can seal a change anew" in " ".join(stashdbg("verify", "--help").out.split())
