"""Work done a few milliseconds at a time between two keys, so that a screen answers meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from textual.screen import Screen

from stashdbg_core.errors import StashError
from stashdbg_core.session.tasks import Task

T = TypeVar("T")

_SLICE_MS = 8.0
_PAUSE_SECONDS = 0.004


def work_in_slices(
    screen: Screen[Any],
    task: Task[T],
    done: Callable[[T], object],
    failed: Callable[[StashError], object],
    progress: Callable[[], object] | None = None,
) -> None:
    """Let a task work until it is over or cancelled, the first slice at once.

    Args:
        screen: Whose keys come first; nothing is done any more once it is left.
        task: The work.
        done: Takes the result; not called for a task that was cancelled.
        failed: Takes why it cannot be done.
        progress: Called between slices.
    """
    app = screen.app
    if task.cancelled or app._exit or screen not in app.screen_stack:  # its parts go before a screen does
        return
    try:
        over = task.work(_SLICE_MS)
    except StashError as failure:
        failed(failure)
        return
    if not over:
        if progress is not None:
            progress()
        screen.set_timer(_PAUSE_SECONDS, partial(work_in_slices, screen, task, done, failed, progress))
    elif task.done:
        done(task.result)
