"""A chat-completions server whose model is a script: the refund desk talks to it, and no network is needed.

It answers ``POST /v1/chat/completions`` as an OpenAI-compatible server does, streamed on request. What it says is
worked out from the messages alone, so that a run with another tool result goes another way, as with a real model. Every
``busy_every``-th request is turned away with 429.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scripted-1"


def _tool_results(messages: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return what each tool answered so far, by tool name, oldest first."""
    names: dict[str, str] = {}
    results: dict[str, list[Any]] = {}
    for message in messages:
        for call in message.get("tool_calls") or []:
            names[call["id"]] = call["function"]["name"]
        if message["role"] == "tool":
            results.setdefault(names[message["tool_call_id"]], []).append(json.loads(message["content"]))
    return results


def _calls(turn: int, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{turn}_{position}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for position, (name, arguments) in enumerate(calls)
    ]


def next_message(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the assistant message that the script gives to a chat about one ticket."""
    ticket = next(message["content"] for message in messages if message["role"] == "user")
    wanted = re.search(r"order (?P<order>[A-Z]-\d+).* in (?P<currency>[A-Z]{3})", ticket)
    if wanted is None:
        return {"role": "assistant", "content": "Which order is this about, and in which currency do you want it back?"}
    order_id, currency = wanted["order"], wanted["currency"]
    done = _tool_results(messages)
    turn = sum(message["role"] == "assistant" for message in messages)
    if "lookup_order" not in done:
        text = f"I'll look at order {order_id} and at what the policy says about it."
        calls = _calls(turn, ("lookup_order", {"order_id": order_id}), ("refund_policy", {"order_id": order_id}))
        return {"role": "assistant", "content": text, "tool_calls": calls}
    order = done["lookup_order"][-1]
    if "customer_history" not in done:
        checks: list[tuple[str, dict[str, Any]]] = [("customer_history", {"customer": order["customer"]})]
        if order["currency"] != currency:
            checks.append(("fx_rate", {"base": order["currency"], "quote": currency}))
        text = f"The order was paid in {order['currency']}. Checking the customer before I pay out {currency}."
        return {"role": "assistant", "content": text, "tool_calls": _calls(turn, *checks)}
    rate = done["fx_rate"][-1]["rate"] if "fx_rate" in done else 1
    amount = round(order["total"] * done["refund_policy"][-1]["share"] * rate, 2)
    refunds = done.get("issue_refund", [])
    if refunds and "receipt" in refunds[-1]:
        return {"role": "assistant", "content": f"Refunded {amount:.2f} {currency} for order {order_id}."}
    if len(refunds) >= 2:
        text = f"The refund for order {order_id} was rejected twice; a person has to look."
        return {"role": "assistant", "content": text}
    text = "The refund was rejected; trying once more." if refunds else f"That makes {amount:.2f} {currency}."
    refund = {"order_id": order_id, "amount": amount, "currency": currency}
    return {"role": "assistant", "content": text, "tool_calls": _calls(turn, ("issue_refund", refund))}


def letter(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the words of a letter to the customer that says how the ticket ended."""
    outcome = next(m["content"] for m in reversed(messages) if m["role"] == "assistant" and not m.get("tool_calls"))
    text = f"Dear customer, thank you for your patience. {outcome} Kind regards, the refund desk"
    yield from re.findall(r"\S+\s*", text)


def _usage(messages: list[dict[str, Any]], reply: str) -> dict[str, int]:
    prompt = sum(len(json.dumps(message)) for message in messages) // 4
    return {"prompt_tokens": prompt, "completion_tokens": len(reply) // 4, "total_tokens": prompt + len(reply) // 4}


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedModel

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.is_busy():
            self._send(429, {"error": {"type": "rate_limit", "message": "scripted: too many requests, try again"}})
        elif body.get("stream"):
            self._stream(body["messages"])
        else:
            message = next_message(body["messages"])
            reason = "tool_calls" if message.get("tool_calls") else "stop"
            choice = {"index": 0, "message": message, "finish_reason": reason}
            usage = _usage(body["messages"], json.dumps(message))
            self._send(200, {"object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage})

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        payload = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def _stream(self, messages: list[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in letter(messages):
            choice = {"index": 0, "delta": {"content": word}, "finish_reason": None}
            chunk = {"object": "chat.completion.chunk", "model": MODEL, "choices": [choice]}
            self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it so
        """Stay silent: the agent's own output is the story."""


class ScriptedModel(ThreadingHTTPServer):
    """The server; use it as a context manager, its base URL is ``url``.

    Args:
        busy_every: Turn away every so-many-th request with 429; 0 never does.
    """

    def __init__(self, *, busy_every: int = 0) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.busy_every = busy_every
        self.requests = 0
        self._count_lock = threading.Lock()
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Where the API stands, up to and including ``/v1``."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def is_busy(self) -> bool:
        """Count a request and tell whether it is turned away."""
        with self._count_lock:
            self.requests += 1
            return bool(self.busy_every) and self.requests % self.busy_every == 0

    def __enter__(self) -> ScriptedModel:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()


if __name__ == "__main__":
    with ScriptedModel(busy_every=9) as model:
        print(model.url, flush=True)
        threading.Event().wait()
