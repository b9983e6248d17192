"""Which hook is laid where, when the program first needs it: nothing is loaded before.

A library is hooked as soon as the program has loaded it. The functions of ``os`` that start processes are there from
the beginning; the code behind their hooks is loaded by their first call.
"""

from __future__ import annotations

import os

from .imports import when_imported
from .lanes import like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_LIBRARIES = (
    ("random", "randomness", "pin_random"),
    ("uuid", "randomness", "pin_uuid"),
    ("subprocess", "processes", "hook_popen"),
    ("asyncio.base_subprocess", "process_loops", "hook_transport"),
    ("asyncio.subprocess", "process_loops", "hook_streams"),
    ("uvloop", "process_loops", "hook_uvloop"),
    ("uvloop", "guard", "watch_uvloop"),
    ("multiprocessing.process", "workers", "name_workers"),
    ("multiprocessing.util", "workers", "leave_helpers_out"),
    ("multiprocessing.pool", "workers", "name_items"),
    ("concurrent.futures.process", "workers", "name_work"),
    ("http.client", "http_client", "patch"),
    ("urllib3.connectionpool", "urllib3_hook", "patch"),
    ("httpx", "httpx_hook", "patch"),
    ("httpx2", "httpx_hook", "patch"),
    ("aiohttp", "aiohttp_hook", "patch"),
    ("mcp.client.stdio", "mcp_hook", "patch_stdio"),
    ("mcp.client.sse", "mcp_hook", "patch_sse"),
    ("mcp.client.streamable_http", "mcp_hook", "patch_streamable_http"),
    ("mcp.client.websocket", "mcp_hook", "patch_websocket"),
)
"""Library, module of ours, function that gets the library."""
_FUNCTIONS = (
    ("system", "shell_system", "system"),
    ("execv", "becoming", "execv"),
    ("execve", "becoming", "execve"),
    ("posix_spawn", "guard", "spawn"),
    ("posix_spawnp", "guard", "spawn"),
)
"""Function of ``os``, module of ours, what is called instead; it gets the function first."""


def install() -> None:
    """Lay the hooks."""
    for library, hook, patch in _LIBRARIES:
        when_imported(library, _later(hook, patch))
    for name, hook, replacement in _FUNCTIONS:
        original = getattr(os, name, None)
        if original is None:
            continue
        setattr(os, name, like(_later(hook, replacement, original), original))
        if original in os.supports_fd:
            os.supports_fd.add(getattr(os, name))


def _later(hook: str, name: str, *first: Any) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        module = __import__(hook, globals(), None, [name], 1)
        return getattr(module, name)(*first, *args, **named)

    return call
