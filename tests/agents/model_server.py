"""A model provider on loopback: one small brain behind the chat, responses and messages dialects, plain and streamed.

What it answers depends on the request alone, so that a run is repeatable; a fault is asked for by the request's number.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Tree = Any


@dataclass(frozen=True)
class Asked:
    """A request, whatever its dialect: whether tools may be called, the last prompt, and the results since."""

    tools: bool
    prompt: str
    results: tuple[str, ...]


@dataclass(frozen=True)
class Reply:
    """What the model says, or which tools it calls."""

    text: str = ""
    calls: tuple[tuple[str, dict[str, str]], ...] = ()


def think(asked: Asked) -> Reply:
    """Call a tool for each city of a question, then answer from the results; shorten what is to be shortened."""
    if asked.prompt.startswith("Shorten: "):
        return Reply("Short: " + asked.prompt.removeprefix("Shorten: ")[:60])
    cities = [city for city in ("Oslo", "Rome", "Lima") if city in asked.prompt]
    if asked.tools and cities and not asked.results:
        return Reply(calls=tuple(("get_weather", {"city": city}) for city in cities))
    if asked.results:
        return Reply("The weather: " + "; ".join(asked.results) + ".")
    return Reply(f"You said {asked.prompt!r}.")


class ModelServer:
    """Serves on a free port while it is open; counts what was asked.

    Args:
        delay: Seconds before each answer.
        faults: By number of the request, from 0: ``429``, ``drop`` (no answer) or ``cut`` (half an answer).
    """

    def __init__(self, *, delay: float = 0.0, faults: Mapping[int, str] | None = None) -> None:
        self.delay = delay
        self.faults = dict(faults or {})
        self.requests: list[Tree] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def take(self, request: Tree) -> str | None:
        """Count a request and return the fault asked for it, if any."""
        with self._lock:
            self.requests.append(request)
            return self.faults.get(len(self.requests) - 1)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


# -- dialects -------------------------------------------------------------------------------------------------------


def asked_of_chat(body: Tree) -> Asked:
    """Read an OpenAI chat request."""
    messages = body["messages"]
    last = max((at for at, m in enumerate(messages) if m["role"] == "user"), default=0)
    results = tuple(_text(m["content"]) for m in messages[last + 1 :] if m["role"] == "tool")
    return Asked(bool(body.get("tools")), _text(messages[last]["content"]), results)


def asked_of_responses(body: Tree) -> Asked:
    """Read an OpenAI responses request."""
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    last = max((at for at, item in enumerate(items) if item.get("role") == "user"), default=0)
    results = tuple(_text(i["output"]) for i in items[last + 1 :] if i.get("type") == "function_call_output")
    return Asked(bool(body.get("tools")), _text(items[last]["content"]), results)


def asked_of_messages(body: Tree) -> Asked:
    """Read an Anthropic messages request."""
    prompt, results = "", []
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else [{"text": message["content"]}]
        found = [_text(b["content"]) for b in blocks if b.get("type") == "tool_result"]
        if message["role"] == "user" and not found:
            prompt, results = _text(message["content"]), []
        results += found
    return Asked(bool(body.get("tools")), prompt, tuple(results))


def chat_answer(reply: Reply, model: str) -> Tree:
    """Spell a reply as an OpenAI chat completion."""
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(reply.calls)
    ]
    message: dict[str, Tree] = {"role": "assistant", "content": None if calls else reply.text}
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_764_500_000, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 10, "total_tokens": 30},
    }  # fmt: skip


def chat_events(reply: Reply, model: str) -> Iterator[str]:
    """Spell a reply as the events of a streamed chat completion."""
    whole = chat_answer(reply, model)
    base = {"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": model}

    def chunk(delta: Tree, reason: str | None = None) -> str:
        return _event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})

    yield chunk({"role": "assistant", "content": ""})
    message = whole["choices"][0]["message"]
    for n, call in enumerate(message.get("tool_calls", ())):
        start = {**call, "index": n, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield chunk({"tool_calls": [start]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": n, "function": {"arguments": piece}}]})
    for piece in _pieces(message["content"] or ""):
        yield chunk({"content": piece})
    yield chunk({}, whole["choices"][0]["finish_reason"])
    yield _event({**base, "choices": [], "usage": whole["usage"]})
    yield "data: [DONE]\n\n"


def responses_answer(reply: Reply, model: str) -> Tree:
    """Spell a reply as an OpenAI response."""
    output: list[Tree] = [
        {
            "id": f"fc_{n}", "type": "function_call", "status": "completed", "call_id": f"call_{n}", "name": name,
            "arguments": json.dumps(arguments),
        }
        for n, (name, arguments) in enumerate(reply.calls)
    ] or [
        {
            "id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": reply.text, "annotations": []}],
        }
    ]  # fmt: skip
    return {
        "id": "resp_1", "object": "response", "created_at": 1_764_500_000, "status": "completed", "model": model,
        "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
        "usage": {
            "input_tokens": 20, "output_tokens": 10, "total_tokens": 30,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        },
    }  # fmt: skip


def responses_events(reply: Reply, model: str) -> Iterator[str]:
    """Spell a reply as the events of a streamed response."""
    whole = responses_answer(reply, model)
    number = 0

    def event(kind: str, **fields: Tree) -> str:
        nonlocal number
        number += 1
        return _event({"type": kind, "sequence_number": number, **fields}, kind)

    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for at, item in enumerate(whole["output"]):
        place = {"output_index": at, "item_id": item["id"]}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            part = {"type": "output_text", "text": "", "annotations": []}
            yield event(
                "response.output_item.added", output_index=at, item={**item, "status": "in_progress", "content": []}
            )
            yield event("response.content_part.added", **place, content_index=0, part=part)
            for piece in _pieces(text):
                yield event("response.output_text.delta", **place, content_index=0, delta=piece, logprobs=[])
            yield event("response.output_text.done", **place, content_index=0, text=text, logprobs=[])
            yield event("response.content_part.done", **place, content_index=0, part={**part, "text": text})
        else:
            yield event(
                "response.output_item.added", output_index=at, item={**item, "status": "in_progress", "arguments": ""}
            )
            for piece in _pieces(item["arguments"]):
                yield event("response.function_call_arguments.delta", **place, delta=piece)
            yield event(
                "response.function_call_arguments.done", **place, arguments=item["arguments"], name=item["name"]
            )
        yield event("response.output_item.done", output_index=at, item=item)
    yield event("response.completed", response=whole)


def messages_answer(reply: Reply, model: str) -> Tree:
    """Spell a reply as an Anthropic message."""
    content: list[Tree] = [
        {"type": "tool_use", "id": f"toolu_{n}", "name": name, "input": arguments}
        for n, (name, arguments) in enumerate(reply.calls)
    ] or [{"type": "text", "text": reply.text}]
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 20, "output_tokens": 10},
    }  # fmt: skip


def messages_events(reply: Reply, model: str) -> Iterator[str]:
    """Spell a reply as the events of a streamed Anthropic message."""
    whole = messages_answer(reply, model)

    def event(kind: str, **fields: Tree) -> str:
        return _event({"type": kind, **fields}, kind)

    yield event("message_start", message={**whole, "content": [], "stop_reason": None})
    for at, block in enumerate(whole["content"]):
        if block["type"] == "text":
            yield event("content_block_start", index=at, content_block={"type": "text", "text": ""})
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        else:
            yield event("content_block_start", index=at, content_block={**block, "input": {}})
            spelled = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(spelled)]
        for delta in deltas:
            yield event("content_block_delta", index=at, delta=delta)
        yield event("content_block_stop", index=at)
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=end, usage={"output_tokens": 10})
    yield event("message_stop")


DIALECTS = {
    "/chat/completions": (asked_of_chat, chat_answer, chat_events),
    "/responses": (asked_of_responses, responses_answer, responses_events),
    "/messages": (asked_of_messages, messages_answer, messages_events),
}


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fault = server.take(body)
            time.sleep(server.delay)
            ask, answer, events = DIALECTS[next(path for path in DIALECTS if self.path.split("?")[0].endswith(path))]
            reply = think(ask(body))
            if fault == "drop":
                self._hang_up()
            elif fault == "429":
                error = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
                self._plain(429, error, (("retry-after-ms", "1"), ("retry-after", "0")))
            elif body.get("stream"):
                self._stream(list(events(reply, body["model"])), cut=fault == "cut")
            else:
                self._plain(200, answer(reply, body["model"]), (("x-request-id", f"req-{len(server.requests)}"),))

        def _plain(self, status: int, tree: Tree, headers: Sequence[tuple[str, str]]) -> None:
            data = json.dumps(tree).encode()
            self.send_response(status)
            for name, value in (
                ("content-type", "application/json"),
                ("content-length", str(len(data))),
                *headers,
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: Sequence[str], *, cut: bool) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in events[: len(events) // 2] if cut else events:
                data = event.encode()
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                self.wfile.flush()
            if cut:
                self._hang_up()
            else:
                self.wfile.write(b"0\r\n\r\n")

        def _hang_up(self) -> None:
            """Reset the connection, as a provider does that goes away."""
            self.close_connection = True
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    return Handler


def _event(tree: Tree, kind: str | None = None) -> str:
    name = "" if kind is None else f"event: {kind}\n"
    return f"{name}data: {json.dumps(tree)}\n\n"


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def _text(content: Tree) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if isinstance(block, dict))
