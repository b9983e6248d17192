"""An Inspect sample that has messages and no events, read as the conversation it is; everything is inferred from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.formats.readers.inspect_ai.messages import answer_of, chat_message
from stashdbg_core.formats.shapes import objects_of
from stashdbg_core.formats.sink import ABSENT, RunSink


def write_conversation(sample: Mapping[str, Any], sink: RunSink, resolve: Callable[[Json], Json]) -> None:
    """Write the messages of a sample: prompts, answers as model calls, tool calls with the results of the same id."""
    messages = sample.get("messages")
    messages = objects_of(messages)
    output = answer_of(resolve(sample.get("output")))
    model = output.get("model") if isinstance(output, dict) else None
    last = max((place for place, node in enumerate(messages) if node.get("role") == "assistant"), default=-1)
    chat = sink.chat()
    asked: dict[str, int] = {}
    for place, node in enumerate(messages):
        message = chat_message(resolve(node))
        role = node.get("role")
        if role == "assistant":
            value = output if place == last and isinstance(output, dict) and output.get("choices") else message
            sink.inferred(sink.event("llm", model or node.get("model") or "?", value=value, input=chat.input()))
            _ask(node, sink, resolve, asked)
        elif role == "tool":
            _answer(node, sink, resolve, asked)
        elif role == "user":
            sink.event("user", "prompt", value=message.get("content"))
        chat.append(message)
    sink.note("no-events", "the log has no events: calls are inferred from the messages, and have no times")


def _ask(node: Mapping[str, Any], sink: RunSink, resolve: Callable[[Json], Json], asked: dict[str, int]) -> None:
    calls = node.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            name, call_id = str(call.get("function") or "?"), str(call.get("id") or "")
            seq = sink.start("tool", name, input=resolve(call.get("arguments")), call_id=call_id or None)
            asked[call_id] = seq
            sink.inferred(seq)


def _answer(node: Mapping[str, Any], sink: RunSink, resolve: Callable[[Json], Json], asked: dict[str, int]) -> None:
    call_id = str(node.get("tool_call_id") or "")
    seq = asked.pop(call_id, None)
    if seq is None:
        seq = sink.start("tool", str(node.get("function") or "?"), input=ABSENT, call_id=call_id or None)
        sink.inferred(seq)
        sink.cut(seq, "the message that asked for it is not in the log")
    error, content = node.get("error"), resolve(node.get("content"))
    if isinstance(error, dict):
        value = {**error, **({"result": content} if content not in ("", None) else {})}
        sink.finish(seq, value, outcome="throw")
    else:
        sink.finish(seq, content)
