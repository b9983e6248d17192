"""The functions that take a ``pid``, taught the commands that do not run; signals to those that do are counted."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_FIRST = 1 << 23
"""Beyond the greatest ``pid`` of any system."""
_replayed: dict[int, Any] = {}
_recorded: dict[int, Callable[[], None]] = {}


def watch(process: Any) -> int:
    """Return a ``pid`` for a command that does not run."""
    pid = _FIRST + len(_replayed)
    _replayed[pid] = process
    return pid


def count_signals(pid: int, count: Callable[[], None]) -> None:
    """Call ``count`` when the program sends a signal to this process."""
    _recorded[pid] = count


def forget(pid: int) -> None:
    """Count no more signals to a process that has ended."""
    _recorded.pop(pid, None)


def install() -> None:
    """Lay the hooks."""
    for name, replacement in (
        ("kill", lambda process, pid: process.signalled()),
        ("killpg", lambda process, pid: process.signalled()),
        ("getpgid", lambda process, pid: pid),
        ("waitpid", lambda process, pid: (pid, process.status())),
        ("pidfd_open", lambda process, pid: process.descriptor()),
    ):
        if hasattr(os, name):
            setattr(os, name, _hooked(name, getattr(os, name), replacement))


def _hooked(name: str, original: Any, replacement: Callable[[Any, int], Any]) -> Any:
    counts = name in ("kill", "killpg")

    def hooked(pid: int, *rest: Any) -> Any:
        process = _replayed.get(pid)
        if process is not None:
            return replacement(process, pid)
        result = original(pid, *rest)
        if counts and pid in _recorded and rest and rest[0]:
            _recorded[pid]()
        return result

    for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(hooked, attribute, getattr(original, attribute, None))
    return hooked
