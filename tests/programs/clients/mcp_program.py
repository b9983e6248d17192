"""Uses an MCP server, by either version of the package, in every way that matters, and prints what it sees."""

import asyncio
import importlib.metadata
import sys

import mcp
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import ListRootsResult, Root

NEW = importlib.metadata.version("mcp").startswith("2")
SERVER = sys.argv[3]


def show(name, *facts):
    print(name, *facts, flush=True)


def text(result):
    return [part.text for part in result.content], getattr(result, "is_error", getattr(result, "isError", None))


def transport():
    return stdio_client(StdioServerParameters(command=sys.executable, args=[SERVER]))


async def roots(_context):
    return ListRootsResult(roots=[Root(uri="file:///work")])


async def use(session):
    show("tools", sorted(tool.name for tool in (await session.list_tools()).tools))
    show("add", text(await session.call_tool("add", {"a": 1, "b": 2})))
    show("started", text(await session.call_tool("started", {})), text(await session.call_tool("started", {})))
    answers = await asyncio.gather(*(session.call_tool("add", {"a": n, "b": n}) for n in range(4)))
    show("gathered", [text(answer) for answer in answers])
    show("wrong", text(await session.call_tool("wrong", {})))
    seen = []

    async def progress(done, total, _message):
        seen.append((done, total))

    show("slowly", text(await session.call_tool("slowly", {}, progress_callback=progress)), seen)
    show("asked back", text(await session.call_tool("ask-back", {})))
    show("prompt", (await session.get_prompt("ask", {"name": "Oslo"})).messages[0].content.text)
    show("resource", (await session.read_resource("city://oslo")).contents[0].text)
    try:
        await session.get_prompt("nothing", {})
    except Exception as error:  # noqa: BLE001
        show("no such prompt", type(error).__name__, error, error.error.code, error.error.data)


async def main():
    async with transport() as streams, ClientSession(streams[0], streams[1], list_roots_callback=roots) as session:
        info = await session.initialize()
        show("server", getattr(info, "server_info", getattr(info, "serverInfo", None)).name)
        await use(session)
    if NEW:
        async with mcp.Client(transport()) as client:
            show("client", text(await client.call_tool("add", {"a": 5, "b": 5})))


asyncio.run(main())
