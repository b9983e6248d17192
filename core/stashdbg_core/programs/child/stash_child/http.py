"""The network hooks: which module loads which, when the program loads it."""

from __future__ import annotations

from importlib import import_module

from .imports import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

_HOOKS = (
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


def install() -> None:
    """Hook each HTTP and MCP library as soon as the program has loaded it, and load nothing before."""
    for library, hook, patch in _HOOKS:
        when_imported(library, _later(hook, patch))


def _later(hook: str, patch: str) -> Callable[[Any], None]:
    def apply(module: Any) -> None:
        getattr(import_module("." + hook, __package__), patch)(module)

    return apply
