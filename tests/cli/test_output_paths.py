"""Where commands write: a file that is taken stays, a link is followed only if asked, nothing else is ever replaced."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran

COMMANDS: dict[str, list[str]] = {
    "record": ["record", "-o", "OUT", "--", sys.executable, "-c", "open('ran', 'w')"],
    "continue": ["continue", "run.json", "--yes", "-o", "OUT", "--", sys.executable, "-c", "open('ran', 'w')"],
    "fork": ["fork", "run.json", "--at", "1", "-o", "OUT"],
    "redact": ["redact", "run.json", "-o", "OUT"],
    "convert": ["convert", "run.json", "-o", "OUT"],
    "report": ["report", "run.json", "--title", "x", "--now", "2026-01-01", "-o", "OUT"],
    "flat": ["export", "run.json", "--flat", "-o", "OUT"],
    "otlp": ["export", "run.json", "--otlp", "-o", "OUT"],
}
"""Commands that write one file, OUT standing for its name."""
FORCED = [name for name in COMMANDS if name != "fork"]
NO_FILES = [
    "folder",
    "folder/",
    "link-to-folder",
    "fifo",
    "link-to-null",
    "loop",
    "/dev/null",
    "/dev/fd/1",
    "",
    ".",
    "..",
]
"""What no file can be written to, and nothing may happen to."""
BEYOND_REACH = ["no/run.json", "run.json/x.json", "x" * 300]


def words(name: str, out: str, *, force: bool) -> list[str]:
    command = [out if word == "OUT" else word for word in COMMANDS[name]]
    return [command[0], *(["--force"] if force else []), *command[1:]]


def tree() -> dict[str, object]:
    """What lies in the folder: contents of files, targets of links, and what else there is."""
    found: dict[str, object] = {}
    for path in sorted(Path().rglob("*")):
        mode = path.lstat().st_mode
        kept = os.readlink(path) if stat.S_ISLNK(mode) else path.read_bytes() if stat.S_ISREG(mode) else mode
        found[str(path)] = kept
    return found


@pytest.fixture(autouse=True)
def folder(recording: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one of everything that a name can lead to."""
    monkeypatch.chdir(recording.parent)
    Path("folder").mkdir()
    os.mkfifo("fifo")
    Path("taken.json").write_bytes(b"taken")
    Path("elsewhere").mkdir()
    Path("elsewhere/target.json").write_bytes(b"target")
    for link, target in (
        ("link-to-folder", "folder"), ("link-to-null", "/dev/null"), ("loop", "loop"),
        ("link.json", "elsewhere/target.json"), ("dangling.json", "elsewhere/new.json"),
    ):  # fmt: skip
        os.symlink(target, link)
    return recording.parent


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_file_is_refused_in_one_line(stashdbg: Callable[..., Ran], name: str) -> None:
    before, devices = tree(), os.listdir("/dev")
    for place, out in enumerate((*NO_FILES, *BEYOND_REACH)):
        force = name in FORCED and (place + len(name)) % 2 == 0
        ran = stashdbg(*words(name, out, force=force))
        assert ran.code in (64, 66) and ran.out == "", (out, ran)
        assert ran.err.startswith("stashdbg: ") and ran.err.count("\n") == 1, (out, ran)
        assert tree() == before, out
    assert os.listdir("/dev") == devices


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("record", "continue")])
def test_a_name_that_is_taken_is_left_and_a_free_one_said(stashdbg: Callable[..., Ran], name: str) -> None:
    before = tree()
    for out in ("taken.json", "link.json", "dangling.json"):
        ran = stashdbg(*words(name, out, force=False))
        assert (ran.code, ran.out) == (0, out.replace(".json", "-2.json\n")), ran
    assert {path: kept for path, kept in tree().items() if not path.endswith("-2.json")} == before


@pytest.mark.parametrize("name", [name for name in FORCED if name not in ("record", "continue")])
def test_force_replaces_the_file_and_what_a_link_points_to(stashdbg: Callable[..., Ran], name: str) -> None:
    for out in ("taken.json", "link.json", "dangling.json"):
        ran = stashdbg(*words(name, out, force=True))
        assert (ran.code, ran.out) == (0, f"{out}\n"), ran
    whole = {path: kept for path, kept in tree().items() if type(kept) is bytes}
    assert whole["taken.json"] == whole["elsewhere/target.json"] == whole["elsewhere/new.json"] != b"taken"
    assert os.readlink("link.json") == "elsewhere/target.json"
    assert os.readlink("dangling.json") == "elsewhere/new.json"
    assert set(whole) == {"run.json", "taken.json", "elsewhere/target.json", "elsewhere/new.json"}


def test_a_seal_is_a_file_beside_its_recording_or_nothing(stashdbg: Callable[..., Ran]) -> None:
    seal = Path("run.seal.json")
    for target in ("folder", "/dev/null", "run.seal.json"):
        seal.symlink_to(target)
        before = tree()
        for force in ([], ["--force"]):
            ran = stashdbg("seal", "run.json", *force)
            assert ran.code in (64, 66) and ran.err.count("\n") == 1, (target, ran)
        assert tree() == before
        seal.unlink()


@pytest.mark.parametrize("name", ["sweep", "ablate"])
def test_a_folder_of_runs_is_a_folder(stashdbg: Callable[..., Ran], name: str) -> None:
    at = ["--at", "1"] if name == "ablate" else []
    before = tree()
    for out in ("taken.json", "fifo", "loop", "link-to-null", "run.json/x"):
        ran = stashdbg(name, "run.json", *at, "--yes", "-o", out, "--", sys.executable, "-c", "open('ran', 'w')")
        assert ran.code in (64, 66) and ran.err.splitlines()[-1].startswith("stashdbg: "), (out, ran)
        assert tree() == before, out
