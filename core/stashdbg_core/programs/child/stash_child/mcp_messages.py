"""The messages of MCP as calls: how a request is named, what is its input, how an answer is a message again."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Dict

from . import calls

CHANNEL = "mcp"
HANDSHAKE = ("initialize", "server/discover")
_NOT_INPUT = ("progressToken", "traceparent", "tracestate", "baggage")
_OF_THE_PROTOCOL = "io.modelcontextprotocol/"


class Server:
    """What is known of a server: its name, provisional until it has introduced itself, and how it is reached."""

    def __init__(self, name: str, place: Dict[str, Any]) -> None:
        self.name = name
        self.place = place

    def introduced(self, result: Any) -> None:
        """Take the name that the server gives itself when it answers the handshake."""
        if isinstance(result, dict):
            meta = result.get("_meta") if isinstance(result.get("_meta"), dict) else {}
            info = result.get("serverInfo") or (meta or {}).get(_OF_THE_PROTOCOL + "serverInfo")
            if isinstance(info, dict) and isinstance(info.get("name"), str) and info["name"]:
                self.name = info["name"]


def begin(server: Server, message: Dict[str, Any]) -> Any:
    """Announce a request of the client."""
    method = str(message.get("method"))
    given = message.get("params")
    params: Dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    meta = params.pop("_meta", None)
    kept = {key: part for key, part in meta.items() if not _is_noise(key)} if isinstance(meta, dict) else {}
    if kept:
        params["_meta"] = kept
    key = method
    if method == "tools/call" and isinstance(params.get("name"), str):
        key = params.pop("name")
    if method in HANDSHAKE:
        params["server"] = server.place
    return calls.begin_call(CHANNEL, "{}:{}".format(server.name, key), calls.plain(params))


def _is_noise(key: Any) -> bool:
    return key in _NOT_INPUT or str(key).startswith(_OF_THE_PROTOCOL)


def as_dict(item: Any) -> Dict[str, Any]:
    """Return the JSON-RPC message of what a transport carries; empty for an exception."""
    message = getattr(item, "message", item)
    message = getattr(message, "root", message)
    dump = getattr(message, "model_dump", None)
    found = dump(by_alias=True, mode="json", exclude_unset=True) if dump is not None else {}
    return found if isinstance(found, dict) else {}


def as_item(message: Dict[str, Any]) -> Any:
    """Return a JSON-RPC message as transports carry it, in whichever version of the package."""
    types = import_module("mcp.types")
    adapter = getattr(types, "jsonrpc_message_adapter", None)
    made = adapter.validate_python(message) if adapter is not None else types.JSONRPCMessage.model_validate(message)
    try:
        shared: Any = import_module("mcp.shared.message")
    except ImportError:  # before 1.8 transports carried the bare messages
        return made
    return shared.SessionMessage(made)


def error_tree(error: Any) -> Dict[str, Any]:
    """Return the error of a JSON-RPC answer as the tree of the exception that clients make of it."""
    found = error if isinstance(error, dict) else {}
    text = str(found.get("message", ""))
    attributes = {"code": found.get("code", 0), "data": calls.plain(found.get("data"))}
    return {"$stash": "exception", "class": "mcp:McpError", "text": text, "args": [text], "attributes": attributes}


def error_of(tree: Any) -> Dict[str, Any]:
    """Return an exception as the error of a JSON-RPC answer."""
    found = tree if isinstance(tree, dict) else {}
    attributes = found.get("attributes") if isinstance(found.get("attributes"), dict) else {}
    code = (attributes or {}).get("code")
    error = {"code": code if isinstance(code, int) else -32603, "message": str(calls.untree(found.get("text", "")))}
    data = calls.untree((attributes or {}).get("data"))
    return error if data is None else {**error, "data": data}


def renumbered(message: Dict[str, Any], request: Dict[str, Any]) -> Dict[str, Any]:
    """Return a message about the progress of a request with the token that it has in this run."""
    params = message.get("params")
    asked = (request.get("params") or {}).get("_meta") or {}
    if isinstance(params, dict) and "progressToken" in params and "progressToken" in asked:
        return {**message, "params": {**params, "progressToken": asked["progressToken"]}}
    return message
