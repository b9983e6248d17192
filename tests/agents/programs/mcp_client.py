"""An MCP client with a server on stdio, whose tools a model calls."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from openai import AsyncOpenAI


async def main():
    client = AsyncOpenAI()
    server = StdioServerParameters(
        command=sys.executable, args=[os.path.join(os.path.dirname(__file__), "mcp_weather_server.py")]
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        listed = await session.list_tools()
        tools = []
        for tool in listed.tools:
            schema = getattr(tool, "input_schema", None) or tool.inputSchema
            tools.append({"type": "function", "function": {"name": tool.name, "parameters": schema}})
        messages = [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]
        reply = (
            (await client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=tools))
            .choices[0]
            .message
        )
        messages.append(reply.model_dump(exclude_none=True))
        for call in reply.tool_calls:
            result = await session.call_tool(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result.content[0].text})
        reply = (
            (await client.chat.completions.create(model="gpt-5-mini", messages=messages, tools=tools))
            .choices[0]
            .message
        )
    print(reply.content)
    shorten = [{"role": "user", "content": "Shorten: " + reply.content}]
    short = ""
    async for chunk in await client.chat.completions.create(model="gpt-5-mini", messages=shorten, stream=True):
        short += "".join(choice.delta.content or "" for choice in chunk.choices)
    print(short)


asyncio.run(main())
