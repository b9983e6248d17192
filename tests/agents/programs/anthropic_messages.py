"""The anthropic client: streamed messages with tool use."""

import random

from anthropic import Anthropic

client = Anthropic()
TOOLS = [
    {
        "name": "get_weather",
        "description": "Weather of a city",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
]


def ask(messages, **extra):
    with client.messages.stream(model="claude-test", max_tokens=500, messages=messages, **extra) as stream:
        return stream.get_final_message()


def main():
    messages = [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]
    reply = ask(messages, tools=TOOLS)
    while reply.stop_reason == "tool_use":
        messages.append(
            {
                "role": "assistant",
                "content": [b.model_dump(include={"type", "id", "name", "input", "text"}) for b in reply.content],
            }
        )
        results = []
        for block in reply.content:
            if block.type == "tool_use":
                text = f"{block.input['city']} {random.randint(-20, 40)} C"
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": text})
        messages.append({"role": "user", "content": results})
        reply = ask(messages, tools=TOOLS)
    answer = reply.content[0].text
    print(answer)
    short = client.messages.create(
        model="claude-test", max_tokens=500, messages=[{"role": "user", "content": "Shorten: " + answer}]
    )
    print(short.content[0].text)


main()
