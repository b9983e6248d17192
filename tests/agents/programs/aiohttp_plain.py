"""A model called by aiohttp alone, streamed, its tools awaited together."""

import asyncio
import json
import os
import random

import aiohttp

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


async def stream(session, body):
    content, calls = "", {}
    async with session.post(URL, json={**body, "stream": True}, headers=HEADERS) as response:
        response.raise_for_status()
        async for line in response.content:
            text = line.decode().strip()
            if not text.startswith("data: {"):
                continue
            for choice in json.loads(text[6:])["choices"]:
                content += choice["delta"].get("content") or ""
                for call in choice["delta"].get("tool_calls", ()):
                    calls.setdefault(call["index"], "")
                    calls[call["index"]] += call["function"].get("arguments", "")
    return content, [calls[index] for index in sorted(calls)]


async def ask(session, messages, **extra):
    for _ in range(3):
        try:
            return await stream(session, {"model": "gpt-5-mini", "messages": messages, **extra})
        except aiohttp.ClientError as error:
            print("again after", type(error).__name__)
    raise SystemExit("the model is busy")


async def get_weather(city):
    await asyncio.sleep(0)
    return f"{city} {random.randint(-20, 40)} C"


async def main():
    async with aiohttp.ClientSession() as session:
        messages = [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]
        _, calls = await ask(session, messages, tools=TOOLS)
        results = await asyncio.gather(*(get_weather(**json.loads(call)) for call in calls))
        spelled = [
            {"id": f"call_{n}", "type": "function", "function": {"name": "get_weather", "arguments": call}}
            for n, call in enumerate(calls)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": spelled})
        messages += [
            {"role": "tool", "tool_call_id": f"call_{n}", "content": result} for n, result in enumerate(results)
        ]
        answer, _ = await ask(session, messages, tools=TOOLS)
        print(answer)
        print((await ask(session, [{"role": "user", "content": "Shorten: " + answer}]))[0])


asyncio.run(main())
