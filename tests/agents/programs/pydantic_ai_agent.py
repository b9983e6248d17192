"""A pydantic-ai agent with a tool, then a second agent on its answer."""

import random

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

agent = Agent(OpenAIChatModel("gpt-5-mini"))


@agent.tool_plain
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"{city} {random.randint(-20, 40)} C"


answer = agent.run_sync("What is the weather in Oslo and Rome?").output
print(answer)
print(Agent(OpenAIChatModel("gpt-5-mini")).run_sync("Shorten: " + answer).output)
