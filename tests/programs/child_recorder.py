"""A recorder to test the child's side alone: it speaks the protocol, keeps calls in lists, and serves from them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHILD = Path(__file__).parents[2] / "core" / "stashdbg_core" / "programs" / "child"
SEED = "5e" * 32
ABSENT = object()


def _name(message: dict[str, Any]) -> str:
    """By what a call is found again."""
    if message["op"] == "call":
        return json.dumps(["call", message["channel"], message["key"], message.get("input")], sort_keys=True)
    return json.dumps(["value", message["channel"], message["key"], message.get("thread"), message.get("site")])


@dataclass
class Tape:
    """What was recorded, and what a replay asked for in vain."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    hellos: list[dict[str, Any]] = field(default_factory=list)
    goodbyes: list[dict[str, Any]] = field(default_factory=list)
    missed: list[dict[str, Any]] = field(default_factory=list)

    def named(self, key: str) -> list[dict[str, Any]]:
        """Return the calls of a key."""
        return [call for call in self.calls if call["key"] == key]


class Recorder:
    """Listens on a socket and answers, as ``stashdbg record`` or ``stashdbg replay`` does."""

    def __init__(self, recorded: Tape | None = None, *, mode: str | None = None, die_after: int = 0) -> None:
        self.mode = mode or ("record" if recorded is None else "replay")
        self.tape = Tape()
        self._waiting: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for call in reversed(recorded.calls if recorded is not None else []):
            if "value" in call:
                self._waiting[_name(call)].append(call)
        self._lock = threading.Lock()
        self._die_after = die_after
        self._connections: list[socket.socket] = []
        self._folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self._folder.name, "socket")
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        self._folder.cleanup()

    def close(self) -> None:
        """Be gone."""
        try:
            self._listener.shutdown(socket.SHUT_RDWR)  # or a thread that is accepting keeps it open
        except OSError:
            pass
        self._listener.close()
        for connection in self._connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of a recorded program."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
        path = os.pathsep.join(filter(None, [str(CHILD), more.pop("PYTHONPATH", "")]))
        ours = {"PYTHONPATH": path, "STASHDBG_SOCKET": self.path, "STASHDBG_TOKEN": "token", "PYTHONHASHSEED": "7"}
        return {**kept, **ours, "STASHDBG_HIDE": "PYTHONHASHSEED", **more}

    def run(
        self, argv: list[str], *, python: str = sys.executable, stdin: str = "", more: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with arguments to its end."""
        return subprocess.run(
            [python, *argv],
            env=self.environment(**(more or {})),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        lane = parent = None
        while True:
            message = _read(connection)
            if message is None:
                return
            if message["op"] == "hello":
                lane, parent = message["process"], message["parent"]
            elif lane is not None and message["op"] in ("call", "value") and "thread" not in message:
                raise AssertionError(f"a worker process said nothing of its lane: {message}")
            with self._lock:
                answer = self._answer(message, parent)
            if self._die_after and len(self.tape.calls) >= self._die_after:
                self.close()
                return
            text = json.dumps(answer).encode()
            try:
                connection.sendall(len(text).to_bytes(4, "big") + text)
            except OSError:
                return

    def _answer(self, message: dict[str, Any], parent: int | None) -> dict[str, Any]:
        op, tape = message["op"], self.tape
        if op == "hello":
            assert message["token"] == "token"
            tape.hellos.append(message)
            return {"mode": self.mode, "seed": SEED, "offline": self.mode == "replay", "maxBody": 1 << 20}
        if op == "note":
            tape.notes.append((message["kind"], message["message"]))
        elif op == "bye":
            tape.goodbyes.append(message)
        elif op in ("end", "response"):
            tape.calls[message["seq"]].update(message, op=tape.calls[message["seq"]]["op"])
        elif op in ("call", "value", "http"):
            return self._begun(message, parent)
        return {}

    def _begun(self, message: dict[str, Any], parent: int | None) -> dict[str, Any]:
        tape, recorded = self.tape, None
        asks = self.mode != "record" and "value" not in message
        if asks and self._waiting[_name(message)]:
            recorded = self._waiting[_name(message)].pop()
        elif asks and self.mode == "replay" and not message.get("soft"):
            tape.missed.append(message)
            return {"error": {"kind": "divergence", "message": f"no such call: {_name(message)}"}, "stop": True}
        if recorded is None and message["op"] == "value" and "value" not in message:
            return {"run": True}
        seq = len(tape.calls)
        tape.calls.append({**message, "seq": seq, "parent": message.get("parent", parent)})
        if recorded is None:
            return {} if message["op"] == "value" else {"seq": seq, "run": True}
        tape.calls[seq].update(value=recorded["value"], outcome=recorded.get("outcome"))
        if message["op"] == "value":
            return {"value": recorded["value"]}
        return {"seq": seq, "outcome": recorded["outcome"], "value": recorded["value"]}


def _read(connection: socket.socket) -> dict[str, Any] | None:
    try:
        head = connection.recv(4, socket.MSG_WAITALL)
        if len(head) < 4:
            return None
        return json.loads(connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
    except OSError:
        return None
