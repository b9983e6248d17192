"""The async openai client: streamed responses and parallel tool calls under asyncio."""

import asyncio
import json
import uuid

from openai import AsyncOpenAI

TOOLS = [
    {
        "type": "function",
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]


async def ask(client, items, tools=()):
    async with client.responses.stream(model="gpt-5-mini", input=items, tools=list(tools)) as stream:
        async for _ in stream:
            pass
        return await stream.get_final_response()


async def get_weather(city):
    await asyncio.sleep(0)
    return f"{city} {sum(map(ord, city)) % 30} C, station {uuid.uuid4()}"


async def main():
    client = AsyncOpenAI()
    items = [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]
    response = await ask(client, items, TOOLS)
    calls = [item for item in response.output if item.type == "function_call"]
    results = await asyncio.gather(*(get_weather(**json.loads(call.arguments)) for call in calls))
    for call, result in zip(calls, results, strict=True):
        items.append({"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments})
        items.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
    answer = (await ask(client, items, TOOLS)).output_text
    print(answer)
    short = await client.responses.create(model="gpt-5-mini", input="Shorten: " + answer)
    print(short.output_text)


asyncio.run(main())
