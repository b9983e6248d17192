"""What a command writes to the program's own standard output and error: passed on as it comes, and taken down.

Instead of the program's own stream the command gets a pipe, which a thread empties into that stream. A terminal is left
to the command: what it shows there is not taken down, and said so once. On replay what was taken down is written again
when the program learns that the command has ended, past the program's own buffers, as the command would have.
"""

from __future__ import annotations

import _thread
import os
from select import POLLOUT, poll

from . import calls, real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

STDOUT, STDERR = 1, 2
NAMES = {STDOUT: "stdout", STDERR: "stderr"}
_PART = 1 << 16
_PATIENCE = 1.0
_said: set[str] = set()


def destinations(given: dict[str, Any]) -> dict[int, int]:
    """Return which of a command's streams go to the program's own, by descriptor, and to which of the two.

    Args:
        given: ``stdout`` and ``stderr`` as ``Popen`` takes them.
    """
    found = {}
    for fd, name in NAMES.items():
        to = _descriptor(given.get(name), fd)
        if to in NAMES:
            found[fd] = to
    return found


def _descriptor(given: Any, inherited: int) -> int:
    try:
        return inherited if given is None else given if isinstance(given, int) else given.fileno()
    except Exception:  # noqa: BLE001 - it is the program's object; Popen says what is wrong with it
        return -1


def passing(name: str, given: dict[str, Any], took: Callable[[int, bytes], None]) -> PassedOutput | None:
    """Return what passes the output of a command on; None if none of it comes here, or a terminal has it.

    Args:
        name: Of the command, for people.
        given: ``stdout`` and ``stderr`` as ``Popen`` takes them.
        took: Told which stream wrote what; two streams that go to the same file are one.
    """
    to = destinations(given)
    shown = [NAMES[fd] for fd, own in to.items() if os.isatty(own)]
    if shown and "terminal" not in _said:
        _said.add("terminal")
        what = "what commands write to the terminal, as %s does" % name
        calls.note("unpinned", "%s, is not recorded, and a replay does not write it" % what)
    kept = {fd: own for fd, own in to.items() if NAMES[fd] not in shown and _file_of(own) is not None}
    if not kept:
        return None
    try:
        return PassedOutput(kept, took)
    except OSError as error:
        calls.note("unpinned", "the output of %s is not recorded: %s" % (name, error.strerror))
        return None


class PassedOutput:
    """The pipes between one command and the program's own streams.

    Args:
        to: Where its streams go; no terminals.
        took: Told what passes.

    Raises:
        OSError: There are no descriptors left.
    """

    def __init__(self, to: dict[int, int], took: Callable[[int, bytes], None]) -> None:
        self.given: dict[str, int] = {}
        """What ``Popen`` is given instead."""
        self._took = took
        self._ended: Callable[[], None] = lambda: None
        self._lock = _thread.RLock()
        self._ways: dict[int, tuple[int, int]] = {}
        self._writing: dict[Any, int] = {}
        self._process = real.getpid()
        self._left = False
        try:
            for fd, own in to.items():
                file = _file_of(own)
                if file not in self._writing:
                    self._writing[file] = self._open(fd, own)
                self.given[NAMES[fd]] = self._writing[file]
        except OSError:
            self.abandon()
            raise

    @property
    def going_on(self) -> bool:
        """Whether more may come."""
        return bool(self._ways)

    def start(self, ended: Callable[[], None]) -> None:
        """Begin to pass on, the command having been started; ``ended`` is called when nothing more can come."""
        self._ended = ended
        self._close_writing()
        real.start_new_thread(self._run, ())

    def abandon(self) -> None:
        """Close everything: the command was not started."""
        self._close_writing()
        for reading in list(self._ways):
            self._close(reading)

    def settle(self) -> None:
        """Pass on all that a command wrote that has ended."""
        if self._process != real.getpid():
            return
        with self._lock:
            for reading in list(self._ways):
                while self._pass(reading):
                    pass

    def leave(self) -> None:
        """Leave what a command writes that goes on when the program has ended to a process that passes it on."""
        if self._process != real.getpid() or not self._lock.acquire(timeout=_PATIENCE):
            return
        self._left = True
        for reading, (_, own) in list(self._ways.items()):
            size = self._pass(reading)
            while size:
                size = self._pass(reading)
            if size is None:
                actions = [(os.POSIX_SPAWN_DUP2, reading, 0), (os.POSIX_SPAWN_DUP2, own, 1)]
                try:
                    os.set_blocking(reading, True)
                    with calls.running():
                        os.posix_spawnp("cat", ["cat"], os.environ, file_actions=actions, setpgroup=0)
                except (OSError, SystemExit):
                    continue

    def _open(self, fd: int, own: int) -> int:
        reading, writing = os.pipe()
        reading, writing = real.raised(reading), real.raised(writing)
        os.set_blocking(reading, False)
        self._ways[reading] = (fd, -1)
        self._ways[reading] = (fd, real.raised(os.dup(own)))
        return writing

    def _run(self) -> None:
        waiting = poll()
        for reading in self._ways:
            waiting.register(reading)
        while self._ways:
            ready = waiting.poll()
            with self._lock:
                if self._left:
                    return
                for reading, _ in ready:
                    if self._pass(reading) == 0:
                        waiting.unregister(reading)
                        self._close(reading)
        self._ended()

    def _pass(self, reading: int) -> int | None:
        """Pass on what is there: how many bytes, 0 at the end, None if there is nothing yet."""
        fd, own = self._ways[reading]
        try:
            data = real.read(reading, _PART)
        except BlockingIOError:
            return None
        except OSError:  # the program has closed what it did not know
            return 0
        if data:
            self._took(fd, data)
        return len(data) if write_all(own, data) else 0

    def _close_writing(self) -> None:
        for writing in self._writing.values():
            os.close(writing)
        self._writing.clear()

    def _close(self, reading: int) -> None:
        _, own = self._ways.pop(reading)
        for descriptor in (reading, own):
            try:
                os.close(descriptor)
            except OSError:
                continue


def write_all(descriptor: int, data: bytes) -> bool:
    """Write to a descriptor, which may not block; tell whether anybody takes it."""
    while data:
        try:
            data = data[real.write(descriptor, data) :]
        except BlockingIOError:
            room = poll()
            room.register(descriptor, POLLOUT)
            room.poll()
        except OSError:
            return False
    return True


class Written:
    """What a command that does not run is to write to the program's own streams.

    Args:
        to: Where its streams go.
        data: What each wrote.
    """

    def __init__(self, to: dict[int, int], data: dict[int, bytes]) -> None:
        self._left: list[tuple[int, bytes]] = []
        for fd, own in to.items():
            if data.get(fd) and _file_of(own) is not None:
                self._left.append((real.raised(os.dup(own)), data[fd]))

    def write(self) -> None:
        """Write it, once."""
        while self._left:
            descriptor, data = self._left.pop(0)
            write_all(descriptor, data)
            os.close(descriptor)


def _file_of(descriptor: int) -> tuple[int, int] | None:
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return (status.st_dev, status.st_ino)
