"""Processes of ``multiprocessing``: part of the program, so they run on replay too, each in its own lane.

A worker's lane is given when it is started, and travels with its process object, or in the environment where a new
interpreter is started for it. Python's own helper processes are no part of the program.
"""

from __future__ import annotations

import os

from . import calls, lanes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def name_workers(module: Any) -> None:
    """Give each process its lane when it is started."""
    start, bootstrap = module.BaseProcess.start, module.BaseProcess._bootstrap

    def start_in_lane(self: Any) -> None:
        name = self._stashdbg_lane = lanes.next_process()
        os.putenv("STASHDBG_PROCESS", name)
        try:
            with lanes.named_process(name):
                start(self)
        finally:
            os.unsetenv("STASHDBG_PROCESS")

    def bootstrap_in_lane(self: Any, *args: Any, **named: Any) -> Any:
        _be(self.__dict__.get("_stashdbg_lane"))
        return bootstrap(self, *args, **named)

    module.BaseProcess.start = lanes.like(start_in_lane, start)
    module.BaseProcess._bootstrap = lanes.like(bootstrap_in_lane, bootstrap)


def _be(name: Any) -> None:
    link = calls.link()
    if not isinstance(name, str) or name == lanes.process() or link is None:
        return
    from . import randomness

    lanes.become(name)
    link.process = name
    link.forget_connections()
    randomness.seed_shared_generator()


def leave_helpers_out(module: Any) -> None:
    """Leave the processes that Python starts for itself unrecorded."""
    spawn = module.spawnv_passfds

    def spawn_helper(path: Any, args: Any, passfds: Any) -> Any:
        text = " ".join(os.fsdecode(part) for part in args)
        if "resource_tracker" in text:
            name, value = "STASHDBG_SOCKET", ""
        elif "multiprocessing.forkserver" in text:
            name, value = "STASHDBG_PROCESS", "forkserver"
        else:
            return spawn(path, args, passfds)
        from .start import inherited

        before = inherited.get(name)
        os.putenv(name, value)
        try:
            return spawn(path, args, passfds)
        finally:
            if before is None:
                os.unsetenv(name)
            else:
                os.putenv(name, before)

    module.spawnv_passfds = lanes.like(spawn_helper, spawn)


class Work:
    """A function for a pool of processes, in the lane of the call that submitted it."""

    def __init__(self, lane: str, function: Any) -> None:
        self.lane = lane
        self.function = function

    def __call__(self, *args: Any, **named: Any) -> Any:
        with lanes.within(lanes.Lane(self.lane)):
            return self.function(*args, **named)


def name_work(module: Any) -> None:
    """Give what is submitted to a pool of processes the lane of its call."""
    submit = module.ProcessPoolExecutor.submit

    def submit_in_lane(*args: Any, **named: Any) -> Any:
        if len(args) < 2:
            return submit(*args, **named)
        self, function, rest = args[0], args[1], args[2:]
        return submit(self, Work(_lane_of(function), function), *rest, **named)

    module.ProcessPoolExecutor.submit = lanes.like(submit_in_lane, submit)


class Item:
    """A function that a pool maps over items, each in a lane of its own.

    Args:
        lane: Of the call that maps.
        function: It gets each item, or with ``starmap`` its parts.
    """

    def __init__(self, lane: str, function: Any) -> None:
        self.lane = lane
        self.function = function

    def __call__(self, *pair: Any) -> Any:
        spread = len(pair) == 2
        number, item = pair if spread else pair[0]
        with lanes.within(lanes.Lane("%s [%d]" % (self.lane, number))):
            return self.function(*item) if spread else self.function(item)


def name_items(module: Any) -> None:
    """Give what a pool maps over, and what it applies, lanes of their own."""
    cls = module.Pool
    apply_async, map_async = cls.apply_async, cls._map_async

    def apply_in_lane(self: Any, func: Any, *rest: Any, **named: Any) -> Any:
        return apply_async(self, Work(_lane_of(func), func), *rest, **named)

    def map_in_lanes(self: Any, func: Any, iterable: Any, *rest: Any, **named: Any) -> Any:
        return map_async(self, Item(_lane_of(func), func), list(enumerate(iterable)), *rest, **named)

    cls.apply_async = lanes.like(apply_in_lane, apply_async)
    cls._map_async = lanes.like(map_in_lanes, map_async)
    for name in ("imap", "imap_unordered"):
        setattr(cls, name, _in_lanes(getattr(cls, name)))


def _in_lanes(original: Any) -> Any:
    def map_in_lanes(self: Any, func: Any, iterable: Any, *rest: Any, **named: Any) -> Any:
        return original(self, Item(_lane_of(func), func), enumerate(iterable), *rest, **named)

    return lanes.like(map_in_lanes, original)


def _lane_of(function: Any) -> str:
    return str(lanes.current().child("call %s" % lanes.named(function)).name)
