"""The openai client: streamed chat, parallel tool calls in threads, and what is random or depends on the time."""

import datetime as dt
import json
import random
import secrets
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

client = OpenAI()
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
]


def ask(messages, tools=()):
    content, calls = "", {}
    extra = {"tools": list(tools)} if tools else {}
    for chunk in client.chat.completions.create(model="gpt-5-mini", messages=messages, stream=True, **extra):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            for call in choice.delta.tool_calls or ():
                found = calls.setdefault(call.index, {"id": call.id, "name": call.function.name, "arguments": ""})
                found["arguments"] += call.function.arguments or ""
    return content, [calls[index] for index in sorted(calls)]


def get_weather(city):
    return f"{city} {sum(map(ord, city)) % 30} C at {secrets.randbelow(9999)}"


def main():
    print(dt.datetime.now().isoformat(), time.time(), uuid.uuid4(), random.random())
    messages = [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]
    content, calls = ask(messages, TOOLS)
    while calls:
        spelled = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for c in calls
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": spelled})
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda call: get_weather(**json.loads(call["arguments"])), calls))
        for call, result in zip(calls, results, strict=True):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        content, calls = ask(messages, TOOLS)
    print(content)
    print(ask([{"role": "user", "content": "Shorten: " + content}])[0])


main()
