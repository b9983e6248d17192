"""A small agent that works a refund desk, recorded call by call with stashdbg. Standard library and stashdbg only.

    python docs/examples/refund_agent.py run.json                     record a run against the scripted model beside it
    python docs/examples/refund_agent.py next.json --from fork.json   serve what a fork holds, then go on from there

Each ticket is a growing chat with a model that calls tools, some of them in parallel. The last ticket goes wrong: the
refund is rejected, and where the wrong amount came from is what the tutorial finds out with the debugger.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from scripted_model import MODEL, ScriptedModel

from stashdbg import (
    Stash,
    TypeRegistry,
    create_deterministic_clock,
    create_recorder,
    create_replayer,
    create_seeded_random,
    open_recording,
    wrap,
)

TICKETS = {
    "T-1": "The kettle of order K-11 arrived broken. I'd like my money back in EUR, please.",
    "T-2": "Half of order G-27 never came. Please pay it back in GBP.",
    "T-3": "The pillow of order P-31 has the wrong colour; a refund in EUR would do.",
    "T-4": "The lamp of order L-48 hums. Money back in EUR.",
    "T-5": "The headphones of order H-52 broke after a day. Refund in EUR, please!",
}
ORDERS: dict[str, dict[str, Any]] = {
    "K-11": {"customer": "c-204", "total": 49.0, "currency": "EUR", "items": ["kettle"]},
    "G-27": {"customer": "c-118", "total": 80.0, "currency": "GBP", "items": ["glasses", "glasses"]},
    "P-31": {"customer": "c-077", "total": 35.5, "currency": "GBP", "items": ["pillow"]},
    "L-48": {"customer": "c-301", "total": 129.0, "currency": "EUR", "items": ["lamp"]},
    "H-52": {"customer": "c-219", "total": 119.0, "currency": "USD", "items": ["headphones"]},
}
MARKET_RATES = {("GBP", "EUR"): 1.17}
ARCHIVED_RATES = {("USD", "EUR"): 1.087}  # the archive quotes this pair the other way round
WORTH_IN_EUR = {"K-11": 49.0, "G-27": 93.6, "P-31": 41.54, "L-48": 129.0, "H-52": 109.48}
SYSTEM = (
    "You work a refund desk. Look the order up and read the policy first; check the customer, and the exchange rate "
    "if the money goes out in another currency; then issue exactly one refund. "
    "Never pay out more than the order was worth."
)


class RefundRejectedError(Exception):
    """The payment service refused to pay out that amount."""


TYPES = TypeRegistry(RefundRejectedError)
"""What a replay rebuilds, so that ``except RefundRejectedError`` catches the recorded error too."""


class TicketFailedError(Exception):
    """The desk could not close a ticket."""


def lookup_order(order_id: str) -> dict[str, Any]:
    """Return an order as the shop knows it."""
    return {"order_id": order_id, **ORDERS[order_id]}


def refund_policy(order_id: str) -> dict[str, Any]:
    """Return which share of the order's total may be paid back."""
    halves = "glasses" in ORDERS[order_id]["items"]
    return {"order_id": order_id, "share": 0.5 if halves else 1.0, "rule": "missing-half" if halves else "faulty-goods"}


def customer_history(customer: str) -> dict[str, Any]:
    """Return how often a customer asked for money back."""
    return {"customer": customer, "refunds_this_year": int(customer[-1]) % 3, "flags": []}


def market_rate(base: str, quote: str) -> dict[str, Any]:
    """Return today's exchange rate; the market's service knows few pairs and times out on the others."""
    if (base, quote) not in MARKET_RATES:
        raise TimeoutError(f"rates.market: no answer for {base}/{quote} within 2.0 s")
    return {"base": base, "quote": quote, "rate": MARKET_RATES[base, quote], "source": "market"}


def archived_rate(base: str, quote: str) -> dict[str, Any]:
    """Return the last exchange rate that the archive holds."""
    return {"base": base, "quote": quote, "rate": ARCHIVED_RATES[base, quote], "source": "archive"}


def issue_refund(order_id: str, amount: float, currency: str, idempotency_key: str) -> dict[str, Any]:
    """Pay out, unless it is more than the order was worth."""
    worth = WORTH_IN_EUR[order_id]
    if currency == "EUR" and amount > worth:
        raise RefundRejectedError(f"{amount:.2f} EUR is more than the {worth:.2f} EUR that order {order_id} was worth")
    return {"receipt": f"r-{idempotency_key[:8]}", "order_id": order_id, "amount": amount, "currency": currency}


def _post(url: str, request: dict[str, Any]) -> Any:
    data = json.dumps(request).encode()
    headers = {"Content-Type": "application/json"}
    return urllib.request.urlopen(urllib.request.Request(f"{url}/chat/completions", data, headers), timeout=30)


def ask_model(url: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the model's whole answer."""
    with _post(url, request) as response:
        answer: dict[str, Any] = json.load(response)
        return answer


def stream_model(url: str, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the chunks of a streamed answer as they arrive."""
    with _post(url, request) as response:
        for line in response:
            if line.startswith(b"data: {"):
                yield json.loads(line.removeprefix(b"data: "))


class RefundDesk:
    """The agent: works one ticket after another; every call that could differ between runs goes through the stash."""

    def __init__(self, stash: Stash, model_url: str) -> None:
        self.stash = stash
        self.model_url = model_url
        self.clock = create_deterministic_clock(stash)
        self.random = create_seeded_random(stash)
        plain = (lookup_order, refund_policy, customer_history, issue_refund)
        self.tools = {tool.__name__: wrap(stash, "tool", tool.__name__, tool) for tool in plain}
        self.tools["fx_rate"] = self.fx_rate
        self.market_rate = wrap(stash, "tool", "market_rate", market_rate)
        self.archived_rate = wrap(stash, "tool", "archived_rate", archived_rate)
        self.paid_out: dict[str, str] = {}

    def fx_rate(self, base: str, quote: str) -> dict[str, Any]:
        """Return an exchange rate from the market, else from the archive."""
        try:
            return self.market_rate(base, quote)
        except TimeoutError:
            return self.archived_rate(base, quote)

    def chat(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the model's next message; a busy model is asked again after a while."""
        request = {"model": MODEL, "messages": messages, "temperature": 0}
        while True:
            try:
                answer = self.stash.intercept("llm", MODEL, lambda: ask_model(self.model_url, request), input=request)
            except urllib.error.HTTPError as error:
                if error.code != 429:
                    raise
                if self.stash.mode == "record":
                    time.sleep(0.05 + self.random.random() / 20)
                continue
            message: dict[str, Any] = answer["choices"][0]["message"]
            return message

    def run_tool(self, call: dict[str, Any]) -> dict[str, Any]:
        """Return the tool message that answers one tool call of the model."""
        name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
        if name == "issue_refund":
            key = self.stash.intercept("random", "idempotency key", lambda: uuid.uuid4().hex)
            arguments["idempotency_key"] = key
        try:
            content = self.tools[name](**arguments)
        except RefundRejectedError as error:
            content = {"error": str(error)}
        return {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(content)}

    def work(self, ticket: str, text: str) -> None:
        """Close one ticket, or raise ``TicketFailedError``."""
        opened = self.clock.now()
        messages = [
            {"role": "system", "content": f"{SYSTEM} Today is {opened:%Y-%m-%d}."},
            {"role": "user", "content": text},
        ]
        with ThreadPoolExecutor(max_workers=2, thread_name_prefix="tools") as pool:
            while True:
                message = self.chat(messages)
                messages.append(message)
                if not message.get("tool_calls"):
                    break
                messages.extend(pool.map(self.run_tool, message["tool_calls"]))
        request = {"model": MODEL, "messages": messages, "stream": True}
        chunks = self.stash.stream("llm", "letter", lambda: stream_model(self.model_url, request), input=request)
        letter = "".join(chunk["choices"][0]["delta"]["content"] for chunk in chunks)
        self.paid_out[ticket] = messages[-1]["content"]
        self.stash.value("state", "desk", {"closed": len(self.paid_out), "last": ticket, "paid_out": self.paid_out})
        print(f"{ticket}: {letter}")
        if "rejected" in messages[-1]["content"]:
            raise TicketFailedError(f"{ticket} is not solved: {messages[-1]['content']}")


def work_all(stash: Stash, model_url: str) -> None:
    """Work the day's tickets, or raise ``TicketFailedError`` at the first that fails."""
    desk = RefundDesk(stash, model_url)
    for ticket, text in TICKETS.items():
        desk.work(ticket, text)


def main(path: str, fork: str | None = None) -> int:
    """Record one day at the desk into ``path``, the calls that ``fork`` holds served from there.

    The scripted model turns away some requests of a day that is recorded from its start.
    """
    about = "demo: the refund desk of docs/examples, recorded against a scripted local model server, not a real model"
    try:
        with (
            ScriptedModel(busy_every=0 if fork else 11) as model,
            create_recorder(path=path, meta={"about": about}) as recorder,
        ):
            if fork is None:
                work_all(Stash(recorder), model.url)
            else:
                recorded = open_recording(fork)
                served = create_replayer(recorded, match="input", live_tail=True, record=recorder, types=TYPES)
                work_all(Stash(served), model.url)
    except TicketFailedError as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Work the refund desk, recorded.")
    parser.add_argument("path", nargs="?", default="run.json", help="the recording to write")
    parser.add_argument("--from", dest="fork", help="a fork whose calls are served before the desk goes on by itself")
    options = parser.parse_args()
    raise SystemExit(main(options.path, options.fork))
