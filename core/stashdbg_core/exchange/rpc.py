"""A recorded JSON-RPC response made the answer to another request that asked the same.

``name_exchange`` leaves a request's id out of its input, for clients number their requests as they come. A client waits
for the id it sent, so the recorded answer has to carry that one.
"""

from __future__ import annotations

from typing import Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.sse import event_json
from stashdbg_core.parse import parse_json
from stashdbg_core.values.streams import is_stream


def addressed(tree: Json, request: bytes) -> Json:
    """Return a response tree whose JSON-RPC answer has the id of ``request``; as it is where either is no JSON-RPC.

    Args:
        tree: As ``response_tree`` makes it.
        request: Body of the request that is answered.
    """
    asked = _request_id(request)
    if asked is None or type(tree) is not dict:
        return tree
    body: Json = tree.get("body")
    if _is_answer(body):
        return {**tree, "body": {**body, "id": asked}}
    if not is_stream(body):
        return tree
    chunks = list(body["chunks"])
    for at, chunk in enumerate(chunks):
        found = event_json(chunk) if type(chunk) is str and '"jsonrpc"' in chunk else None
        if found is not None and _is_answer(found.tree):
            chunks[at] = found.text_with({**found.tree, "id": asked})
    return {**tree, "body": {**body, "chunks": chunks}}


def _request_id(request: bytes) -> Any:
    if b'"jsonrpc"' not in request:
        return None
    try:
        tree = parse_json(request)
    except StashError:
        return None
    asked = tree.get("id") if type(tree) is dict and "method" in tree else None
    return asked if type(asked) in (int, str) else None


def _is_answer(tree: Json) -> bool:
    """Tell whether a tree is the answer to one request."""
    return (
        type(tree) is dict
        and tree.get("jsonrpc") == "2.0"
        and "method" not in tree
        and tree.get("id") is not None
        and ("result" in tree or "error" in tree)
    )
