"""The MCP bridge with the real ``mcp`` package, over stdio and streamable HTTP, and offline."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, TextContent

from stashdbg_core.errors import StashError
from stashdbg_core.interceptors import intercept_mcp_client, record_mcp_tool
from stashdbg_core.record.recorder import Recorder
from stashdbg_core.replay import Replayer
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording

SERVER = str(Path(__file__).with_name("mcp_server.py"))
Connect = Callable[[Path], AbstractAsyncContextManager[ClientSession]]


@asynccontextmanager
async def over_stdio(count: Path) -> AsyncIterator[ClientSession]:
    parameters = StdioServerParameters(command=sys.executable, args=[SERVER, "stdio", str(count), "0"])
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        yield session


@asynccontextmanager
async def over_http(count: Path) -> AsyncIterator[ClientSession]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([sys.executable, SERVER, "http", str(count), str(port)])
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert server.poll() is None, "the server did not start"
                await asyncio.sleep(0.05)
        async with (
            streamable_http_client(f"http://127.0.0.1:{port}/mcp") as (read, write),
            ClientSession(read, write) as session,
        ):
            yield session
    finally:
        server.terminate()
        server.wait()


async def program(session: Any) -> list[Any]:
    return [
        (await session.initialize()).server_info.name,
        [tool.name for tool in (await session.list_tools()).tools],
        await session.call_tool("add", {"a": 1, "b": 2}),
        await session.call_tool(name="add", arguments={"a": 5}),
        (await session.call_tool("fail", {})).is_error,
        (await session.read_resource("note://x")).contents[0].text,
        (await session.get_prompt("greet", {"name": "Ada"})).messages[0].content.text,
        await refusal(session),
    ]


async def refusal(session: Any) -> tuple[int, str]:
    with pytest.raises(MCPError) as caught:
        await session.get_prompt("nobody", {})
    return caught.value.error.code, caught.value.error.message


@pytest.mark.parametrize("connect", [over_stdio, over_http])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_real_session_is_recorded_and_replayed_offline(connect: Connect, tmp_path: Path) -> None:
    async def record(recorder: Recorder) -> list[Any]:
        async with connect(tmp_path / "count") as session:
            return await program(intercept_mcp_client(recorder, session, server="calc"))

    recorder = Recorder()
    expected = asyncio.run(record(recorder))
    assert expected[:2] == ["tests", ["add", "fail"]]
    assert isinstance(expected[2], CallToolResult)
    assert isinstance(expected[2].content[0], TextContent)
    assert expected[2].content[0].text == "3"
    assert expected[4:7] == [True, "note x", "Hello Ada"]

    path = write_recording(recorder.recording(), tmp_path / "run.json")
    assert {event.channel for event in open_recording(path).events} == {"mcp"}
    assert [event.key for event in open_recording(path).events][1:4] == ["calc:tools/list", "calc:add", "calc:add"]
    json.loads(path.read_bytes())
    for match in ("order", "input"):
        replayer = Replayer(open_recording(path), match=match)
        assert asyncio.run(program(intercept_mcp_client(replayer, None, server="calc"))) == expected
        assert replayer.report().ok
    assert (tmp_path / "count").read_text() == "add\nadd\n"


def test_changed_arguments_are_a_divergence() -> None:
    class Client:
        async def call_tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
            return {"sum": sum(arguments.values())}

    recorder = Recorder()
    client = intercept_mcp_client(recorder, Client())
    assert asyncio.run(client.call_tool("add", {"a": 1})) == {"sum": 1}
    replaying = intercept_mcp_client(Replayer(recorder.recording()), Client())
    with pytest.raises(StashError, match="/arguments/a"):
        asyncio.run(replaying.call_tool("add", {"a": 2}))


def test_callbacks_and_timeouts_are_no_part_of_the_input() -> None:
    class Client:
        protocol = "2025"

        async def call_tool(self, name: str, arguments: Any = None, **options: Any) -> str:
            return name

    recorder = Recorder()
    client = intercept_mcp_client(recorder, Client())
    assert client.protocol == "2025"
    with pytest.raises(AttributeError):
        client.list_tools  # noqa: B018
    asyncio.run(client.call_tool("t", progress_callback=print, read_timeout_seconds=3))
    replaying = intercept_mcp_client(Replayer(recorder.recording()), Client())
    assert asyncio.run(replaying.call_tool("t", None, read_timeout_seconds=9)) == "t"


def test_a_servers_handler_keeps_its_schema_and_is_recorded() -> None:
    def lookup(city: str, ctx: Context, days: int = 1) -> dict[str, Any]:  # type: ignore[type-arg]
        """Look something up."""
        return {"city": city, "days": days}

    async def serve(tape: Any) -> Any:
        server = MCPServer("s")
        server.tool()(record_mcp_tool(tape, "lookup", lookup))
        (tool,) = await server.list_tools()
        return tool.input_schema, await server.call_tool("lookup", {"city": "Oslo"})

    recorder = Recorder()
    schema, answer = asyncio.run(serve(recorder))
    assert sorted(schema["properties"]) == ["city", "days"]
    event = recorder.recording().events[0]
    assert (event.channel, event.key) == ("mcp", "lookup")
    assert asyncio.run(serve(Replayer(recorder.recording()))) == (schema, answer)
