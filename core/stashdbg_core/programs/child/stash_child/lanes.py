"""Lanes: in which thread, task or process a call is made, named by how it was made.

A lane's name is that of the lane that made it, and the function it was made for, counted among equals there: the same
program names its lanes alike in every run, whatever order they happen to run in. The first process's main thread is
the lane None. Work handed to a thread pool is a lane of its own, for which worker takes it is chance.
"""

from __future__ import annotations

import _thread
import sys
from _contextvars import ContextVar, copy_context

from . import real
from .imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LONGEST = 300


class Lane:
    """One line of execution, and how many it has made of each name."""

    __slots__ = ("_lock", "_made", "generator", "name")

    def __init__(self, name: str | None) -> None:
        self.name = name
        self.generator: Any = None
        """What the lane draws random numbers from; see ``shared_generator``."""
        self._made: dict[str, int] = {}
        self._lock = _thread.allocate_lock()

    def is_first(self) -> bool:
        """Tell whether this is the lane of its process's main thread."""
        return self is _main

    def child(self, what: str) -> Lane:
        """Return the next lane that is made from this one."""
        with self._lock:
            count = self._made[what] = self._made.get(what, 0) + 1
        name = what if count == 1 else "%s #%d" % (what, count)
        return Lane((name if self.name is None else "%s / %s" % (self.name, name))[-_LONGEST:])


class _Here(_thread._local):
    lane: Lane | None = None
    process: str | None = None
    uncounted = 0


_main = Lane(None)
_here = _Here()
_in_context: ContextVar[Lane | None] = ContextVar("stashdbg_lane", default=None)
_processes = 0
_forking: dict[int, str] = {}


def lane() -> str | None:
    """Return the name of the lane of the running code."""
    return current().name


def current() -> Lane:
    """Return the lane of the running code."""
    found = _in_context.get() or _here.lane
    if found is None:
        found = _here.lane = _of_thread()
    return found


def process() -> str | None:
    """Return the lane of this process's main thread."""
    return _main.name


def become(name: str | None) -> None:
    """Be the process of this lane from here on."""
    global _main, _here, _processes
    _main = Lane(name)
    _here = _Here()
    _here.lane = _main
    _in_context.set(None)
    _processes = 0


def next_process() -> str:
    """Return the lane of the next process that this one makes."""
    global _processes
    _processes += 1
    name = "process %d" % _processes
    return name if _main.name is None else "%s / %s" % (_main.name, name)


class named_process:
    """Within it, a process that this thread forks has this lane.

    Args:
        name: The lane; None: whatever is forked is no process of the program's and is not counted.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name

    def __enter__(self) -> None:
        _here.process = self.name
        _here.uncounted += self.name is None

    def __exit__(self, *_: object) -> None:
        _here.process = None
        _here.uncounted -= self.name is None


class within:
    """Within it, this thread is in another lane.

    Args:
        made: The lane.
    """

    def __init__(self, made: Lane) -> None:
        self._made = made

    def __enter__(self) -> None:
        self._before = _here.lane
        _here.lane = self._made

    def __exit__(self, *_: object) -> None:
        _here.lane = self._before


def before_fork() -> None:
    """Choose the lane of the process that is about to be forked."""
    if _here.uncounted:
        _forking.pop(real.get_ident(), None)
    else:
        _forking[real.get_ident()] = _here.process or next_process()


def after_fork_in_child() -> bool:
    """Be the process that was forked; tell whether it is one of the program's own, with a lane."""
    name = _forking.get(real.get_ident())
    _forking.clear()
    become(name if name is not None else _main.name)
    return name is not None


def install(process_lane: str | None) -> None:
    """Be the process of this lane, and watch how threads, tasks and work for pools are made."""
    become(process_lane)
    when_imported("threading", _watch_threads)
    when_imported("concurrent.futures.thread", _watch_pools)
    when_imported("asyncio.base_events", lambda module: _watch_tasks(module.BaseEventLoop))
    when_imported("uvloop", lambda module: _watch_tasks(module.Loop))


def _of_thread() -> Lane:
    threading: Any = sys.modules.get("threading")
    if threading is not None:
        if real.get_ident() == threading.main_thread().ident:
            return _main
        made: Lane | None = getattr(threading._active.get(real.get_ident()), "_stashdbg_lane", None)
        if made is not None:
            return made
    return _main.child("thread")


def _watch_threads(module: Any) -> None:
    start = module.Thread.start

    def start_with_lane(self: Any) -> None:
        function = getattr(self, "_target", None) or type(self)
        made = current().child("thread %s" % named(function))
        self._stashdbg_lane = made
        if getattr(sys.flags, "thread_inherit_context", 0) and getattr(self, "_context", True) is None:
            context = copy_context()
            context.run(_in_context.set, made)
            self._context = context
        start(self)

    module.Thread.start = like(start_with_lane, start)


def _watch_pools(module: Any) -> None:
    submit = module.ThreadPoolExecutor.submit

    def submit_with_lane(*args: Any, **more: Any) -> Any:
        # As in the original, the function and its parameters may have any name.
        if len(args) < 2:
            return submit(*args, **more)
        self, function, rest = args[0], args[1], args[2:]
        made = current().child("call %s" % named(function))
        return submit(self, _in_lane(made, function), *rest, **more)

    module.ThreadPoolExecutor.submit = like(submit_with_lane, submit)


def _in_lane(made: Lane, function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **named: Any) -> Any:
        with within(made):
            return function(*args, **named)

    return run


def _watch_tasks(loop_class: Any) -> None:
    create_task = loop_class.create_task

    def create_task_with_lane(self: Any, coro: Any, *args: Any, **more: Any) -> Any:
        if more.get("context") is not None or _waits_for_it():
            return create_task(self, coro, *args, **more)
        token = _in_context.set(current().child("task %s" % named(coro)))
        try:
            return create_task(self, coro, *args, **more)
        finally:
            _in_context.reset(token)

    loop_class.create_task = like(create_task_with_lane, create_task)


def _waits_for_it() -> bool:
    """Tell whether a task is made by ``asyncio.run`` or ``run_until_complete``, which go on when it has ended."""
    frame = sys._getframe(2)
    for _ in range(3):
        if frame.f_code.co_name == "run_until_complete" or frame.f_globals.get("__name__") == "asyncio.runners":
            return True
        if frame.f_back is None or not str(frame.f_globals.get("__name__")).startswith("asyncio."):
            return False
        frame = frame.f_back
    return False


def named(function: Any) -> str:
    """Return what to call the lane that runs a function."""
    for _ in range(4):  # what functools.partial holds
        inner = getattr(function, "func", None)
        if inner is None:
            break
        held: Any = getattr(function, "args", ())
        passes_on = getattr(inner, "__name__", "") in ("run", "_process_chunk") and held and callable(held[0])
        function = held[0] if passes_on else inner
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def like(replacement: Any, original: Any) -> Any:
    """Return a replacement that says of itself what the original says."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(replacement, name, getattr(original, name, None))
    replacement.__wrapped__ = original
    return replacement
