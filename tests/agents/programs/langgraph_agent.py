"""A langgraph agent on langchain's OpenAI model, streaming."""

import secrets

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


@tool
def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"{city} {secrets.randbelow(60)} C"


model = ChatOpenAI(model="gpt-5-mini", streaming=True)
with_tools = model.bind_tools([get_weather])


def agent(state):
    return {"messages": [with_tools.invoke(state["messages"])]}


graph = StateGraph(MessagesState)
graph.add_node("agent", agent)
graph.add_node("tools", ToolNode([get_weather]))
graph.add_edge(START, "agent")
graph.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: END})
graph.add_edge("tools", "agent")
app = graph.compile()

state = app.invoke({"messages": [{"role": "user", "content": "What is the weather in Oslo and Rome?"}]})
answer = state["messages"][-1].content
print(answer)
print(model.invoke("Shorten: " + answer).content)
