"""How far a long piece of work has come: one line on standard error, only on a terminal, only past a second."""

from __future__ import annotations

import sys
from time import monotonic

from stashdbg.cli import console
from stashdbg_core.sanitize import shorten

_QUIET_SECONDS = 1.0
_BETWEEN_SECONDS = 0.1
_CELLS = 20
_NAME = 30


class ProgressBar:
    """Called with how much of how much is done; nothing of it stays when it is closed.

    Args:
        what: What is being done.
    """

    def __init__(self, what: str) -> None:
        self._what = shorten(what, _NAME)
        self._wanted = console.is_terminal(sys.stderr) and not console.is_dumb()
        self._started = self._last = monotonic()
        self._shown = False

    def __call__(self, done: int, total: int) -> None:
        """Show it, if it is time."""
        now = monotonic()
        if not self._wanted or now - self._started < _QUIET_SECONDS or now - self._last < _BETWEEN_SECONDS:
            return
        self._last, self._shown = now, True
        part = min(1.0, done / total) if total > 0 else 0.0
        full = round(part * _CELLS)
        console.status(f"{self._what} {'━' * full}{'─' * (_CELLS - full)} {part:4.0%}")

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            console.status("")
            self._shown = False
