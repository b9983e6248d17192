"""An MCP server on stdio with one tool; says on stderr when it starts."""

import random
import sys

try:
    from mcp.server import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

print("weather server started", file=sys.stderr)
server = Server("weather")


@server.tool()
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"{city} {random.randint(-20, 40)} C"


server.run("stdio")
