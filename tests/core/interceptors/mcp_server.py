"""A small MCP server for the tests: ``python mcp_server.py stdio`` or ``http PORT``; counts its calls in a file."""

from __future__ import annotations

import sys
from pathlib import Path

from mcp.server import MCPServer

mode, count_file, port = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
server = MCPServer("tests", log_level="ERROR")


@server.tool()
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    with count_file.open("a") as file:
        file.write("add\n")
    return a + b


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("no such luck")


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"note {name}"


@server.prompt()
def greet(name: str) -> str:
    """A greeting."""
    return f"Hello {name}"


if mode == "stdio":
    server.run("stdio")
else:
    server.run("streamable-http", host="127.0.0.1", port=port)
