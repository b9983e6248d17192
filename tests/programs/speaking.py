"""A program that speaks the protocol by hand, from the test's own process."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from stashdbg_core.model import Recording
from stashdbg_core.programs.runs.continuing_run import ContinuingRun
from stashdbg_core.programs.runs.recording_run import RecordingRun
from stashdbg_core.programs.runs.replaying_run import ReplayingRun
from stashdbg_core.programs.tapes.answering import Answering
from stashdbg_core.programs.tapes.secrets import Secrets
from stashdbg_core.programs.tapes.server import Server
from stashdbg_core.programs.tapes.tape import ProgramTape, masking_of
from stashdbg_core.redact.rule_file import RuleSet
from stashdbg_core.store.open import open_recording

SEED = "ab" * 32


class Speaker:
    """One connection."""

    def __init__(self, server: Server, **hello: Any) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(str(server.path))
        self.welcome = self.ask(op="hello", **{"protocol": 1, "token": server.token, "pid": 1, **hello})

    def send(self, data: bytes) -> None:
        self.socket.sendall(len(data).to_bytes(4, "big") + data)

    def read(self) -> Any:
        head = self._exactly(4)
        return None if head is None else json.loads(self._exactly(int.from_bytes(head, "big")) or b"null")

    def ask(self, **message: Any) -> Any:
        self.send(json.dumps(message).encode())
        return self.read()

    def call(self, channel: str, key: str, value: Any = None, outcome: str = "return", **more: Any) -> Any:
        """Make a call, running it for real if told to; return the answer."""
        answer = self.ask(op="call", channel=channel, key=key, **more)
        if answer.get("run"):
            assert self.ask(op="end", seq=answer["seq"], outcome=outcome, value=value, ms=1.5) == {}
        return answer

    def post(self, url: str, body: Any, reply: Any = None, status: int = 200, **more: Any) -> Any:
        """Send a request, answered by ``reply`` if it is to be sent for real; return the answer."""
        headers = [["content-type", "application/json"], ["authorization", "Bearer sk-live-0123456789abcdef0123"]]
        answer = self.ask(op="http", method="POST", url=url, headers=headers, body=json.dumps(body), **more)
        if answer.get("run"):
            chunks = reply if isinstance(reply, list) else [json.dumps(reply)]
            kind = "text/event-stream" if isinstance(reply, list) else "application/json"
            told = self.ask(
                op="response", seq=answer["seq"], status=status, headers=[["content-type", kind]], ending="complete",
                chunks=[{"ms": float(at), "data": chunk} for at, chunk in enumerate(chunks)], ms=12.0,
            )  # fmt: skip
            assert told == {}
        return answer

    def value(self, channel: str, key: str, live: Any, **more: Any) -> Any:
        """Read a value as a child does: ask first unless recording, make it if told to."""
        asked = {"op": "value", "channel": channel, "key": key, **more}
        if self.welcome["mode"] != "record":
            answer = self.ask(**asked)
            if "value" in answer or "error" in answer:
                return answer
            if self.welcome["mode"] == "replay":
                return {"live": live}
        assert self.ask(**asked, value=live) == {}
        return {"live": live}

    def close(self) -> None:
        self.socket.close()

    def _exactly(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                return None
            data += part
        return data


@contextmanager
def serving(run: Answering) -> Iterator[Server]:
    """A server whose run is over when the block is."""
    server = Server(run.mode, run.seed)
    server.attach(run)
    try:
        yield server
    finally:
        server.stop()
        run.close(exit={"code": 0})


@contextmanager
def recorded(path: Path, said: list[str] | None = None) -> Iterator[Server]:
    """Record what speakers say to a file."""
    tape = ProgramTape(path, masking_of(RuleSet()), {"command": {"argv": ["agent"]}})
    with serving(
        RecordingRun(tape, SEED, lambda kind, text: (said if said is not None else []).append(text))
    ) as server:
        yield server


def replaying(recording: Recording, **options: Any) -> ReplayingRun:
    return ReplayingRun(recording, SEED, lambda kind, text: None, **options)


def continuing(
    recording: Recording, path: Path, secrets: Secrets | None = None, said: list[str] | None = None, **options: Any
) -> ContinuingRun:
    """A run that goes on from a recording, recorded to another file."""
    masking = masking_of(RuleSet(), *([secrets] if secrets else []), earlier=recording)
    tape = ProgramTape(path, masking, {"fork": recording.meta.get("fork")})
    notes = [] if said is None else said
    return ContinuingRun(tape, recording, SEED, lambda kind, text: notes.append(text), secrets=secrets, **options)


def events(path: Path) -> list[tuple[str, str, int, str, Any]]:
    """Channel, key, ordinal, outcome and value of every event of a file."""
    recording = open_recording(path)
    return [(e.channel, e.key, e.ordinal, e.outcome, recording.blobs.tree(e.ref)) for e in recording.events]
