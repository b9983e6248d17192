"""The openai-agents framework: an agent with a function tool, then a streamed run on its answer."""

import asyncio
import random

from agents import Agent, Runner, function_tool


@function_tool
async def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"{city} {random.randint(-20, 40)} C"


async def main():
    agent = Agent(
        name="Weather desk", instructions="Answer about the weather.", tools=[get_weather], model="gpt-5-mini"
    )
    result = await Runner.run(agent, "What is the weather in Oslo and Rome?")
    print(result.final_output)
    shortener = Agent(name="Shortener", model="gpt-5-mini")
    streamed = Runner.run_streamed(shortener, "Shorten: " + result.final_output)
    async for _ in streamed.stream_events():
        pass
    print(streamed.final_output)


asyncio.run(main())
