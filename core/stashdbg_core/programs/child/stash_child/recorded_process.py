"""A command that really runs, watched: what the program takes from it, and how it ends.

Nothing is read that the program does not read. The call ends when the process has ended and the program has read its
pipes to the end, or closed them.
"""

from __future__ import annotations

import io
import sys

from . import calls, real
from .passed_output import NAMES, STDERR, STDOUT, PassedOutput
from .process_ids import count_signals, forget
from .trees import text_or_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MOST = 64 << 20


class Tee(io.RawIOBase):
    """A raw stream, and somebody who is told what passes.

    Args:
        raw: The stream.
        took: Told each part that was read or written.
        closed: Told when there is no more.
    """

    def __init__(self, raw: Any, took: Callable[[bytes], None], closed: Callable[[], None]) -> None:
        super().__init__()
        self._raw, self._took, self._ended = raw, took, closed
        self.name = raw.name
        self.mode = raw.mode

    def readinto(self, buffer: Any) -> int | None:
        """Read what there is."""
        size: int | None = self._raw.readinto(buffer)
        if size:
            self._took(bytes(memoryview(buffer)[:size]))
        elif size == 0:
            self._ended()
        return size

    def write(self, data: Any) -> int | None:
        """Write as much as goes."""
        size: int | None = self._raw.write(data)
        if size:
            self._took(bytes(memoryview(data)[:size]))
        return size

    def readable(self) -> bool:
        """Tell whether it can be read."""
        return bool(self._raw.readable())

    def writable(self) -> bool:
        """Tell whether it can be written."""
        return bool(self._raw.writable())

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._raw.fileno()  # type: ignore[no-any-return]

    def isatty(self) -> bool:
        """Tell whether a terminal is behind it."""
        return False

    def close(self) -> None:
        """Close it."""
        if not self.closed:
            self._raw.close()
            self._ended()
        super().close()


class RecordedProcess:
    """What is known about a running command.

    Args:
        module: ``subprocess``.
        answer: Of the call.
        knows_input: Its standard input is part of the call's input already.
    """

    def __init__(self, module: Any, answer: calls.Answer, knows_input: bool) -> None:
        self._module = module
        self._answer = answer
        self._parts: dict[int, bytearray] = {}
        self._reading: set[int] = set()
        self._written: bytearray | None = None if knows_input else bytearray()
        self._polls = self._signals = 0
        self._home = real.getpid()
        self._timeouts: list[float] = []
        self._within = 0
        self._returncode: int | None = None
        self._dropped = False
        self._passed: PassedOutput | None = None
        self._is_cut = False

    def started(self, popen: Any, passed: PassedOutput | None) -> None:
        """Watch the process, which runs now.

        Args:
            popen: It.
            passed: What passes its output on to the program's own streams.
        """
        self._pid = popen.pid
        count_signals(popen.pid, self._signalled)
        for fd, name in NAMES.items():
            stream = getattr(popen, name)
            if stream is not None:
                self._parts[fd] = bytearray()
                self._reading.add(fd)
                setattr(popen, name, _with_tee(stream, self._taker(fd), self._closer(fd), popen, reads=True))
        if popen.stdin is not None and self._written is not None:
            popen.stdin = _with_tee(popen.stdin, self.wrote, lambda: None, popen, reads=False)

        self._passed = passed
        if passed is not None:
            passed.start(self._end_if_over)

    def passed(self, fd: int, data: bytes) -> None:
        """Take down what went to the program's own stream."""
        self._keep(self._parts.setdefault(fd, bytearray()), data)

    def took(self, fd: int, data: bytes) -> None:
        """Take down what the program read."""
        part = self._parts.setdefault(fd, bytearray())
        if not self._within:
            self._keep(part, data)

    def exited(self, returncode: int | None) -> None:
        """Take down how the process ended."""
        if returncode is not None:
            self._returncode = returncode
            forget(self._pid)
            if self._passed is not None:
                self._passed.settle()
            if not self._reading:
                self.end()

    def do_poll(self, original: Any, popen: Any) -> Any:
        """Do as ``Popen.poll``."""
        code = original(popen)
        if code is None:
            self._polls += 1
        self.exited(code)
        return code

    def do_wait(self, original: Any, popen: Any, *args: Any, **named: Any) -> Any:
        """Do as ``Popen.wait``."""
        try:
            code = original(popen, *args, **named)
        except self._module.TimeoutExpired as error:
            if not self._within:
                self._timeouts.append(error.timeout)
            raise
        except (KeyboardInterrupt, SystemExit) as error:
            self._interrupted(error)
            raise
        if not self._within:
            self.exited(code)
        return code

    def do_communicate(self, original: Any, popen: Any, *args: Any, **named: Any) -> Any:
        """Do as ``Popen.communicate``, which may read past the streams."""
        given = args[0] if args else named.get("input")
        streams = {STDOUT: popen.stdout, STDERR: popen.stderr}
        self._within += 1
        try:
            results = original(popen, *args, **named)
        except self._module.TimeoutExpired as error:
            self._timeouts.append(error.timeout)
            self._keep_partly(streams, error)
            raise
        except (KeyboardInterrupt, SystemExit) as error:
            self._interrupted(error)
            raise
        finally:
            self._within -= 1
        if given and self._written is not None:
            self._written += given.encode(popen.stdin.encoding, popen.stdin.errors) if isinstance(given, str) else given
        for (fd, stream), result in zip(streams.items(), results):
            if result is not None and stream is not None:
                self.took(fd, _encoded(result, stream))
        self._reading.clear()
        self.exited(popen.returncode)
        return results

    def do_exit(self, original: Any, popen: Any, *args: Any) -> Any:
        """Do as ``Popen.__exit__``."""
        result = original(popen, *args)
        self._reading.clear()
        self.exited(popen.returncode)
        return result

    def do_del(self, original: Any, popen: Any, *args: Any, **named: Any) -> None:
        """Do as ``Popen.__del__``: nobody will ask for its end any more."""
        original(popen, *args, **named)
        self._returncode = popen.returncode
        self._dropped = True
        if self._passed is not None and self._returncode is not None:
            self._passed.settle()
        self._end_if_over()  # if not, its streams live on: os.popen("…").read()

    def leave(self) -> None:
        """End the call, for the program ends, and leave what the process goes on to write to the program's heirs."""
        if self._passed is not None:
            self._passed.leave()
        self.end()

    def end(self) -> None:
        """End the call with what is known."""
        if self._home != real.getpid():  # a copy in a process that was forked
            return
        value: dict[str, Any] = {"returncode": self._returncode}
        for fd, name in NAMES.items():
            value[name] = text_or_bytes(self._parts[fd]) if fd in self._parts else None
        if self._written:
            value["stdin"] = text_or_bytes(self._written)
        counts = {"polls": self._polls, "signals": self._signals}
        value.update({name: count for name, count in counts.items() if count})
        if self._timeouts:
            value["timeouts"] = self._timeouts
        calls.end(self._answer, "return", value)

    def _signalled(self) -> None:
        self._signals += 1

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.end()

    def _interrupted(self, error: BaseException) -> None:
        calls.end(self._answer, "throw", calls.error_tree(error))

    def _keep_partly(self, streams: dict[int, Any], error: Any) -> None:
        """Keep what a command wrote before the program gave up; asked again, ``communicate`` gives it again."""
        for fd, data in ((STDOUT, error.output), (STDERR, error.stderr)):
            if data and fd in self._parts:
                self._parts[fd][:] = data if isinstance(data, bytes) else _encoded(data, streams[fd])

    def _taker(self, fd: int) -> Callable[[bytes], None]:
        return lambda data: self.took(fd, data)

    def _closer(self, fd: int) -> Callable[[], None]:
        def close() -> None:
            self._reading.discard(fd)
            if not self._within:
                self._end_if_over()

        return close

    def _end_if_over(self) -> None:
        waits = self._passed is not None and self._passed.going_on
        if not self._reading and (self._returncode is not None or (self._dropped and not waits)):
            self.end()

    def wrote(self, data: bytes) -> None:
        """Take down what the program wrote."""
        if self._written is not None and not self._within:
            self._keep(self._written, data)

    def _keep(self, part: bytearray, data: bytes) -> None:
        room = _MOST - len(part)
        part += data[:room] if room > 0 else b""
        if len(data) > room and not self._is_cut:
            self._is_cut = True
            calls.note("body-too-large", "a command wrote or read more than {:,} bytes".format(_MOST))


def _encoded(result: Any, stream: Any) -> bytes:
    return result.encode(stream.encoding, stream.errors or "strict") if isinstance(result, str) else bytes(result)


def _with_tee(stream: Any, took: Any, closed: Any, popen: Any, reads: bool) -> Any:
    """Return the same stream with a ``Tee`` at its bottom."""
    text = stream if isinstance(stream, io.TextIOBase) else None
    settings = None
    if text is not None:
        settings = (text.encoding, text.errors, text.line_buffering, text.write_through)  # type: ignore[attr-defined]
        stream = text.detach()
    buffered = stream if isinstance(stream, (io.BufferedReader, io.BufferedWriter)) else None
    raw = Tee(stream if buffered is None else buffered.detach(), took, closed)
    made: Any = raw
    if buffered is not None:
        made = io.BufferedReader(raw) if reads else io.BufferedWriter(raw)
    if settings is not None:
        encoding, errors, line_buffering, write_through = settings
        made = io.TextIOWrapper(
            made, encoding=encoding, errors=errors, line_buffering=line_buffering, write_through=write_through
        )
        if text is not None and hasattr(text, "mode"):
            made.mode = text.mode
    return made
