"""A pydantic-ai agent with a tool, then a streamed one on its answer."""

import asyncio
import random

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

agent = Agent(OpenAIChatModel("gpt-5-mini"))


@agent.tool_plain
async def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"{city} {random.randint(-20, 40)} C"


async def main():
    answer = (await agent.run("What is the weather in Oslo and Rome?")).output
    print(answer)
    async with Agent(OpenAIChatModel("gpt-5-mini")).run_stream("Shorten: " + answer) as streamed:
        print(await streamed.get_output())


asyncio.run(main())
