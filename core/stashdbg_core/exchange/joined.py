"""The whole message that a model's streamed answer spelled, in the shape in which the provider answers unstreamed.

Knows OpenAI chat (tool calls in pieces by index) and text completions, OpenAI responses, Anthropic, Gemini, Cohere,
Ollama, Bedrock's converse and its models that go on with a text, and JSON-RPC over Server-Sent Events. Pieces are put
together, nothing is made up: a stream that was cut gives what came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.joined_anthropic import joined_anthropic
from stashdbg_core.exchange.joined_openai import joined_chat, joined_response
from stashdbg_core.exchange.sse import chunk_json, event_texts, line_texts, looks_like_events
from stashdbg_core.parse import parse_json
from stashdbg_core.tags import STREAM, TAG

_CHUNKS = 200_000
_INDEX = 10_000
"""A piece may say any index; beyond this one it is left out."""
_PADDING = "p"
"""Name of what Bedrock fills its frames up with."""
_CONTINUED = ("outputText", "generation")


def joined_message(body: Json) -> Json | None:
    """Return the message that the body of a response spelled; None if it is no stream of a known shape.

    Args:
        body: A ``stream`` tag whose chunks are texts of events or objects, or the whole text of a stream.
    """
    events = list(stream_objects(body))
    return joined(events) if events else None


def answer_of(response: Json) -> Json:
    """Return what a response says: its JSON, the message that its stream spelled, else its body as it is.

    Args:
        response: As ``bodies.response_tree`` makes it.
    """
    body = response.get("body")
    message = joined_message(body)
    if message is not None:
        return message
    if type(body) is str and body[:1] in ("{", "["):
        try:
            return parse_json(body.encode("utf-8", "replace"))
        except StashError:
            return body
    return body


def stream_objects(body: Json) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects that the events of a stream carry."""
    chunks: Iterable[Json] = ()
    if type(body) is dict and body.get(TAG) == STREAM and type(body.get("chunks")) is list:
        chunks = body["chunks"][:_CHUNKS]
    elif type(body) is str and looks_like_events(body):
        chunks = event_texts(body)[:_CHUNKS]
    elif type(body) is str and body[:1] == "{":
        chunks = line_texts(body)[:_CHUNKS]
    for chunk in chunks:
        found = chunk_json(chunk) if type(chunk) is str else chunk
        if type(found) is dict:
            framed = found.get("chunk")  # what another provider's model said through Bedrock
            inner = framed.get("bytes") if len(found) == 1 and type(framed) is dict else None
            yield inner if type(inner) is dict else found
        elif type(found) is list:
            yield from (item for item in found if type(item) is dict)


def joined(events: list[dict[str, Any]]) -> Json | None:
    """Return the message that events spelled, in order; None if none of them is of a known shape."""
    for event in events[:8]:
        kind = event.get("type")
        if type(event.get("choices")) is list:
            return joined_chat(events)
        if _has_candidates(event) or _has_candidates(event.get("response")):
            return _gemini(events)
        if type(kind) is str and kind.startswith("response."):
            return joined_response(events)
        if kind in ("message_start", "content_block_start", "content_block_delta"):
            return joined_anthropic(events)
        if kind in ("message-start", "content-start", "content-delta"):
            return _cohere(events)
        if event.get("event_type") in ("stream-start", "text-generation", "stream-end"):
            return _cohere_v1(events)
        if event.get("jsonrpc") == "2.0":
            return next((one for one in reversed(events) if "result" in one or "error" in one), None)
        if "done" in event and ("message" in event or "response" in event):
            return _ollama(events)
        if "messageStart" in event or "contentBlockDelta" in event:
            return _converse(events)
        for name in _CONTINUED:
            if type(event.get(name)) is str:
                return _continuation(events, name)
    return None


def _has_candidates(event: Json) -> bool:
    return type(event) is dict and type(event.get("candidates")) is list


def _gemini(events: list[dict[str, Any]]) -> Json:
    message: dict[str, Any] = {}
    candidates: dict[int, dict[str, Any]] = {}
    for event in events:
        inner = event.get("response")
        event = inner if type(inner) is dict else event
        message |= {name: value for name, value in event.items() if name != "candidates"}
        for at, candidate in enumerate(_dicts(event.get("candidates"))):
            index = _index(candidate.get("index"), at)
            held = candidates.setdefault(index, {"content": {"parts": [], "role": "model"}})
            content = candidate.get("content")
            held |= {name: value for name, value in candidate.items() if name != "content"}
            for part in _dicts(content.get("parts") if type(content) is dict else None):
                _add_part(held["content"]["parts"], part)
    return {"candidates": [candidates[index] for index in sorted(candidates)], **message}


def _add_part(parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
    """Add a part, a text to the text before it if both are said aloud, or both thought."""
    last = parts[-1] if parts else {}
    plain = set(part) <= {"text", "thought", "thoughtSignature"} and type(part.get("text")) is str
    if plain and type(last.get("text")) is str and last.get("thought") == part.get("thought"):
        parts[-1] = {**last, **part, "text": last["text"] + part["text"]}
    else:
        parts.append(dict(part))


def _ollama(events: list[dict[str, Any]]) -> Json:
    whole: dict[str, Any] = {}
    message: dict[str, Any] = {}
    texts: list[str] = []
    for event in events:
        whole |= event
        if type(event.get("response")) is str:
            texts.append(event["response"])
        said = event.get("message")
        for name, value in said.items() if type(said) is dict else ():
            message[name] = _continued(message.get(name), value, text=name in ("content", "thinking"))
    return whole | ({"message": message} if message else {"response": "".join(texts)})


def _continued(before: Any, value: Any, *, text: bool) -> Any:
    if text and type(value) is str and type(before) is str:
        return before + value
    return before + value if type(value) is list and type(before) is list else value


def _cohere(events: list[dict[str, Any]]) -> Json:
    message: dict[str, Any] = {"role": "assistant"}
    blocks: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[str, Any]] = {}
    whole: dict[str, Any] = {}
    for event in events:
        delta = event.get("delta")
        said = delta.get("message") if type(delta) is dict else None
        said = said if type(said) is dict else {}
        index, kind = _index(event.get("index"), 0), event.get("type")
        if kind == "message-start" and "id" in event:
            whole["id"] = event["id"]
        elif kind in ("content-start", "content-delta") and type(said.get("content")) is dict:
            _concatenate(blocks.setdefault(index, {}), said["content"], ("text", "thinking"))
        elif kind == "tool-plan-delta" and type(said.get("tool_plan")) is str:
            message["tool_plan"] = message.get("tool_plan", "") + said["tool_plan"]
        elif kind in ("tool-call-start", "tool-call-delta") and type(said.get("tool_calls")) is dict:
            held = calls.setdefault(index, {"function": {}})
            given = said["tool_calls"]
            held |= {name: value for name, value in given.items() if name != "function"}
            _concatenate(held["function"], given.get("function"), ("arguments",))
        elif kind == "message-end" and type(delta) is dict:
            whole |= {name: value for name, value in delta.items() if name != "message"}
    message["content"] = [blocks[index] for index in sorted(blocks)]
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**whole, "message": message}


def _cohere_v1(events: list[dict[str, Any]]) -> Json:
    ended = next((event["response"] for event in events if type(event.get("response")) is dict), None)
    texts = [event["text"] for event in events if type(event.get("text")) is str]
    return ended if ended is not None else {"text": "".join(texts)}


def _converse(events: list[dict[str, Any]]) -> Json:
    message: dict[str, Any] = {"role": "assistant"}
    blocks: dict[int, dict[str, Any]] = {}
    whole: dict[str, Any] = {}
    for event in events:
        for name, value in event.items():
            if type(value) is not dict:
                continue
            value = {part: said for part, said in value.items() if part != _PADDING}
            block = blocks.setdefault(_index(value.get("contentBlockIndex"), 0), {}) if "ontentBlock" in name else {}
            if name == "messageStart":
                message |= value
            elif name == "contentBlockStart":
                _concatenate(block, value.get("start"), ())
            elif name == "contentBlockDelta":
                _add_delta(block, value.get("delta"))
            elif name in ("messageStop", "metadata"):
                whole |= value
            elif name.endswith("Exception"):
                whole[name] = value
    message["content"] = _together([blocks[index] for index in sorted(blocks)])
    return {"output": {"message": message}, **whole}


def _together(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return blocks with those that are text alone in one, where they follow one another: Nova begins one a piece."""
    content: list[dict[str, Any]] = []
    for block in blocks:
        if (
            content
            and block.keys() == content[-1].keys() == {"text"}
            and type(content[-1]["text"]) is type(block["text"]) is str
        ):
            content[-1] = {"text": content[-1]["text"] + block["text"]}
        else:
            content.append(block)
    return content


def _add_delta(block: dict[str, Any], delta: Json) -> None:
    if type(delta) is not dict:
        return
    thought = delta.get("reasoningContent")
    if type(thought) is dict:
        held = block.setdefault("reasoningContent", {})
        text = {part: said for part, said in thought.items() if part in ("text", "signature")}
        if text and type(held) is dict:
            _concatenate(held.setdefault("reasoningText", {}), text, ("text", "signature"))
            return
    _concatenate(block, delta, ("text",))
    if type(delta.get("toolUse")) is dict and type(block.get("toolUse")) is dict:
        _concatenate(block["toolUse"], delta["toolUse"], ("input",))


def _continuation(events: list[dict[str, Any]], name: str) -> Json:
    """Return what a model said that goes on with a text, as those of Amazon and Meta do on Bedrock."""
    whole: dict[str, Any] = {}
    for event in events:
        whole |= event
    return whole | {name: "".join(event[name] for event in events if type(event.get(name)) is str)}


def _concatenate(held: dict[str, Any], given: Json, texts: tuple[str, ...]) -> None:
    """Take in the entries of ``given``, those that are pieces of a text joined to what is held."""
    for name, value in given.items() if type(given) is dict else ():
        if name in texts and type(value) is str and type(held.get(name)) is str:
            held[name] += value
        elif type(value) is not dict or name not in held:
            held[name] = dict(value) if type(value) is dict else value


def _dicts(items: Json) -> list[dict[str, Any]]:
    return [item for item in items if type(item) is dict] if type(items) is list else []


def _index(said: Json, default: int) -> int:
    return said if type(said) is int and 0 <= said < _INDEX else default
