"""The connection to the process that records: one question, one answer, a socket for each thread.

Nothing of the program's may get between: the sockets are made by ``_socket`` itself, know no default timeout, stand on
high descriptors, and are never used once the program has closed or replaced their descriptor. A forked process opens
its own. If the recorder is gone, that is said once.
"""

from __future__ import annotations

import _socket
import _thread
import os
import sys
from _weakref import ref

from . import json_text, real
from .trees import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PROTOCOL = 1
_PART = 1 << 20
_REPEATED = ("end", "response")
"""What is said again if a signal's exception cut the first time short; the recorder takes the second for the first."""
_encode = json_text.writer(plain)


class RecorderGone(Exception):
    """The recorder does not answer any more."""


class _Connection:
    """One socket, and the file that its descriptor stood for when it was made."""

    def __init__(self, path: str) -> None:
        opened = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        opened.settimeout(None)
        try:
            opened.connect(path)
        except BaseException:
            opened.close()
            raise
        self.sock = _raised(opened)
        self.file = _file_of(self.sock)

    def is_ours(self) -> bool:
        """Tell whether the descriptor is still this socket: a program may close all it does not know."""
        return self.file == _file_of(self.sock)

    def ask(self, text: bytes) -> dict[str, Any]:
        """Send a frame and return the one that comes back."""
        self.sock.sendall(len(text).to_bytes(4, "big") + text)
        answer = json_text.read(self._exactly(int.from_bytes(self._exactly(4), "big")))
        return answer if isinstance(answer, dict) else {}

    def close(self) -> None:
        """Close the socket, or let go of a descriptor that is another's by now."""
        if self.is_ours():
            self.sock.close()
        else:
            self.sock.detach()

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self.sock.recv(min(size - len(parts), _PART))
            if not part:
                raise ConnectionResetError("the recorder closed the connection")
            parts += part
        return bytes(parts)

    def __del__(self) -> None:
        sock = getattr(self, "sock", None)
        if sock is not None:
            self.close()


class Link:
    """Asks the recorder.

    Args:
        path: Of its socket.
        token: Proves that the program was started by it.
        process: Lane of this process, or None for the first one.
        parent: ``seq`` of the recorded call that started this process, or None.
    """

    def __init__(self, path: str, token: str, process: str | None, parent: int | None) -> None:
        self.path = path
        self.token = token
        self.process = process
        self.parent = parent
        self.gone = False
        self.when_gone: list[Callable[[], None]] = []
        self._free = _thread._local()
        self._all: list[ref[_Connection]] = []

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a message.

        Raises:
            RecorderGone: It does not answer any more.
        """
        if self.gone:
            raise RecorderGone
        text = _text_of(message)
        connection = None
        try:
            connection = self._take()
            answer = connection.ask(text)
        except (OSError, ValueError):
            self.lose()
            raise RecorderGone from None
        except BaseException:  # a signal's handler raised in the middle: where this connection stands is unknown
            if connection is not None:
                connection.close()
                if message["op"] in _REPEATED and not self.gone:
                    self.ask(message)
            raise
        self._put_back(connection)
        return answer

    def hello(self) -> dict[str, Any]:
        """Open a connection and return what the recorder says to this process."""
        connection = _Connection(self.path)
        answer = connection.ask(_text_of(self._greeting()))
        if "error" in answer:
            raise ConnectionRefusedError(answer["error"].get("message", ""))
        self._all.append(ref(connection, self._all.remove))
        self._put_back(connection)
        return answer

    def lose(self) -> None:
        """Take down that the recorder is gone."""
        if not self.gone:
            self.gone = True
            for tell in self.when_gone:
                tell()

    def forget_connections(self) -> None:
        """Close this process's copies of the sockets it was forked with."""
        self._closing_inherited(lambda: None)

    def go_on_in_fork(self) -> None:
        """Have a connection of this process's own, and only then let go of those it was forked with.

        So the recorder, which waits for nobody once all connections are closed, is never without one of a program that
        goes on in another process, as a daemon does.
        """
        self._closing_inherited(self.hello)

    def _closing_inherited(self, before: Callable[[], object]) -> None:
        inherited = [connection for known in self._all if (connection := known()) is not None]
        self._all = []
        self._free = _thread._local()
        try:
            before()
        except OSError:  # said when there is something to ask
            pass
        finally:
            for connection in inherited:
                connection.close()

    def _take(self) -> _Connection:
        free = self._free.__dict__.setdefault("connections", [])
        while free:
            connection: _Connection = free.pop()
            if connection.is_ours():
                return connection
            connection.close()
        self.hello()
        return self._free.connections.pop()  # type: ignore[no-any-return]

    def _put_back(self, connection: _Connection) -> None:
        self._free.__dict__.setdefault("connections", []).append(connection)

    def _greeting(self) -> dict[str, Any]:
        return {
            "op": "hello",
            "protocol": PROTOCOL,
            "token": self.token,
            "pid": real.getpid(),
            "process": self.process,
            "parent": self.parent,
            "python": ".".join(map(str, sys.version_info[:3])),
            "executable": sys.executable,
            "argv": _arguments(),
        }


def _text_of(message: dict[str, Any]) -> bytes:
    try:
        return _encode(message).encode("ascii")
    except (RecursionError, TypeError, ValueError) as error:  # deeper than the program's stack leaves room for
        reason = "writing it raised %s" % type(error).__name__
        stand_in = {"$stash": "unstorable", "class": "?", "reason": reason}
        parts = {key: stand_in if key in ("input", "value", "body") else part for key, part in message.items()}
        return _encode(parts).encode("ascii")


def _arguments() -> list[str]:
    listed = getattr(sys, "orig_argv", None) or getattr(sys, "argv", None) or []
    return [str(part) for part in listed]


def _file_of(sock: _socket.socket) -> tuple[int, int] | None:
    try:
        status = os.fstat(sock.fileno())
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino)


def _raised(opened: _socket.socket) -> _socket.socket:
    moved = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM, 0, real.raised(opened.detach()))
    moved.settimeout(None)
    return moved
