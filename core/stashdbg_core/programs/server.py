"""The socket between a program and what answers it: one thread a connection, one answer a message.

The socket lies in a folder that only the user can enter, and a connection has to know the run's token. Whatever a
program sends, or however it breaks off, costs that connection at most.
"""

from __future__ import annotations

import hmac
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

from stashdbg_core.errors import StashError, invalid_input
from stashdbg_core.programs.answering import Answering, Mode, Origin, welcome
from stashdbg_core.programs.protocol import PROTOCOL, Answer, Hello, failure, frame, message_of, read_frame
from stashdbg_core.sanitize import shorten

_BACKLOG = 128
_QUIET = 0.5
"""Seconds without a message after which processes that outlive the program are waited for no longer."""
_POLL = 0.005
_LONGEST = 96
"""Bytes of a folder's path: a socket's has at most 103 on macOS, 107 on Linux."""
_REFUSED = (16, 28)
"""Lengths of addresses to which a program that is replayed cannot connect; see ``stash_child/seccomp.py``."""


class Server:
    """Listens for one program and the processes it starts.

    Programs are welcome at once; whatever else they say waits until there is somebody to answer it.

    Args:
        mode: What kind of run it is.
        seed: As for ``Answering``.

    Raises:
        OSError: There is no room for a socket.
    """

    def __init__(self, mode: Mode, seed: str) -> None:
        self._welcome = welcome(mode, seed)
        self._run: Answering | None = None
        self._attached = threading.Event()
        self._early: list[Hello] = []
        self._programs: dict[int, str | None] = {}
        self.token = secrets.token_hex(16)
        self._folder = _private_folder()
        self.path = self._folder / ("s" if len(os.fsencode(self._folder)) + 5 not in _REFUSED else "sock")
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._gone = threading.Condition(self._lock)
        self._last = time.monotonic()
        self._closing = False
        try:
            self._listener.bind(os.fspath(self.path))
            self._listener.listen(_BACKLOG)
        except OSError:
            self.stop()
            raise
        threading.Thread(target=self._accept, name="stashdbg-accept", daemon=True).start()

    def attach(self, run: Answering) -> None:
        """Let a run answer from here on; its tape keeps the token to itself."""
        if run.tape is not None:
            run.tape.hide(self.token)
        with self._lock:
            for hello in self._early:
                run.welcome(hello)
            self._run = run
        self._attached.set()

    def drain(self, *, patience: float = 10.0) -> None:
        """Wait until the program's connections are at their end: what it sent before it ended is answered.

        Processes that outlive the program are waited for while they send, and no longer than ``patience`` seconds.
        """
        start = time.monotonic()
        with self._gone:
            while self._connections and time.monotonic() < start + patience:
                left = max(self._last, start) + _QUIET - time.monotonic()
                if left <= 0:
                    return
                self._gone.wait(left)

    def stop(self) -> None:
        """Close every connection and take the socket away. Stopping twice does nothing."""
        with self._lock:
            self._closing = True
            self._attached.set()
            open_now = list(self._connections)
        for connection in (self._listener, *open_now):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                if self._closing:
                    return
                time.sleep(_POLL)  # out of descriptors, most likely: the program is no quicker for an error
                continue
            with self._lock:
                if self._closing:
                    connection.close()
                    return
                self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), name="stashdbg-serve", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            origin: Origin | None = None
            while (text := read_frame(connection)) is not None:
                self._last = time.monotonic()
                try:
                    answer, origin = self._answer(text, origin)
                except StashError as error:
                    answer = failure(error)
                    if origin is not None and self._run is not None:
                        self._run.note("not-recorded", f"a message was refused: {error.message}")
                except Exception as error:  # noqa: BLE001 - a fault of ours must not leave the program waiting
                    if self._run is not None:
                        self._run.note("internal-error", f"a message was not taken: {type(error).__name__}")
                    answer = failure(invalid_input("stashdbg failed to take the message"), "internal")
                connection.sendall(frame(answer))
                if origin is None:
                    return
        except StashError as error:  # no frame can be told from here on
            with suppress(OSError, StashError):
                connection.sendall(frame(failure(error)))
        except OSError:
            return  # the program is gone
        finally:
            with self._lock:
                self._connections.discard(connection)
                self._gone.notify_all()
            connection.close()

    def _answer(self, text: bytes, origin: Origin | None) -> tuple[Answer, Origin | None]:
        message = message_of(text)
        if origin is not None:
            self._attached.wait()
            if self._run is None:
                raise invalid_input("the run could not begin", hint="end the program")
            return self._run.answer(message, origin), origin
        if not isinstance(message, Hello):
            raise invalid_input("a connection begins with hello", hint="send hello first")
        if not hmac.compare_digest(message.token.encode("utf-8", "replace"), self.token.encode()):
            raise invalid_input("the token is not that of this run", hint="send the value of STASHDBG_TOKEN")
        if message.protocol != PROTOCOL:
            spoken = shorten(str(message.protocol), 20)
            raise invalid_input(f"the program speaks protocol {spoken}", hint=f"this is protocol {PROTOCOL}")
        with self._lock:
            lane = self._lane_of(message)
            if self._run is None:
                self._early.append(message)
            else:
                self._run.welcome(message)
        told: Answer = self._welcome if lane is None else {**self._welcome, "process": lane}
        return told, Origin(message.pid, lane, message.parent)

    def _lane_of(self, hello: Hello) -> str | None:
        """Return the lane of a process: what it says, or for another one that nothing of ours started, by its turn."""
        if hello.process is not None or hello.parent is not None:
            return hello.process
        if hello.pid not in self._programs:
            number = len(self._programs) + 1
            self._programs[hello.pid] = f"program {number}" if number > 1 else None
        return self._programs[hello.pid]


def _private_folder() -> Path:
    """Make a folder that only the user can enter, with a path short enough for a socket's."""
    folder = tempfile.mkdtemp(prefix="stashdbg-")
    if len(os.fsencode(folder)) > _LONGEST:
        os.rmdir(folder)
        folder = tempfile.mkdtemp(prefix="stashdbg-", dir="/tmp")
    return Path(folder)
