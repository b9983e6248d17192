"""The clocks as the program reads them: recorded readings, and the recorded ones on replay.

Only what the program's own code reads is pinned: event loops, locks and libraries keep the real clocks, which they read
a different number of times in every run. The type ``datetime.datetime`` is changed in place, so that it stays the one
type that everything else knows; ``date.today`` and ``datetime.today`` read ``time.time`` in our callers' name.
"""

from __future__ import annotations

import gc
import sys
import time

from . import calls, sites
from .imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

CLOCK = "clock"
_READINGS = (
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time",
    "process_time_ns", "thread_time", "thread_time_ns",
)  # fmt: skip
_OF_NOW = {"localtime": 1, "gmtime": 1, "ctime": 1, "strftime": 2}
"""Functions that read the clock if they get fewer arguments than this."""
_MAKERS = ("pydantic.main", "pydantic.dataclasses", "pydantic._internal._dataclasses", "pydantic.type_adapter")
_real_time = time.time


def _reader(frame: FrameType | None) -> FrameType | None:
    """Return the program's own frame that reads a clock, or None if a library does.

    What makes instances of the program's classes reads clocks for it: ``Field(default_factory=datetime.now)``.
    """
    while frame is not None and frame.f_globals.get("__name__") in _MAKERS:
        frame = frame.f_back
    return frame if frame is not None and sites.is_own_frame(frame) else None


class Reading:
    """A clock function as a builtin is one: no method when it is the attribute of a class."""

    def __init__(self, real: Callable[..., Any]) -> None:
        self._real = real
        self.__name__ = self.__qualname__ = real.__name__
        self.__module__ = "time"
        self.__doc__ = real.__doc__

    def __call__(self) -> Any:
        frame = _reader(sys._getframe(1))
        if frame is None or calls.inside():
            return self._real()
        return calls.value(CLOCK, self.__name__, self._real, site=sites.text_of(frame))

    def __repr__(self) -> str:
        return repr(self._real)

    def __reduce__(self) -> str:
        return self.__name__


class _Formatting(Reading):
    """A function that takes the present moment if it is given none."""

    def __init__(self, real: Callable[..., Any]) -> None:
        super().__init__(real)
        self._needs = _OF_NOW[real.__name__]

    def __call__(self, *args: Any) -> Any:
        frame = _reader(sys._getframe(1))
        given = len(args) >= self._needs and args[-1] is not None
        if given or (not args and self._needs == 2) or frame is None or calls.inside():
            return self._real(*args)
        now = calls.value(CLOCK, "time", _real_time, site=sites.text_of(frame))
        if self.__name__ == "strftime":
            return self._real(args[0], time.localtime(now))
        return self._real(now)


def install() -> None:
    """Lay the hooks."""
    for name in _READINGS:
        if hasattr(time, name):
            setattr(time, name, Reading(getattr(time, name)))
    for name in _OF_NOW:
        setattr(time, name, _Formatting(getattr(time, name)))
    known = "datetime" in sys.modules
    when_imported("datetime", _pin_datetime)
    if known:
        forget_lookups(sys.modules["datetime"].datetime)


def _pin_datetime(module: Any) -> None:
    cls = module.datetime
    namespace = namespace_of(cls)
    now, utcnow = namespace["now"].__get__, namespace["utcnow"].__get__
    utc = module.timezone.utc

    def pinned_now(cls: Any, tz: Any = None) -> Any:
        frame = _reader(sys._getframe(1))
        if frame is None or calls.inside():
            return now(None, cls)(tz)
        site = sites.text_of(frame)
        if tz is None:
            return _as(cls, calls.value(CLOCK, "datetime.now", lambda: now(None, module.datetime)(), site=site))
        if not isinstance(tz, module.tzinfo):
            return now(None, cls)(tz)  # which says what is wrong
        moment = calls.value(CLOCK, "datetime.now(tz)", lambda: now(None, module.datetime)(utc), site=site)
        return tz.fromutc(_as(cls, moment.replace(tzinfo=tz)))

    def pinned_utcnow(cls: Any) -> Any:
        frame = _reader(sys._getframe(1))
        if frame is None or calls.inside():
            return utcnow(None, cls)()
        site = sites.text_of(frame)
        return _as(cls, calls.value(CLOCK, "datetime.utcnow", utcnow(None, module.datetime), site=site))

    for name, pinned in (("now", pinned_now), ("utcnow", pinned_utcnow)):
        pinned.__name__, pinned.__qualname__, pinned.__module__ = name, "datetime.%s" % name, "datetime"
        pinned.__doc__ = namespace[name].__doc__  # not by way of the type, which would remember the answer
        namespace[name] = classmethod(pinned)


def _as(cls: Any, moment: Any) -> Any:
    """Return a moment as an instance of a subclass of ``datetime``."""
    if type(moment) is cls:
        return moment
    parts = (moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond)
    return cls(*parts, moment.tzinfo, fold=moment.fold)


def namespace_of(cls: type) -> Any:
    """Return the very dict behind a builtin type's ``__dict__``, which Python shows read-only."""
    found = [held for held in gc.get_referents(cls.__dict__) if type(held) is dict]
    if len(found) != 1 or "now" not in found[0]:
        raise LookupError("the namespace of %s is not within reach" % cls.__name__)
    return found[0]


def forget_lookups(cls: type) -> None:
    """Have Python look the attributes of a builtin type up anew, if it has looked any up before.

    A hook is laid right after the module's first import, when nobody has; then this changes nothing.
    """
    try:
        from ctypes import py_object, pythonapi

        pythonapi.PyType_Modified(py_object(cls))
    except (ImportError, AttributeError):
        return
