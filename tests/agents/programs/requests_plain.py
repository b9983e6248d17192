"""A model called by requests alone, its last answer streamed, retried when it is busy or hangs up."""

import json
import os
import random
import time

import requests

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


def joined(lines):
    """Return a streamed answer as the plain one it stands for."""
    text = ""
    for line in lines:
        if line.startswith(b"data: {"):
            text += "".join(choice["delta"].get("content") or "" for choice in json.loads(line[6:])["choices"])
    return {"choices": [{"message": {"role": "assistant", "content": text}}]}


def post(body):
    with requests.post(URL, json=body, headers=HEADERS, timeout=30, stream=True) as response:
        response.raise_for_status()
        return joined(response.iter_lines()) if body.get("stream") else response.json()


BUSY = (requests.HTTPError, requests.ConnectionError)


def ask(messages, **extra):
    for wait in (0, 0.01, 0.01):
        time.sleep(wait)
        try:
            return post({"model": "gpt-5-mini", "messages": messages, **extra})["choices"][0]["message"]
        except BUSY as error:
            print("again after", type(error).__name__)
    raise SystemExit("the model is busy")


messages = [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]
reply = ask(messages, tools=TOOLS)
messages.append(reply)
for call in reply["tool_calls"]:
    city = json.loads(call["function"]["arguments"])["city"]
    messages.append({"role": "tool", "tool_call_id": call["id"], "content": f"{city} {random.randint(-20, 40)} C"})
answer = ask(messages, tools=TOOLS)["content"]
print(answer)
print(ask([{"role": "user", "content": "Shorten: " + answer}], stream=True)["content"])
