"""How the process ends: an exception that nobody caught is noted, and the recorder gets a goodbye.

Everything else is in the recording already when it happens, for each answer of the recorder means that it is kept: a
process that is killed, or leaves by ``os._exit``, has lost no call but those that were running.
"""

from __future__ import annotations

import atexit
import sys

from . import calls, real
from .link import RecorderGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_home = real.getpid()


def install() -> None:
    """Lay the hook; what the program registers later runs before it."""
    atexit.register(_say_goodbye)


def _say_goodbye() -> None:
    processes: Any = sys.modules.get("%s.processes" % __package__)
    if processes is not None:
        processes.end_all()
    link = calls.link()
    if link is None or link.gone or calls.mode() == "off":
        return
    message: dict[str, Any] = {"op": "bye"}
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if isinstance(error, BaseException) and not isinstance(error, SystemExit):
        message["exit"] = 1
        if not isinstance(error, calls.ReplayStopped):
            calls.note("uncaught", "%s: %s" % (type(error).__name__, str(error)[:1000]))
    try:
        link.ask(message)
    except RecorderGone:
        return
