"""``stashdbg report``, and bundles opened by every other command."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

KEY = "sk-" + "ant-api03-" + "Ab3" * 12
NOW = "2026-11-30T12:00:00Z"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A home folder with things in it that are nobody's business, as the working directory."""
    folder = tmp_path / "jane.doe-ACME"
    (folder / "secret-project").mkdir(parents=True)
    (folder / "secret-project" / "notes.txt").write_text("private")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / ".config"))
    monkeypatch.setenv("USER", "jane.doe")
    monkeypatch.setenv("A_TOKEN_OF_MINE", "environment-value")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    monkeypatch.chdir(folder / "secret-project")
    return folder


@pytest.fixture
def run(home: Path, make: Callable) -> Path:
    calls = [
        {"channel": "llm", "key": "m", "value": "hi", "input": {"messages": [{"role": "user", "content": "q"}]}},
        {"value": f"no such file: {home}/secret-project/x", "outcome": "throw", "input": {"api_key": KEY}},
        {"key": "slow", "value": {"$stash": "pending"}, "outcome": "throw"},
    ]
    return make(calls, meta={"complete": True, "command": {"argv": ["python", f"{home}/a.py"], "cwd": str(home)}})


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_list_says_what_there_is_and_how_large(run: Path, stashdbg: Callable) -> None:
    ran = stashdbg("report", run, "--list")
    assert ran.code == 0
    assert "conv-1" in ran.out
    assert "3 events, 1 failed, 1 never finished" in ran.out
    for name in ("manifest.json", "recording.json", "transcript.txt", "narrative.txt", "environment.json"):
        assert name in ran.out
    facts = json.loads(stashdbg("report", run, "--list", "--json").out)
    assert next(unit["id"] for unit in facts["units"]) == "conv-1"
    assert not list(Path().glob("*.zip"))


def test_a_bundle_holds_a_fixed_list_and_nothing_of_the_machine(run: Path, home: Path, stashdbg: Callable) -> None:
    ran = stashdbg("report", run, "--title", f"Fails in {home}", "-o", home / "out.zip", "--now", NOW)
    assert (ran.code, ran.out) == (0, f"{home / 'out.zip'}\n")
    assert os.stat(home / "out.zip").st_mode & 0o777 == 0o600
    held = entries(home / "out.zip")
    assert list(held) == ["manifest.json", "recording.json", "transcript.txt", "narrative.txt", "environment.json"]
    everything = b"".join(held.values())
    for private in (b"jane", b"private", b"environment-value", KEY.encode(), b"A_TOKEN_OF_MINE"):
        assert private not in everything
    assert b"~/secret-project/x" in everything
    assert b"[REDACTED:anthropic-key#1]" in everything


def test_a_bundle_opens_in_every_command(run: Path, home: Path, stashdbg: Callable) -> None:
    stashdbg("report", run, "--title", "t", "-o", home / "out.zip")
    shown = json.loads(stashdbg("show", home / "out.zip", "--json").out)
    assert [event["key"] for event in shown["events"]] == ["m", "search", "slow"]
    assert json.loads(stashdbg("stats", home / "out.zip", "--json").out)["events"] == 3
    assert stashdbg("scan", home / "out.zip").code == 0
    assert "slow" in stashdbg(home / "out.zip").out


def test_one_of_several_recordings_is_named(run: Path, home: Path, make: Callable, stashdbg: Callable) -> None:
    other = make([{"value": 1}], "other.json", id="other")
    stashdbg("report", run, other, "--title", "t", "-o", home / "out.zip")
    ran = stashdbg("show", home / "out.zip")
    assert (ran.code, ran.out) == (64, "")
    assert "recordings/run-1.json" in ran.err
    assert "other" in stashdbg("show", home / "out.zip" / "recordings" / "run-2.json").out


def test_the_same_bytes_anywhere(run: Path, home: Path) -> None:
    digests = set()
    for number, (zone, locale, mask) in enumerate(
        [("UTC", "C", 0o022), ("America/New_York", "tr_TR.UTF-8", 0o000), ("Asia/Kolkata", "de_DE.UTF-8", 0o077)]
    ):
        out = home / f"out-{number}.zip"
        program = f"import os, sys; os.umask({mask}); from stashdbg.__main__ import main; main(sys.argv[1:])"
        words = ["report", str(run), "--title", "İstanbul", "--now", NOW, "-o", str(out)]
        subprocess.run(
            [sys.executable, "-c", program, *words],
            check=True,
            capture_output=True,
            env={**os.environ, "TZ": zone, "LC_ALL": locale, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        digests.add(hashlib.sha256(out.read_bytes()).hexdigest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("epoch", "code", "created"),
    [("0", 0, "1970-01-01T00:00:00Z"), ("315532800", 0, "1980-01-01T00:00:00Z"), ("abc", 64, ""), ("9" * 30, 64, "")],
)
def test_the_epoch_of_reproducible_builds_counts(
    run: Path, home: Path, stashdbg: Callable, monkeypatch: pytest.MonkeyPatch, epoch: str, code: int, created: str
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    ran = stashdbg("report", run, "--title", "t", "-o", home / "out.zip")
    assert ran.code == code
    if code == 0:
        assert json.loads(entries(home / "out.zip")["manifest.json"])["createdAt"] == created
    else:
        assert "SOURCE_DATE_EPOCH" in ran.err


def test_chosen_units_and_json(run: Path, home: Path, stashdbg: Callable) -> None:
    words = ("--title", "t", "--include", "conv-1,file-narrative", "--repo", "o/n", "-o", home / "out.zip", "--json")
    report = json.loads(stashdbg("report", run, *words).out)
    assert report["file"] == str(home / "out.zip")
    assert report["sha256"] == hashlib.sha256((home / "out.zip").read_bytes()).hexdigest()
    assert report["bytes"] == (home / "out.zip").stat().st_size
    assert report["manifest"]["excluded"] == {"conversations": 0, "files": 2, "events": 0}
    assert list(entries(home / "out.zip")) == ["manifest.json", "recording.json", "narrative.txt"]
    assert report["issue"]["url"].startswith("https://github.com/o/n/issues/new?title=t&body=")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "title"),
        (("--title", "t", "--include", "conv-7"), "conv-7"),
        (("--title", "t", "--include", ""), "no conversation"),
        (("--title", "t", "--now", "soon"), "soon"),
        (("--title", "t", "--repo", "x"), "repository"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_no_file(
    run: Path, stashdbg: Callable, words: tuple[str, ...], said: str
) -> None:
    ran = stashdbg("report", run, *words)
    assert (ran.code, ran.out, ran.err.count("\n")) == (64, "", 1)
    assert said in ran.err
    assert not list(Path().glob("*.zip"))


def test_without_a_name_the_archive_is_called_by_date_and_title(run: Path, stashdbg: Callable) -> None:
    assert stashdbg("report", run, "--title", "Wrong city!", "--now", NOW).out == "2026-11-30-wrong-city.zip\n"
    assert stashdbg("report", run, "--title", "Wrong city!", "--now", NOW).out == "2026-11-30-wrong-city-2.zip\n"
