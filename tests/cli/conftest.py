"""A small recording, and the command line run in this process or in one of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run
from stashdbg_core.canonical import stored_form


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


def recording_tree(calls: list[dict[str, Any]], **top: Any) -> dict[str, Any]:
    """A version-1 recording; each call is an event's keys with ``value`` and ``input`` instead of references."""
    events, blobs, counts = [], {}, {}
    for seq, call in enumerate(calls):
        event = {"seq": seq, "channel": "tool", "key": "search", "outcome": "return", **call}
        identity = (event["channel"], event["key"])
        event.setdefault("ordinal", counts.get(identity, 0))
        counts[identity] = event["ordinal"] + 1
        for name, key in (("value", "ref"), ("input", "inputRef")):
            if name in event:
                value = event.pop(name)
                event[key] = "sha256:" + hashlib.sha256(stored_form(value)).hexdigest()
                blobs[event[key]] = value
        events.append(event)
    return {"version": 1, "id": "run-1", "events": events, "blobs": blobs, "meta": {"complete": True}, **top}


CALLS: list[dict[str, Any]] = [
    {"channel": "llm", "key": "plan", "value": {"text": "look it up"}, "input": {"prompt": "weather?"}, "ms": 812.5},
    {
        "value": ["sunny", "mild"],
        "input": {"q": "weather paris"},
        "at": 1760000000000,
        "label": "first try",
        "thread": "t1",
    },
    {"value": {"$stash": "exception", "type": "TimeoutError", "text": "no answer"}, "outcome": "throw", "ms": 30000},
    {"channel": "clock", "key": "now", "value": 1760000001.5},
]


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Write a recording of these calls and return its path."""

    def write(calls: list[dict[str, Any]], name: str = "run.json", **top: Any) -> Path:
        path = tmp_path / name
        path.write_bytes(stored_form(recording_tree(calls, **top)))
        return path

    return write


@pytest.fixture
def recording(make: Callable[..., Path]) -> Path:
    """A recording of four calls, one of them failed."""
    return make(CALLS)


@pytest.fixture
def stashdbg(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run the command line in this process, as if in CI: without a terminal."""
    for name in ("COLUMNS", "NO_COLOR", "STASHDBG_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)

    def call(*words: str | Path) -> Ran:
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


def clean_environment(**changes: str) -> dict[str, str]:
    """The environment of a process under test: ours, without what changes its output."""
    dropped = {
        "COLUMNS",
        "NO_COLOR",
        "TERM",
        "CI",
        "PYTHONUTF8",
        "PYTHONIOENCODING",
        "LC_ALL",
        "LANG",
        "STASHDBG_TRACEBACK",
    }
    paths = os.pathsep.join(path for path in sys.path if path)
    return {name: value for name, value in os.environ.items() if name not in dropped} | {"PYTHONPATH": paths} | changes


@pytest.fixture
def environment() -> Callable[..., dict[str, str]]:
    return clean_environment


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run the command line in a process of its own."""

    def call(*words: str | bytes | Path, given: bytes = b"", **changes: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "stashdbg", *words],
            input=given,
            capture_output=True,
            env=clean_environment(**changes),
            check=False,
            timeout=60,
        )

    return call


FORKING = """
import json, os, sys
import pydantic, typer._adapters, typer.main, stashdbg.cli.console, stashdbg.cli.event_text, stashdbg.cli.listing
import stashdbg.cli.open, stashdbg.cli.root, stashdbg.cli.show, stashdbg.cli.stats, stashdbg_core.opening.files
from stashdbg.__main__ import main
for line in sys.stdin:
    words, out, err, changes = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ.update(changes)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT), 1)
        os.dup2(os.open(err, os.O_WRONLY | os.O_CREAT), 2)
        main(words)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""A process that runs command after command in copies of itself: what they import is imported once."""


@pytest.fixture
def processes(tmp_path: Path) -> Callable[..., list[subprocess.CompletedProcess[bytes]]]:
    """Run command lines, each in a process of its own, under one environment; each may change it for itself."""

    def call(
        commands: list[tuple[list[str], dict[str, str]]], **changes: str
    ) -> list[subprocess.CompletedProcess[bytes]]:
        files = [(tmp_path / f"out-{place}", tmp_path / f"err-{place}") for place in range(len(commands))]
        lines = [
            json.dumps([[str(word) for word in words], str(out), str(err), own])
            for (words, own), (out, err) in zip(commands, files, strict=True)
        ]
        done = subprocess.run(
            [sys.executable, "-c", FORKING],
            input="\n".join(lines).encode(),
            capture_output=True,
            env=clean_environment(**changes),
            check=True,
            timeout=120,
        )
        codes = [int(code) for code in done.stdout.split()]
        assert len(codes) == len(commands), done.stderr
        return [
            subprocess.CompletedProcess(words, code, out.read_bytes(), err.read_bytes())
            for (words, _), code, (out, err) in zip(commands, codes, files, strict=True)
        ]

    return call


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a shell line in which ``$STASHDBG`` is the command; the exit code is that of the command."""

    def call(line: str, **changes: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            ["bash", "-c", line],
            capture_output=True,
            cwd=tmp_path,
            env=clean_environment(STASHDBG=f"{sys.executable} -m stashdbg", **changes),
            check=False,
            timeout=60,
        )

    return call
