"""A command that does not run: a ``Popen`` whose pipes hold what was recorded, and whose end is the recorded one.

Its pipes are real pipes, so that whatever reads them does; its ``pid`` is beyond those of real processes, and signals
to it go nowhere. A command that ran until it was sent a signal does so again.
"""

from __future__ import annotations

import _thread
import os

from . import calls
from .passed_output import STDERR, STDOUT, Written
from .process_ids import watch
from .trees import bytes_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_AT_ONCE = 1 << 15
_MOST_SECONDS = 1.0
_FOREVER = 1 << 30
unwritten: list[Written] = []
"""What commands are still to write to the program's own streams."""


class ReplayedProcess:
    """The recorded end of a command.

    Args:
        module: ``subprocess``.
        popen: The process object, not initialised yet.
        recorded: The call's value.
        to: Which of its streams go to the program's own.
    """

    def __init__(self, module: Any, popen: Any, recorded: Any, to: dict[int, int]) -> None:
        recorded = recorded if isinstance(recorded, dict) else {}
        self._module = module
        code = recorded.get("returncode")
        self.returncode: int | None = code if isinstance(code, int) else None
        self._streams = [recorded.get("stdout"), recorded.get("stderr")]
        data = {fd: bytes_of(tree) for fd, tree in enumerate(self._streams, STDOUT) if tree is not None and fd in to}
        self._to, self._own = to, Written(to, data)
        if data:
            unwritten.append(self._own)
        self._stdin = None if recorded.get("stdin") is None else bytes_of(recorded["stdin"])
        self._polls = _count(recorded.get("polls"))
        self._signals = _FOREVER if self.returncode is None else _count(recorded.get("signals"))
        timeouts = recorded.get("timeouts")
        self._timeouts: list[float] = timeouts if isinstance(timeouts, list) else []
        self._drained, self._alive, self._fed = [_thread.allocate_lock() for _ in range(3)]
        self._ends: list[int] = []
        self._held: list[int] = []
        if self._signals:
            self._alive.acquire()
        execute = module.Popen._execute_child
        self._first = execute.__code__.co_varnames.index("p2cread") - 1
        popen._execute_child = lambda *args: self._execute(popen, args)
        popen._internal_poll = lambda *args, **named: None if self._signals else self._end(popen)

    def status(self) -> int:
        """Return the exit status when the process has ended, as ``os.waitpid`` has it."""
        with self._alive:
            code = self.returncode or 0
        if self._fed.acquire(True, _MOST_SECONDS):
            self._fed.release()
        self._own.write()
        return code << 8 if code >= 0 else -code

    def descriptor(self) -> int:
        """Return a descriptor that is readable when the process has ended."""
        reading, writing = os.pipe()
        self._ends.append(writing)
        self._close_ends()
        return reading

    def signalled(self) -> None:
        """Take a signal; the last of the recorded ones ends the process."""
        if self._signals > 0:
            self._signals -= 1
            if not self._signals:
                while self._held:
                    os.close(self._held.pop())
                self._alive.release()
                self._close_ends()

    def do_poll(self, original: Any, popen: Any) -> int | None:
        """Do as ``Popen.poll``: find it running as often as it was found running."""
        if popen.returncode is None and (self._polls > 0 or self._signals):
            self._polls -= 1
            return None
        return self._end(popen)

    def do_wait(self, original: Any, popen: Any, timeout: float | None = None) -> int | None:
        """Do as ``Popen.wait``: expire as often as it did."""
        if timeout is not None and self._timeouts and popen.returncode is None:
            raise self._module.TimeoutExpired(popen.args, self._timeouts.pop(0))
        if self._signals and not self._alive.acquire(True, -1 if timeout is None else max(timeout, 0)):
            raise self._module.TimeoutExpired(popen.args, timeout)
        return self._end(popen)

    def do_communicate(self, original: Any, popen: Any, *args: Any, **named: Any) -> Any:
        """Do as ``Popen.communicate``."""
        timeout = args[1] if len(args) > 1 else named.get("timeout")
        if timeout is not None and self._timeouts:
            parts = [bytes_of(tree) or None for tree in self._streams]
            raise self._module.TimeoutExpired(popen.args, self._timeouts.pop(0), output=parts[0], stderr=parts[1])
        return original(popen, *args, **named)

    def do_exit(self, original: Any, popen: Any, *args: Any) -> Any:
        """Do as ``Popen.__exit__``."""
        return original(popen, *args)

    def do_del(self, original: Any, popen: Any, *args: Any, **named: Any) -> None:
        """Do as ``Popen.__del__``: there is nothing to wait for."""
        self._own.write()

    def _execute(self, popen: Any, args: Any) -> None:
        handles = args[self._first : self._first + 6]
        stdin, _, _, stdout, _, stderr = handles
        popen.pid = watch(self)
        popen._child_created = True
        if stdin != -1:
            self._drained.acquire()
            if self._stdin:
                self._fed.acquire()
            _thread.start_new_thread(self._drain, (os.dup(stdin), popen.args))
        if stdout != -1 and STDOUT not in self._to and self._streams[0] is not None:
            self._feed(os.dup(stdout), bytes_of(self._streams[0]))
        if stderr not in (-1, stdout) and STDERR not in self._to and self._streams[1] is not None:
            self._feed(os.dup(stderr), bytes_of(self._streams[1]))
        popen._close_pipe_fds(*handles)

    def _end(self, popen: Any) -> int | None:
        self._own.write()
        if popen.returncode is None:
            popen.returncode = self.returncode
            if popen.stdin is None or popen.stdin.closed:
                self._drained.acquire(True, _MOST_SECONDS)
        return popen.returncode  # type: ignore[no-any-return]

    def _close_ends(self) -> None:
        while self._ends and not self._signals and not self._fed.locked():
            os.close(self._ends.pop())

    def _hold(self, descriptor: int) -> None:
        if self._signals:
            self._held.append(descriptor)
        else:
            os.close(descriptor)

    def _feed(self, descriptor: int, data: bytes) -> None:
        if len(data) > _AT_ONCE:
            _thread.start_new_thread(self._write, (descriptor, data))
        else:
            self._write(descriptor, data)

    def _write(self, descriptor: int, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        except OSError:  # nobody reads on
            pass
        finally:
            if self.returncode is None:  # the program read all of it, and dropped the process without waiting
                os.close(descriptor)
            else:
                self._hold(descriptor)

    def _drain(self, descriptor: int, args: Any) -> None:
        """Take what the program writes to a command that does not run, and compare it."""
        written = bytearray()
        try:
            data = os.read(descriptor, _AT_ONCE)
            while data:
                written += data
                if len(written) >= len(self._stdin or b""):
                    self._feeding_is_over()
                data = os.read(descriptor, _AT_ONCE)
        except OSError:
            pass
        finally:
            os.close(descriptor)
            if self._stdin is not None and written != self._stdin:
                calls.note("stdin-differs", "%r was written other input than in the recording" % (args,))
            self._feeding_is_over()
            self._drained.release()

    def _feeding_is_over(self) -> None:
        """Let the process end: it has got the input that it had when it was recorded."""
        if self._fed.locked():
            self._fed.release()
        self._close_ends()


def _count(recorded: Any) -> int:
    return recorded if isinstance(recorded, int) else 0
