"""Lanes: which thread or task a call was made in.

A lane's name tells how the thread or task was made (its name, creation number and function), never a memory address, so
two runs of one program name their lanes alike. The main thread outside any task, and the task that ``asyncio.run``
itself waits for, are the main lane: None.
"""

from __future__ import annotations

import re
import sys
import threading
from typing import Any
from weakref import WeakKeyDictionary

_DEFAULT_TASK_NAME = re.compile(r"Task-\d+")


class Lanes:
    """Names of the lanes seen by one recorder; names are unique in it."""

    def __init__(self) -> None:
        self._main = threading.main_thread().ident
        self._names: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()
        self._taken: dict[str, int] = {}
        self._lock = threading.Lock()

    def current(self) -> str | None:
        """Return the lane of the running code."""
        task = _current_task()
        if task is None:
            return self._thread()
        try:
            return self._names[task]
        except KeyError:
            name = self._thread() if _is_awaited_by_run(task) else self._unique(self._task_name(task))
            self._names[task] = name
            return name

    def _thread(self) -> str | None:
        if threading.get_ident() == self._main:
            return None
        thread = threading.current_thread()
        try:
            return self._names[thread]
        except KeyError:
            name = self._names[thread] = self._unique(thread.name)
            return name

    def _task_name(self, task: Any) -> str:
        name: str = task.get_name()
        if _DEFAULT_TASK_NAME.fullmatch(name):
            function = getattr(task.get_coro(), "__name__", "")
            name = f"{name} ({function})" if function else name
        thread = self._thread()
        return name if thread is None else f"{thread} / {name}"

    def _unique(self, name: str) -> str:
        with self._lock:
            count = self._taken[name] = self._taken.get(name, 0) + 1
        return name if count == 1 else f"{name} #{count}"


def _current_task() -> Any:
    """Return the running asyncio task without importing asyncio into a program that does not use it."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None
    try:
        loop = asyncio._get_running_loop()
        return None if loop is None else asyncio.current_task(loop)
    except AttributeError:  # asyncio is being imported right now
        return None


def _is_awaited_by_run(task: Any) -> bool:
    """Whether ``run_until_complete`` waits for this task; it says so by the callback that stops the loop."""
    callbacks = getattr(task, "_callbacks", None) or ()
    return any(getattr(entry[0], "__name__", "") == "_run_until_complete_cb" for entry in callbacks)
