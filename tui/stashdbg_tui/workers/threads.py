"""Threads that work for the screen and do not outlive it."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread, current_thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 5.0
"""Seconds that work which was cancelled gets to end, or a file that is being written to be whole."""


class WorkThreads(ThreadPoolExecutor):
    """Runs each piece of work in a thread of its own, which keeps no program alive that has ended.

    A loop waits at its end for the threads of its executor, and so does the interpreter; reading a large file may then
    hold up for minutes a screen that was left.
    """

    def __init__(self) -> None:
        super().__init__(1)
        self._working: set[Thread] = set()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Start a piece of work."""
        future: Future[T] = Future()

        def work() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    try:
                        result = fn(*args, **kwargs)
                    except BaseException as error:  # noqa: BLE001 - it is for whoever asks for the result
                        future.set_exception(error)
                    else:
                        future.set_result(result)
            finally:
                self._working.discard(current_thread())

        thread = Thread(target=work, name="stashdbg-work", daemon=True)
        self._working.add(thread)
        thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait a few seconds for what is going on; what takes longer is left."""
        until = time.monotonic() + PATIENCE
        for thread in list(self._working) if wait else ():
            thread.join(max(0.0, until - time.monotonic()))
