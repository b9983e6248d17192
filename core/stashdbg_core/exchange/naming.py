"""What an HTTP exchange is called: a model call by its path and body, a JSON-RPC request, or a plain request.

Hosts do not count for model calls: proxies, gateways and local servers speak the same dialects. The input holds what
was asked and nothing that is secret, random, or about the connection, so that the same request has the same input.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import SplitResult, unquote, urlsplit

from stashdbg_core.canonical import Json
from stashdbg_core.exchange.bodies import body_tree
from stashdbg_core.exchange.headers import Headers
from stashdbg_core.redact.names import sensitive_query_kind

_MAX_KEY = 200
_GEMINI = re.compile(
    r"/(?:models|tunedModels|endpoints)/(?P<model>[^/:]+):(?P<verb>[a-zA-Z]+)\Z|/v1internal:(?P<inner>[a-zA-Z]+)\Z"
)
_GEMINI_VERBS = frozenset(
    {"generateContent", "streamGenerateContent", "embedContent", "batchEmbedContents", "rawPredict", "streamRawPredict"}
)
_BEDROCK = re.compile(
    r"/model/(?P<model>[^/]+(?:/[^/]+)*)/(?:invoke|converse|invoke-with-response-stream|converse-stream)\Z"
)
_AZURE = re.compile(r"/deployments/([^/]+)/")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_PATHS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("/chat/completions", ("messages",)),
    ("/completions", ("prompt",)),
    ("/responses", ("input", "prompt", "previous_response_id", "conversation")),
    ("/messages", ("messages",)),
    ("/complete", ("prompt",)),
    ("/embeddings", ("input", "prompt")),
    ("/embed", ("input", "inputs", "texts")),
    ("/chat", ("messages", "message")),
    ("/api/generate", ("prompt",)),
)
"""Ends of paths, and keys of which the body has one."""
_UNNAMED = frozenset({"/chat/completions", "/completions"})
"""Paths that mean a model even where nothing names one: a server that serves a single one."""
_LABELS = {"/embeddings": "embeddings", "/embed": "embeddings"}


@dataclass(frozen=True, slots=True)
class Named:
    """Which call an exchange is."""

    channel: str
    """``llm``, ``mcp`` or ``http``."""
    key: str
    input: Json
    label: str | None = None


def name_exchange(method: str, url: str, headers: Headers, body: bytes) -> Named:
    """Return what a request is called and its input.

    Args:
        method: The HTTP method.
        url: Absolute, or as far as it is known.
        headers: Of the request.
        body: Of the request; its content codings are undone if the headers name them.
    """
    place = _split(url)
    tree = body_tree(headers, body) if body else ""
    if method.upper() == "POST":
        model, label = _model_call(place, tree)
        if model is not None:
            return Named("llm", model[:_MAX_KEY], tree, label)
        rpc = _rpc_name(tree)
        if rpc is not None:
            return Named("mcp", f"{_server(place)}:{rpc}"[:_MAX_KEY], _rpc_input(tree))
    asked: dict[str, Json] = {"method": method.upper(), "url": safe_url(url), "body": tree}
    return Named("http", f"{method.upper()} {_host(place)}{place.path or '/'}"[:_MAX_KEY], asked)


def answered_model(tree: Json) -> str | None:
    """Return the model that an answer says it is of."""
    for name in ("model", "modelVersion", "model_version"):
        if type(tree) is dict and type(tree.get(name)) is str and tree[name]:
            return str(tree[name])[:_MAX_KEY]
    for name in ("response", "message"):
        inner = tree.get(name) if type(tree) is dict else None
        if type(inner) is dict and type(inner.get("model")) is str:
            return str(inner["model"])[:_MAX_KEY]
    return None


def safe_url(url: str) -> str:
    """Return a URL without user, password, fragment, and the query parameters whose names announce a secret."""
    place = _split(url)
    kept = "&".join(pair for pair in place.query.split("&") if pair and not _is_secret(unquote(pair.partition("=")[0])))
    return f"{place.scheme + '://' if place.scheme else ''}{_host(place)}{place.path}{'?' + kept if kept else ''}"


def _is_secret(name: str) -> bool:
    return name.lower() == "key" or sensitive_query_kind(name) is not None


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:  # a bracketed host that is no address
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        path, _, query = path.partition("?")
        return SplitResult(scheme, re.sub(r"[\[\]]", "", host), slash + path, query, "")


def _host(place: SplitResult) -> str:
    host = place.netloc.rpartition("@")[2].lower()
    port = _DEFAULT_PORTS.get(place.scheme)
    return host.removesuffix(f":{port}") if port is not None else host


def _server(place: SplitResult) -> str:
    return f"{_host(place)}{place.path.rstrip('/')}"


def _model_call(place: SplitResult, tree: Json) -> tuple[str | None, str | None]:
    """Return the model asked and a caption; no model if this is no model call."""
    path = place.path.rstrip("/")
    bedrock = _BEDROCK.search(path)
    if bedrock is not None:
        return unquote(bedrock["model"]), None
    if type(tree) is not dict or "jsonrpc" in tree:
        return None, None
    asked = tree.get("model")
    asked = asked if type(asked) is str and asked else None
    gemini = _GEMINI.search(path)
    if gemini is not None and (gemini["verb"] or gemini["inner"]) in _GEMINI_VERBS:
        caption = "embeddings" if "mbed" in (gemini["verb"] or "") else None
        return unquote(gemini["model"] or asked or "gemini"), caption
    for end, keys in _PATHS:
        if path.endswith(end) and any(key in tree for key in keys):
            deployment = _AZURE.search(path)
            agent = tree.get("agent_id")
            named = asked or (unquote(deployment[1]) if deployment is not None else None)
            named = named or (agent if type(agent) is str and agent else None)
            named = named or ("cohere" if "cohere" in place.netloc else None)
            named = named or ("default" if end in _UNNAMED else None)
            return named, _LABELS.get(end)
    return None, None


def _rpc_name(tree: Json) -> str | None:
    """Return what a JSON-RPC body asks for; None if it is none."""
    if type(tree) is list:
        named = [_rpc_name(item) for item in tree]
        if not named or None in named:
            return None
        return named[0] if len(named) == 1 else "batch"
    if type(tree) is not dict or tree.get("jsonrpc") != "2.0":
        return None
    method = tree.get("method")
    if type(method) is not str:
        return "response" if "result" in tree or "error" in tree else None
    params = tree.get("params")
    if method == "tools/call" and type(params) is dict and type(params.get("name")) is str:
        return str(params["name"])
    return method


def _rpc_input(tree: Json) -> Json:
    """Return a JSON-RPC request without its id, which only tells calls on one connection apart; a batch as it is."""
    if type(tree) is not dict:
        return tree
    return {name: value for name, value in tree.items() if name not in ("jsonrpc", "id")}
