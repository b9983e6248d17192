"""Programs that use the network, recorded and then run again with nothing there: what they print stays the same."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.programs.runs.program_run import ProgramRun, RunResult
from stashdbg_core.programs.runs.rerunning import command_of, replay_program
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_core.store.open import open_recording
from tests.programs.local_server import BIG, local_server

CLIENTS = Path(__file__).parent / "clients"
MCP_SERVER = str(CLIENTS / "mcp_server.py")


@dataclass(frozen=True)
class Twice:
    """A program that ran by itself, was recorded, and was run again when its server was gone."""

    alone: str
    recorded: str
    replayed: str
    result: RunResult
    recording: Recording
    requests: int
    """How many the server got while the program was recorded, but for those that it lets hang."""

    def calls(self, words: str) -> list[RecordedEvent]:
        """Return the recorded calls whose key ends so."""
        return [event for event in self.recording.events if event.key.endswith(words)]

    def sent(self) -> int:
        """Return how many recorded requests were sent to an end: not given up while the server let them hang."""
        return sum(event.channel == "http" and not event.key.endswith("/hang") for event in self.recording.events)

    def tree(self, words: str, which: int = 0) -> Any:
        """Return what one of them gave."""
        return self.recording.blobs.tree(self.calls(words)[which].ref)


@pytest.fixture(scope="module")
def closed_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


def ran(run: ProgramRun) -> tuple[RunResult, str]:
    """Run a program to its end; return what it wrote to standard output."""
    out = bytearray()
    run._output = lambda stream, data: out.extend(data) if stream == "stdout" else None
    run.start()
    result = run.wait()
    return result, out.decode()


def twice(folder: Path, program: str, *words: str, python: str = sys.executable, alone: bool = True) -> Twice:
    """Run a program of ``clients``: alone, recorded, replayed."""
    with local_server() as server:
        argv = [python, str(CLIENTS / program), server.url, *words]
        by_itself = subprocess.run(argv, capture_output=True, text=True, check=True).stdout if alone else ""
        server.forget()
        result, recorded = ran(record_program(argv, folder / "run.json"))
        requests = server.requests
    assert result.exit_code == 0, recorded
    assert result.path is not None
    recording = open_recording(result.path)
    result, replayed = ran(replay_program(recording, command_of(recording, argv)))
    return Twice(by_itself or recorded, recorded, replayed, result, recording, requests)


def assert_same(ran: Twice) -> None:
    """Check that neither recording nor replay changed what the program saw."""
    assert ran.recorded.splitlines() == ran.alone.splitlines()
    assert ran.replayed.splitlines() == ran.recorded.splitlines()
    report = ran.result.report
    assert report is not None
    assert report.ok, report
    assert ran.result.exit_code == 0
    assert ran.result.notes == {}


def outcomes(ran: Twice, words: str) -> list[str]:
    """Return how the calls of a key ended."""
    return [event.outcome for event in ran.calls(words)]


def test_http_client_and_urllib(tmp_path: Path, closed_port: int) -> None:
    ran = twice(tmp_path, "http_client_program.py", str(closed_port))
    assert_same(ran)
    assert ran.sent() == ran.requests + 2  # the two whose connection failed never came to the server
    assert ran.tree("/json")["body"] == {"answer": 42, "q": "1"}
    assert outcomes(ran, "/nowhere") == ["throw", "throw", "throw"]
    assert ran.tree("/nowhere")["status"] == 404
    assert ran.tree("/gzip")["body"] == {"packed": "x" * 1000}
    assert len(ran.tree("/big")["body"]) == BIG
    assert ran.tree("/sse")["body"]["ending"] == "exhausted"
    assert [len(ran.tree("/sse", which)["body"]["chunks"]) for which in (0, 1, 2)] == [6, 1, 1]
    assert [ran.tree("/sse", which)["body"]["ending"] for which in (1, 2)] == ["closed", "closed"]
    assert (ran.tree("/drop")["ending"], ran.tree("/drop")["body"]) == ("failed", "y" * 40)
    assert ran.tree("/disconnect")["class"] == "http.client:RemoteDisconnected"
    assert ran.tree(f":{closed_port}/")["class"] == "builtins:ConnectionRefusedError"
    raw = (tmp_path / "run.json").read_bytes()
    assert b"hunter2-hunter2" not in raw
    assert b"Basic" not in raw


@pytest.mark.parametrize("library", ["httpx2", pytest.param("httpx", marks=pytest.mark.agents)])
def test_httpx(tmp_path: Path, closed_port: int, library: str) -> None:
    python = sys.executable if library == "httpx2" else _agents_python()
    ran = twice(tmp_path, "httpx_program.py", str(closed_port), library, python=python, alone=False)
    assert_same(ran)
    assert ran.sent() == ran.requests + 2
    assert outcomes(ran, "/limited") == ["throw", "return"]
    assert outcomes(ran, "/redirect") == ["return"] * 3
    assert ran.tree("/gzip")["body"] == {"packed": "x" * 1000}
    assert Counter(ran.tree("/sse", which)["body"]["ending"] for which in range(3)) == {"exhausted": 2, "closed": 1}
    assert ran.tree("/drop")["error"]["class"] == f"{library}:RemoteProtocolError"
    for which in (0, 1):  # the second was made when the first had been read
        first, second = ran.tree("/slow", which)["body"]["times"]
        assert first < second
    cancelled = [ran.tree("/hang", which).get("kind") for which in range(3)]
    assert cancelled == [None, "cancelled", None]
    parts = ran.calls("/echo")
    assert [
        ran.recording.blobs.tree(event.input_ref or "") for event in parts if event.site and "awaited" in event.site
    ]


def test_mcp(tmp_path: Path) -> None:
    ran = twice(tmp_path, "mcp_program.py", "-", MCP_SERVER, alone=False)
    assert_same(ran)
    calls = [(event.key, event.outcome) for event in ran.recording.events if event.channel in ("mcp", "http", "tool")]
    assert calls[:4] == [
        ("mcp_server.py:initialize", "return"),
        ("weather:tools/list", "return"),
        ("weather:add", "return"),
        ("weather:started", "return"),
    ]
    assert ("weather:prompts/get", "throw") in calls
    assert all(key.startswith(("weather:", "mcp_server.py:")) for key, _ in calls)
    assert ran.recording.blobs.tree(ran.calls("weather:add")[0].input_ref or "") == {"arguments": {"a": 1, "b": 2}}
    assert ran.tree("weather:add")["content"] == [{"type": "text", "text": "3"}]
    assert len(ran.tree("weather:slowly")["messages"]) == 2


def test_reading_on_where_the_recorded_run_stopped_is_told(tmp_path: Path) -> None:
    how_many = tmp_path / "lines"
    with local_server() as server:
        argv = [sys.executable, str(CLIENTS / "curious_program.py"), server.url, str(how_many)]
        how_many.write_text("2")
        result, _ = ran(record_program(argv, tmp_path / "run.json"))
    assert result.path is not None
    recording = open_recording(result.path)
    how_many.write_text("3")
    _, out = ran(replay_program(recording, command_of(recording, argv)))
    assert out == "ReplayMiss the program reads more of a response than it did when it was recorded\n"


@pytest.mark.agents
@pytest.mark.parametrize("program", ["requests_program.py", "aiohttp_program.py"])
def test_libraries_that_agents_bring(tmp_path: Path, closed_port: int, program: str) -> None:
    ran = twice(tmp_path, program, str(closed_port), python=_agents_python())
    assert_same(ran)
    assert outcomes(ran, "/limited") == ["throw", "return"]
    assert ran.tree("/drop")["ending"] == "failed"


def _agents_python() -> str:
    return os.environ.get("STASHDBG_AGENTS_PYTHON", sys.executable)


def test_the_programs_are_all_used() -> None:
    used: Sequence[str] = Path(__file__).read_text().split('"')
    assert {path.name for path in CLIENTS.glob("*.py")} <= set(used)
