"""Textual's terminal driver, made to give the terminal back however the program is told to end or to pause.

A signal that ends programs, or a terminal that is gone, ends the screen as ``q`` does, with the exit code that a shell
expects; a second signal, or a screen that does not end in time, ends the process at once. ``SIGSTOP``, unlike Ctrl+Z,
gives no notice, so everything is set anew when the program goes on.
"""

from __future__ import annotations

import os
import select
import signal
import termios
from contextlib import suppress
from threading import Thread, Timer
from types import FrameType
from typing import Any

from textual.drivers.linux_driver import LinuxDriver

GRACE_SECONDS = 5.0
"""So long the screen may take to end."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LEAVE = b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?2004l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
"""Mouse, paste and focus reports off, keys plain, the first screen and the cursor back."""


class TerminalDriver(LinuxDriver):
    """The driver of ``StashApp`` on a terminal."""

    _before: dict[int, Any] | None = None
    """What the signals did before, while the screen has the terminal."""
    _watch: Thread | None = None
    _pausing = False
    """Whether it was told to pause, and has not gone on for good."""

    def start_application_mode(self) -> None:
        """Take the terminal, and the signals that end the program."""
        if self._before is None:
            usual = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._end) for number in usual}
        if self._watch is None and os.isatty(self.fileno):
            self._watch = Thread(target=self._wait_for_hangup, name="stashdbg-hangup", daemon=True)
            self._watch.start()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def stop_application_mode(self) -> None:
        """Give both back."""
        super().stop_application_mode()
        before, self._before = self._before, None
        for number, handler in (before or {}).items():
            signal.signal(number, handler)

    def write(self, data: str) -> None:
        """Write to the terminal; to one that was given back, or is gone, nothing: nobody empties the queue."""
        if self._has_writer:
            super().write(data)

    def close(self) -> None:
        """Stop to write."""
        if self._has_writer:
            super().close()

    @property
    def _has_writer(self) -> bool:
        return self._writer_thread is not None and self._writer_thread.is_alive()

    def _sigtstp_application(self, *arguments: object) -> None:
        """Give the terminal back, and pause; told twice before it goes on, a program pauses once."""
        if self._pausing:
            return
        self._pausing = True
        super()._sigtstp_application(*arguments)
        self._loop.call_soon_threadsafe(self._gone_on)

    def _gone_on(self) -> None:
        self._pausing = False

    def _sigcont_application(self, *arguments: object) -> None:
        if self._auto_restart and self._has_writer:
            self.suspend_application_mode()
            self._must_signal_resume = True
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        self._leave(128 + number)

    def _wait_for_hangup(self) -> None:
        """End the screen when its terminal is gone, where the signal that says so is ignored or never comes."""
        poll = select.poll()
        poll.register(self.fileno, 0)  # a hang-up is told unasked
        poll.poll()
        self._leave(128 + signal.SIGHUP)

    def _leave(self, code: int) -> None:
        late = Timer(GRACE_SECONDS, self._end_at_once, [code])
        late.daemon = True
        late.start()
        with suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(self._app.exit, None, code)

    def _end_at_once(self, code: int) -> None:
        if self._before is not None:
            with suppress(OSError, termios.error):
                if self.attrs_before is not None:
                    termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
                os.write(self.fileno, _LEAVE)
        os._exit(code)
