"""MCP clients recorded and served where their messages meet the transport, whichever session class stands above.

Every request of the client is a call ``mcp / server:tool``, from its message out to its answer in. What the server
sends meanwhile (progress, logs, requests of its own) is kept with the answer and comes again before it. In a replay no
transport is opened: no server is started, no connection made. When a continued run goes live, the transport is opened
then and the handshake sent anew.
"""

from __future__ import annotations

import functools
import os
import re
from typing import Any, Callable
from urllib.parse import urlsplit

from . import calls
from .exchanges import skipped
from .mcp_messages import Server
from .mcp_recorded import recorded
from .mcp_replayed import replayed

_INTERPRETERS = re.compile(r"(?:python[\d.]*|pypy[\d.]*|node|npx|uv|uvx|bun|bunx|deno|docker|sh|bash|cmd)(?:\.exe)?\Z")


def patch_stdio(module: Any) -> None:
    """Hook the transport to a server in a process of its own."""
    _patch(module, "stdio_client", _of_command)


def patch_sse(module: Any) -> None:
    """Hook the older HTTP transport."""
    _patch(module, "sse_client", _of_url)


def patch_streamable_http(module: Any) -> None:
    """Hook the HTTP transport, under both of its names."""
    for name in ("streamable_http_client", "streamablehttp_client"):
        _patch(module, name, _of_url)


def patch_websocket(module: Any) -> None:
    """Hook the WebSocket transport."""
    _patch(module, "websocket_client", _of_url)


def _patch(module: Any, name: str, named: Callable[[Any], Server]) -> None:
    original = getattr(module, name, None)
    if original is None:
        return
    how_many = 3 if name.startswith("streamable") and _yields_three(module) else 2

    @functools.wraps(original)
    def client(*args: Any, **more: Any) -> Any:
        if skipped():
            return original(*args, **more)
        server = named(args[0] if args else next(iter(more.values()), None))
        open_it = functools.partial(original, *args, **more)
        return recorded(open_it, server) if calls.mode() == "record" else replayed(open_it, server, how_many)

    setattr(module, name, client)


def _yields_three(module: Any) -> bool:
    """Tell whether the transport gives a third thing, which before version 2 returns the session's id."""
    return hasattr(module, "GetSessionIdCallback") or hasattr(module, "streamablehttp_client")


def _of_command(parameters: Any) -> Server:
    command, args = str(getattr(parameters, "command", "?")), [str(arg) for arg in getattr(parameters, "args", ())]
    name = os.path.basename(command)
    if _INTERPRETERS.match(name):
        words = [word for word in args if not word.startswith("-")]
        name = os.path.basename(words[0]) if words else name
    return Server(name, {"command": [os.path.basename(command), *args]})


def _of_url(url: Any) -> Server:
    place = urlsplit(str(url))
    name = (place.hostname or "?") + (":{}".format(place.port) if place.port else "") + place.path.rstrip("/")
    return Server(name, {"url": "{}://{}".format(place.scheme, name)})
