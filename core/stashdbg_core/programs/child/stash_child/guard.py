"""What no hook covers: refused on replay, which is offline, and named on record.

An audit hook sees every socket that Python connects and every process that it starts. On Linux a seccomp filter
refuses connections from C code too (``seccomp.py``); elsewhere nothing does, and a note says so.

Every import raises a dozen audit events. So where nothing is refused, the audit hook is laid no sooner than there is
something to see: with the first socket for a network, or the first call that leaves the interpreter for a program.
"""

from __future__ import annotations

import _socket
import errno
import os
import sys

from . import calls
from .imports import when_imported
from .lanes import like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LOCAL_NAMES = (None, "", "localhost", b"localhost", b"")
_INET = {2, 10, 23, 30}
"""AF_INET, and AF_INET6 of Linux, Windows and macOS."""
_named: set[str] = set()
_watches = False


def install() -> None:
    """Lay the hooks."""
    if not calls.settings.get("offline"):
        when_imported("socket", _wait_for_sockets)
        when_imported("gevent", lambda module: watch())  # it makes sockets of its own
        return
    from . import seccomp

    watch()
    problem = seccomp.refuse_connections()
    if problem:
        calls.note("guard", "only what Python itself connects is refused on this replay: %s" % problem)


def watch() -> None:
    """Lay the audit hook, once."""
    global _watches
    if _watches:
        return
    _watches = True
    offline = bool(calls.settings.get("offline"))
    handlers = _refusing() if offline else _naming()

    def see(event: str, arguments: tuple[Any, ...]) -> None:
        if event in handlers and (
            not calls.inside() or (offline and event.startswith("socket."))  # no call that is served connects anywhere
        ):
            handlers[event](event, arguments)

    sys.addaudithook(see)


def spawn(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Do as ``os.posix_spawn…``, the ``original``, and see it."""
    watch()
    return original(*args, **named)


def _wait_for_sockets(module: Any) -> None:
    cls = module.socket
    original = cls.__init__

    def init(self: Any, *args: Any, **named: Any) -> None:
        original(self, *args, **named)
        if self.family in _INET:
            if cls.__init__ is init:
                cls.__init__ = original
            watch()

    cls.__init__ = like(init, original)


def _refusing() -> dict[str, Callable[[str, tuple[Any, ...]], None]]:
    starts = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn")
    return {
        "socket.connect": _refuse_address,
        "socket.sendto": _refuse_address,
        "socket.sendmsg": _refuse_address,
        "socket.getaddrinfo": _refuse_name,
        "socket.gethostbyname": _refuse_name,
        "socket.gethostbyaddr": _refuse_name,
        **dict.fromkeys(starts, _refuse_start),
    }


def _naming() -> dict[str, Callable[[str, tuple[Any, ...]], None]]:
    return {
        "socket.connect": _name_address,
        "socket.sendto": _name_address,
        "os.exec": _name_start,
        "os.posix_spawn": _name_start,
        "pty.spawn": _name_start,
    }


def _refuse_address(event: str, arguments: tuple[Any, ...]) -> None:
    where = _inet_address(arguments)
    if where is not None:
        _refuse("a connection to %s" % where, errno.ENETUNREACH)


def _refuse_name(event: str, arguments: tuple[Any, ...]) -> None:
    host = arguments[0] if arguments else None
    if host not in _LOCAL_NAMES and not _is_number(host):
        _refuse("looking up %s" % _text(host), _socket.EAI_AGAIN, _socket.gaierror)


def _refuse_start(event: str, arguments: tuple[Any, ...]) -> None:
    _refuse("starting %s by %s" % (_text(arguments[0] if arguments else "?"), event), errno.EPERM)


def _refuse(what: str, number: int, kind: type[OSError] = OSError) -> None:
    message = "%s was refused: no recorded call covers it, and a replay is offline" % what
    if what not in _named:
        _named.add(what)
        calls.note("refused", message)
    raise kind(number, message)


def _name_address(event: str, arguments: tuple[Any, ...]) -> None:
    where = _inet_address(arguments)
    if where is not None:
        _name(where)


def _name(where: str) -> None:
    if where not in _named:
        _named.add(where)
        calls.note("unhooked-connection", where)


def watch_uvloop(module: Any) -> None:
    """Watch the connections of uvloop, which C code makes."""
    offline = bool(calls.settings.get("offline"))
    connect = module.Loop.create_connection

    async def create_connection(self: Any, factory: Any, host: Any = None, port: Any = None, **named: Any) -> Any:
        where = "%s:%s" % (_text(host), port)
        if host is not None and not calls.inside():
            if offline:
                _refuse("a connection to %s" % where, errno.ENETUNREACH)
            _name(where)
        return await connect(self, factory, host, port, **named)

    module.Loop.create_connection = like(create_connection, connect)


def _name_start(event: str, arguments: tuple[Any, ...]) -> None:
    what = "%s %s" % (event, _text(arguments[0] if arguments else "?"))
    if what not in _named:
        _named.add(what)
        calls.note("unpinned", "%s starts a program past the recording; a replay refuses it" % what)


def _inet_address(arguments: tuple[Any, ...]) -> str | None:
    """Return where a socket is about to send, if that is on a network, or None."""
    address = arguments[1] if len(arguments) > 1 else None
    family = getattr(arguments[0], "family", None) if arguments else None
    if family is None or int(family) not in _INET or not isinstance(address, tuple) or len(address) < 2:
        return None
    return "%s:%s" % (_text(address[0]), address[1])


def _is_number(host: Any) -> bool:
    text = _text(host)
    return ":" in text or text.replace(".", "").isdigit()


def _text(part: Any) -> str:
    try:
        return os.fsdecode(part)[:200]
    except TypeError:
        return str(part)[:200]
