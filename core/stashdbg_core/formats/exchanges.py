"""Builds events from HTTP exchanges in order of time: model calls, JSON-RPC requests, plain requests, and the tools.

A capture shows no tools run. What a request carries as the result of a call that an earlier answer asked for is a tool
event, marked as inferred. Prompts that repeat what came before are stored as what they add.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stashdbg_core import tags
from stashdbg_core.calls import ABSENT
from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.exchange.bodies import has_odd_frames, response_tree
from stashdbg_core.exchange.coding import content_decoded, undecodable
from stashdbg_core.exchange.headers import Headers
from stashdbg_core.exchange.joined import answer_of
from stashdbg_core.exchange.naming import Named, answered_model, name_exchange
from stashdbg_core.formats.chat import Chat, Input
from stashdbg_core.formats.images import Tagged
from stashdbg_core.formats.labels import LABEL_LENGTH
from stashdbg_core.formats.media import with_media
from stashdbg_core.formats.model_calls import asked_calls, tool_results
from stashdbg_core.formats.transcript_labels import tool_label
from stashdbg_core.session.chat_tools import AskedCall
from stashdbg_core.session.gist import reply
from stashdbg_core.values import decode_value
from stashdbg_core.values.plain import is_plain_value

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

_PROMPTS = ("messages", "input", "contents")
"""Names under which providers take the conversation."""
_CHATS = 64
"""Conversations of a capture that are told apart."""
_ASKED = 10_000


@dataclass(slots=True)
class Exchange:
    """One request and what came of it."""

    method: str
    url: str
    headers: Headers
    body: bytes
    status: int | None = None
    """None if no answer is known."""
    answer_headers: Headers = ()
    answer: bytes = b""
    at: float | None = None
    """When it started, in milliseconds since the epoch."""
    ms: float | None = None
    error: Json = None
    """Why there was no answer, where the file says so."""
    call_id: str | None = None
    cut: str | None = None
    """What the source left out of it."""


class ExchangeBuilder:
    """Tells a sink of exchanges.

    Args:
        sink: What takes the events.
    """

    def __init__(self, sink: RunSink) -> None:
        self._sink = sink
        self._chats: OrderedDict[bytes, Chat] = OrderedDict()
        self._asked: OrderedDict[str, AskedCall] = OrderedDict()
        """Calls of earlier answers that no request has answered, by id or by name and number."""
        self._count = 0
        self._undecodable: set[str] = set()

    def add(self, exchange: Exchange) -> int:
        """Tell of an exchange and return its ``seq``; results of tools in its request come before it."""
        named = name_exchange(exchange.method, exchange.url, exchange.headers, exchange.body)
        return self.add_named(named, exchange)

    def add_named(self, named: Named, exchange: Exchange) -> int:
        """Tell of an exchange whose name and input are known, or not: ``ABSENT``; see ``add``."""
        answer = self._answered(exchange)
        said = answer_of(answer) if answer is not None else None
        given = named.input if named.input is ABSENT else plain_tree(named.input)
        key = named.key
        if named.channel == "llm":
            self._tools(given, exchange.at)
            key = answered_model(said) or key
        seq = self._sink.start(
            named.channel,
            key,
            input=self._prompt(with_media(given)) if named.channel == "llm" else given,
            at=exchange.at,
            label=named.label or _label(named.channel, said),
            call_id=exchange.call_id,
        )
        if exchange.cut is not None:
            self._sink.cut(seq, exchange.cut)
        if answer is not None:
            failed = answer["status"] >= 400 or (named.channel == "mcp" and _rpc_failed(said))
            self._sink.finish(seq, storable(answer), outcome="throw" if failed else "return", ms=exchange.ms)
        elif exchange.error is not None:
            self._sink.finish(seq, {"error": exchange.error}, outcome="throw", ms=exchange.ms)
        if named.channel == "llm":
            self._remember(asked_calls(said))
        return seq

    def tool(self, name: str, given: Json, value: Json, *, at: float | None, call_id: str | None, failed: bool) -> int:
        """Tell of a tool that ran between two requests."""
        seq = self._sink.event(
            "tool",
            name,
            input=given,
            value={"error": value} if failed else value,
            outcome="throw" if failed else "return",
            at=at,
            label=tool_label(name, given),
            call_id=call_id,
        )
        self._sink.inferred(seq)
        return seq

    def _answered(self, exchange: Exchange) -> dict[str, Json] | None:
        if exchange.status is None:
            return None
        missing = undecodable(exchange.answer_headers)
        if missing is not None and missing not in self._undecodable:
            self._undecodable.add(missing)
            known = {"br": "Brotli", "zstd": "zstandard"}.get(missing)
            hint = f"; install {known} to read them" if known else ""
            self._sink.note("encoded-body", f"bodies with the content coding {missing} are kept as they are{hint}")
        body = content_decoded(exchange.answer_headers, exchange.answer)
        tree = response_tree(min(max(exchange.status, 100), 599), exchange.answer_headers, body)
        if has_odd_frames(tree):
            self._sink.note("odd-frames", "what is damaged in event streams, or no event, is kept as the bytes it is")
        return tree

    def _prompt(self, given: Json) -> Json | Input:
        """Return the input of a model call, its conversation stored as what it adds to the one before."""
        if type(given) is not dict:
            return given
        name = next((name for name in _PROMPTS if type(given.get(name)) is list), None)
        if name is None or any(type(item) is not dict for item in given[name]):
            return given
        beginning = _beginning(given[name])
        chat = self._chats.pop(beginning, None) or self._sink.chat()
        self._chats[beginning] = chat
        if len(self._chats) > _CHATS:
            self._chats.popitem(last=False)
        chat.extend_to(given[name])
        made = chat.input(**{key: value for key, value in given.items() if key != name})
        return Input(b"{" + stored_form(name) + made.stored.removeprefix(b'{"messages"'))

    def _tools(self, given: Json, at: float | None) -> None:
        for result in tool_results(given):
            key = result.id if result.id in self._asked else None
            if key is None and result.id is None:
                key = next((key for key, call in self._asked.items() if not call.id and call.name == result.name), None)
            if key is None:
                continue
            call = self._asked.pop(key)
            value = with_media(result.value)
            self.tool(call.name, call.given, value, at=at, call_id=call.id, failed=result.failed)

    def _remember(self, calls: list[AskedCall]) -> None:
        for call in calls:
            self._count += 1
            self._asked[call.id or f"\0{self._count}"] = call
        while len(self._asked) > _ASKED:
            self._asked.popitem(last=False)


def _label(channel: str, said: Json) -> str | None:
    return (reply(said, LABEL_LENGTH) or None) if channel == "llm" and type(said) is dict else None


def storable(response: dict[str, Json]) -> dict[str, Any]:
    """Return a response tree as a sink takes it: tags of ours told from data of the file's own."""
    body = response["body"]
    if type(body) is dict and body.get(tags.TAG) in (tags.STREAM, tags.BYTES):
        return {**response, "body": Tagged(body)}
    return {**response, "body": with_media(plain_tree(body))}


def plain_tree(tree: Json) -> Json:
    """Return what a tree with tags stands for, as a sink takes it."""
    return tree if is_plain_value(tree) else decode_value(tree, on_unstorable="stand-in")


def _beginning(messages: list[Json]) -> bytes:
    """Return what tells one conversation from another: its first messages up to the first of its user."""
    upto = next((at for at, message in enumerate(messages[:8]) if message.get("role") == "user"), 0)
    return repr(messages[: upto + 1]).encode("utf-8", "replace")[:100_000]


def _rpc_failed(said: Json) -> bool:
    if type(said) is not dict:
        return False
    result = said.get("result")
    return "error" in said or (type(result) is dict and result.get("isError") is True)
