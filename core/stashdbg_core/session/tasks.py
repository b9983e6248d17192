"""Work in slices: a screen lets a task work a few milliseconds between two keys, a command runs it to its end.

A task is a generator that yields now and then and returns its result; what it yields is dropped.
"""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import Any, Generic, TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[Any, None, T]


class Task(Generic[T]):
    """A piece of work that can be stopped between two slices."""

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self._result: T | None = None
        self.done = False
        """Whether the result is there."""
        self.cancelled = False

    def work(self, ms: float = 8.0) -> bool:
        """Work for about so many milliseconds; tell whether the task is over, done or cancelled.

        Raises:
            StashError: The work found out that it cannot be done.
        """
        until = perf_counter() + ms / 1000
        while not (self.done or self.cancelled):
            try:
                next(self._steps)
            except StopIteration as end:
                self._result, self.done = end.value, True
            if perf_counter() >= until:
                break
        return self.done or self.cancelled

    def run(self) -> T:
        """Work to the end and return the result.

        Raises:
            StashError: The work found out that it cannot be done.
        """
        while not self.work(1000.0):
            pass
        return self.result

    def cancel(self) -> None:
        """Stop for good; a result that is there stays."""
        if not self.done:
            self.cancelled = True
            self._steps.close()

    @property
    def result(self) -> T:
        """What came of the work.

        Raises:
            RuntimeError: The task is not done.
        """
        if not self.done:
            raise RuntimeError("the task is not done")
        return self._result  # type: ignore[return-value]
