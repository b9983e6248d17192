"""Signals that reach this process are passed on to the program it runs.

Loads nothing but the interpreter's own ``_signal``: signals are caught before anything else is loaded.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the interpreter's own half of ``signal``
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Protocol

    class Process(Protocol):
        """What takes signals."""

        def send_signal(self, sig: int, /) -> None:
            """Send one; a process that has ended gets none."""


def _numbers(*names: str) -> tuple[int, ...]:
    return tuple(int(getattr(_signal, name)) for name in names if hasattr(_signal, name))


_PASSED_ON = _numbers("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
_TYPED = _numbers("SIGINT", "SIGQUIT")
"""Signals that a terminal sends to every process in its foreground, the program among them."""


class PassedOn:
    """Passes signals on; only the main thread can catch them."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._before: dict[int, Any] = {}
        self._early: list[int] = []
        self._home = os.getpid()

    def catch(self) -> None:
        """Catch signals from here on; those that come before there is a program wait for it."""
        for number in _PASSED_ON:
            before = _signal.getsignal(number)
            if before != _signal.SIG_IGN and number not in self._before:
                try:
                    _signal.signal(number, self._caught)
                except ValueError:  # not the main thread
                    return
                self._before[number] = before

    def pass_to(self, process: Process) -> None:
        """Pass them on to this program."""
        self._process = process
        for number in self._early:
            self._send(number)
        self._early.clear()

    def release(self) -> None:
        """Let signals do what they did before."""
        for number, before in self._before.items():
            _signal.signal(number, _signal.SIG_DFL if before is None else before)
        self._before.clear()

    def _caught(self, number: int, _: FrameType | None) -> None:
        if os.getpid() != self._home:  # a worker that was forked meanwhile: the program is not its own
            before = self._before.get(number)
            _signal.signal(number, _signal.SIG_DFL if before is None else before)
            os.kill(os.getpid(), number)
        elif self._process is None:
            self._early.append(number)
        elif number not in _TYPED or not _is_in_foreground():
            self._send(number)  # otherwise the terminal has sent it to the program, too

    def _send(self, number: int) -> None:
        if self._process is not None:
            try:
                self._process.send_signal(number)
            except OSError:
                return


def _is_in_foreground() -> bool:
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
