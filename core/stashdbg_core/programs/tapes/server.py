"""The socket between a program and what answers it: one thread a connection, one answer a message.

The socket lies in a folder that only the user can enter, and a connection has to know the run's token. Whatever a
program sends, or however it breaks off, costs that connection at most. Programs are welcome before there is anybody to
answer them: a call that is only recorded runs at once, anything else waits. Loads next to nothing, as ``frames`` does:
a program that was started before anything was loaded is not to wait for its welcome.
"""

from __future__ import annotations

import _socket
import _thread
import os
import time

from stashdbg_core.programs.wire.door import Door
from stashdbg_core.programs.wire.frames import (
    Origin,
    Refused,
    failure,
    framed,
    hello_of,
    plain_text,
    read_frame,
    read_json,
    welcome,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from stashdbg_core.programs.tapes.answering import Answering
    from stashdbg_core.programs.wire.frames import Answer, Hello, Mode

_QUIET = 0.5
"""Seconds without a message after which processes that outlive the program are waited for no longer."""
_POLL = 0.005
_NAMED_BY = {"call": ("channel", "key"), "http": ("method", "url")}
"""The texts that name a call, by the ``op`` of its message."""


class Server:
    """Listens for one program and the processes it starts, once it is opened.

    Args:
        mode: What kind of run it is.
        seed: As for ``Answering``.
        door: Where it listens; a new one when None.

    Raises:
        OSError: There is no room for a socket.
    """

    def __init__(self, mode: Mode, seed: str, door: Door | None = None) -> None:
        self._records = mode == "record"
        self._welcome = welcome(mode, seed)
        self._run: Answering | None = None
        self._unanswered = _held_lock()
        """Held until there is somebody to answer."""
        self._hellos: list[Hello] = []
        self._told_to_run: list[tuple[bytes, Origin, float]] = []
        self._programs: dict[int, str | None] = {}
        self._pids: set[int] = set()
        self._door = door or Door()
        self.path, self.token = self._door.path, self._door.token
        self._listener = _socket.socket(fileno=self._door.take())
        self._connections: set[_socket.socket] = set()
        self._lock = _thread.allocate_lock()
        self._gone = _held_lock()
        """Let go of when a connection has come to its end."""
        self._last = time.monotonic()
        self._is_open = False
        self._closing = False

    def open(self) -> None:
        """Let programs in. Opening twice does nothing."""
        if not self._is_open:
            self._is_open = True
            _thread.start_new_thread(self._accept, ())

    def attach(self, run: Answering) -> None:
        """Let a run answer from here on; its tape keeps the token to itself."""
        if run.tape is not None:
            run.tape.hide(self.token)
        with self._lock:
            for hello in self._hellos:
                run.welcome(hello)
            for text, origin, at in self._told_to_run:
                run.catch_up(text, origin, at)
            self._run = run
        self._unanswered.release()
        self.open()

    def drain(self, *, patience: float = 10.0) -> None:
        """Wait until the program's connections are at their end: what it sent before it ended is answered.

        Processes that outlive the program are waited for while they send, and no longer than ``patience`` seconds. A
        daemon is one even while it has no connection: it closes all that it does not know, and opens another.
        """
        start = time.monotonic()
        while time.monotonic() < start + patience:
            with self._lock:
                is_connected, left = bool(self._connections), max(self._last, start) + _QUIET - time.monotonic()
                if left <= 0 or not (is_connected or any(map(_is_alive, self._pids))):
                    return
            self._gone.acquire(timeout=left if is_connected else min(left, _POLL))

    def stop(self) -> None:
        """Close every connection and take the socket away. Stopping twice does nothing."""
        with self._lock:
            if not self._closing and self._run is None:
                self._unanswered.release()
            self._closing = True
            open_now = list(self._connections)
        for connection in (self._listener, *open_now):
            try:
                connection.shutdown(_socket.SHUT_RDWR)
            except OSError:  # its other side is gone already
                pass
            connection.close()
        self._door.close()

    def _accept(self) -> None:
        while True:
            try:
                connection = _socket.socket(fileno=self._listener._accept()[0])  # type: ignore[attr-defined]
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
            _thread.start_new_thread(self._serve, (connection,))

    def _serve(self, connection: _socket.socket) -> None:
        try:
            self._converse(connection)
        except OSError:
            return  # the program is gone
        except Refused as error:  # no frame can be told from here on
            _try_to_send(connection, failure(error))
        finally:
            with self._lock:
                self._connections.discard(connection)
                if self._gone.locked():
                    self._gone.release()
            connection.close()

    def _converse(self, connection: _socket.socket) -> None:
        first = read_frame(connection)
        if first is None:
            return
        try:
            origin, told = self._greet(hello_of(first, self.token))
        except Refused as error:
            connection.sendall(framed(plain_text(failure(error))))
            return
        connection.sendall(framed(plain_text(told)))
        while (text := read_frame(connection)) is not None:
            self._last = time.monotonic()
            try:
                answer = framed(self._answer(text, origin))
            except Exception as error:  # noqa: BLE001 - a fault of ours must not leave the program waiting
                answer = framed(plain_text(self._failure(error)))
            connection.sendall(answer)

    def _greet(self, hello: Hello) -> tuple[Origin, Answer]:
        with self._lock:
            lane = self._lane_of(hello)
            self._pids.add(hello.pid)
            self._last = time.monotonic()
            if self._run is None:
                self._hellos.append(hello)
            else:
                self._run.welcome(hello)
        told = self._welcome if lane is None else {**self._welcome, "process": lane}
        return Origin(hello.pid, lane, hello.parent), told

    def _answer(self, text: bytes, origin: Origin) -> bytes:
        if self._run is None:
            early = self._early_answer(text, origin) if self._records else None
            if early is not None:
                return plain_text(early)
            with self._unanswered:
                pass
        if self._run is None:
            raise Refused("the run could not begin", "end the program")
        return self._run.respond(text, origin)

    def _early_answer(self, text: bytes, origin: Origin) -> Answer | None:
        """Return the answer to a message that nobody has to see for it; None: it waits for whoever does."""
        tree = read_json(text)
        op = tree.get("op")
        if op == "bye":
            return {}
        if type(op) is not str or any(type(tree.get(key)) is not str for key in _NAMED_BY.get(op, ("",))):
            return None
        with self._lock:
            if self._run is not None:
                return None
            self._told_to_run.append((text, origin, time.time() * 1000))
            return {"seq": len(self._told_to_run) - 1, "run": True}

    def _failure(self, error: Exception) -> Answer:
        """Return what the program is told of a message that was not taken, and take a note of it."""
        from stashdbg_core.errors import StashError

        told: Answer
        if isinstance(error, (Refused, StashError)):
            told, kind, said = failure(error), "not-recorded", f"a message was refused: {error.message}"
        else:
            told = failure(Refused("stashdbg failed to take the message"), "internal")
            kind, said = "internal-error", f"a message was not taken: {type(error).__name__}"
        if self._run is not None:
            self._run.note(kind, said)
        return told

    def _lane_of(self, hello: Hello) -> str | None:
        """Return the lane of a process: what it says, or for another one that nothing of ours started, by its turn."""
        if hello.process is not None or hello.parent is not None:
            return hello.process
        if hello.pid not in self._programs:
            number = len(self._programs) + 1
            self._programs[hello.pid] = f"program {number}" if number > 1 else None
        return self._programs[hello.pid]


def _held_lock() -> _thread.LockType:
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True


def _try_to_send(connection: _socket.socket, answer: Answer) -> None:
    try:
        connection.sendall(framed(plain_text(answer)))
    except OSError:
        return
