"""What of an exchange says only when it was made and which one it was: its *envelope*.

Every answer of a live service has a date, a request's id, a time taken and a quota left, and a model names its message
and each call of a tool anew. None of that is what was said. Ids are told apart by where they first stand, so that a
result that names another call is another content. What a person wrote, such as the arguments of a tool, is never part.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stashdbg_core.calls import MODEL_CHANNELS
from stashdbg_core.canonical import Json
from stashdbg_core.diff.structure import Path, path_parts
from stashdbg_core.exchange.joined import joined_message
from stashdbg_core.exchange.shape import is_response

_SAID: Final = MODEL_CHANNELS | {"user"}
"""Channels of messages to and from a model."""

_HEADERS = frozenset({
    "date", "age", "expires", "x-accel-expires", "via", "server-timing", "traceparent", "tracestate",
    "request-id", "x-request-id", "x-requestid", "x-correlation-id", "x-trace-id", "x-debug-trace-id", "trace-id",
    "x-datadog-trace-id", "x-b3-traceid", "x-cloud-trace-context", "x-client-request-id",
    "openai-processing-ms", "x-envoy-upstream-service-time", "x-runtime", "x-response-time", "x-process-time",
    "x-inference-time", "x-compute-time", "x-timer", "x-served-by", "x-cache-hits",
    "cf-ray", "x-vercel-id", "fly-request-id", "x-github-request-id", "apim-request-id", "x-ms-request-id",
    "x-ms-client-request-id", "x-amzn-requestid", "x-amzn-trace-id", "x-amz-request-id", "x-amz-id-2", "x-amz-cf-id",
    "x-amzn-bedrock-invocation-latency", "x-trial-endpoint-call-remaining", "report-to", "nel",
})  # fmt: skip
_QUOTA = ("x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit", "anthropic-ratelimit-")
_ID_KEYS = frozenset({
    "tool_call_id", "call_id", "tool_use_id", "previous_response_id", "response_id", "responseId", "item_id",
    "turn_id", "id",
})  # fmt: skip
_SPACES = "spelling"
"""How the JSON of a response's body was spaced."""
_NAMED = frozenset({
    "function", "tool_call", "tool_use", "server_tool_use", "mcp_tool_use", "function_call", "function_call_output",
    "custom_tool_call", "message", "reasoning", "web_search_call", "file_search_call", "code_interpreter_call",
    "computer_call", "image_generation_call", "mcp_call",
})  # fmt: skip
"""Types of objects whose ``id`` a provider makes up."""
_TIMES = frozenset({
    "created", "created_at", "completed_at", "create_time", "createTime",
    "total_duration", "load_duration", "prompt_eval_duration", "eval_duration",
})  # fmt: skip
_TIMED = frozenset({"object", "candidates", "done", "turn_id"})
"""Members of objects in which those are times: of OpenAI, Gemini, Ollama and Codex."""
_FIELDS = _TIMES | _ID_KEYS
_WRITTEN = frozenset({"tools", "functions", "arguments", "args"})
"""What a person or a model wrote, whatever its keys are called."""


def without_envelope(channel: str, tree: Json) -> Json:
    """Return what an input or a value says, its envelope apart; a streamed answer as the message that it spelled."""
    if not _has_envelope(channel, tree):
        return tree
    spelled = spelled_message(channel, tree)
    tree = tree if spelled is None else spelled
    found = list(_places(channel, tree))
    if not found:
        return tree
    copies: dict[int, Any] = {id(None): dict(tree)}
    names: dict[str, str] = {}
    for path, key, item in found:
        holder = _copied(copies, path)
        if key in _ID_KEYS:
            holder[key] = names.setdefault(item, f"#{len(names)}")
        else:
            del holder[key]
    return copies[id(None)]


def spelled_message(channel: str, tree: Json) -> Json | None:
    """Return a model's streamed answer with the message that it spelled in place of its chunks; None for any other."""
    if channel not in _SAID or type(tree) is not dict:
        return None
    part = "body" if is_response(tree) else "chunks"
    message = joined_message(tree["body"] if part == "body" else tree)
    return None if message is None else {**tree, part: message}


def envelope_paths(channel: str, tree: Json) -> frozenset[tuple[str | int, ...]]:
    """Return where in an input or a value its envelope stands."""
    if not _has_envelope(channel, tree):
        return frozenset()
    return frozenset((*path_parts(path), key) for path, key, _ in _places(channel, tree))


def _has_envelope(channel: str, tree: Json) -> bool:
    return type(tree) is dict and (channel in _SAID or is_response(tree))


def _places(channel: str, tree: Json) -> Iterator[tuple[Path, str, Any]]:
    """Yield where the object of each field of an envelope stands, its key and its value."""
    pending: list[tuple[Any, Path]] = [(tree, None)]
    if is_response(tree):
        assert isinstance(tree, dict)
        headers: Any = tree.get("headers", {})
        path: Path = (None, "headers")
        yield from ((path, name, headers[name]) for name in headers if _is_measured_header(name))
        if _SPACES in tree:
            yield None, _SPACES, tree[_SPACES]
        pending = [(tree["body"], (None, "body"))]
    if channel not in _SAID:
        return
    while pending:
        node, path = pending.pop()
        if type(node) is list:
            pending += [(item, (path, at)) for at, item in enumerate(node) if type(item) is dict or type(item) is list]
        elif type(node) is dict:
            for key, item in node.items():
                if type(item) is dict or type(item) is list:
                    if key not in _WRITTEN and not (key == "input" and "id" in node):
                        pending.append((item, (path, key)))
                elif key in _FIELDS and _is_measured(node, key, item):
                    yield path, key, item


def _is_measured_header(name: str) -> bool:
    return name.lower() in _HEADERS or name.lower().startswith(_QUOTA)


def _is_measured(node: dict[str, Any], key: str, item: Json) -> bool:
    """Tell whether a field of an object in a model call, named as one of an envelope, is one."""
    if key in _TIMES:
        return not _TIMED.isdisjoint(node)
    if type(item) is not str:
        return False
    kind = node.get("type")
    return key != "id" or "object" in node or (type(kind) is str and kind in _NAMED)


def _copied(copies: dict[int, Any], path: Path) -> Any:
    """Return the copy of what stands at a path, made with all around it if there is none."""
    missing: list[tuple[Path, str | int]] = []
    while id(path) not in copies:
        assert path is not None
        missing.append(path)
        path = path[0]
    node = copies[id(path)]
    for step in reversed(missing):
        node[step[1]] = copies[id(step)] = node[step[1]].copy()
        node = node[step[1]]
    return node
