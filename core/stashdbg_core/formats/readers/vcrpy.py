"""Cassettes of vcrpy and pytest-recording, in YAML or JSON, also those with ``parsed_body`` as pydantic-ai writes them.

YAML is read by libyaml's safe loader. Of Python's own tags the text and tuple ones are read as what they hold; any
other would make an object, and the file is refused. Nothing is imported or run.
"""

from __future__ import annotations

import base64
import json
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from stashdbg_core.canonical import Json
from stashdbg_core.errors import invalid_recording
from stashdbg_core.exchange.headers import Headers, header
from stashdbg_core.formats.exchanges import Exchange, ExchangeBuilder
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.sanitize import shorten

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

_YAML = re.compile(rb"(?:\A|\n)interactions:[ \t]*(?:#[^\n]*)?\r?\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*- ")
_HARMLESS = {
    "unicode": "str",
    "str": "str",
    "tuple": "seq",
    "none": "null",
    "bool": "bool",
    "int": "int",
    "float": "float",
}
_MAX_PARTS = 20_000_000
"""Values of a cassette, aliases written out."""
_REQUEST = {"method", "uri", "body", "headers", "parsed_body"}
_RESPONSE = {"status", "headers", "body", "parsed_body", "status_code", "content", "http_version"}


def detect(head: Head) -> bool:
    """Tell whether a file is a cassette."""
    if head.top is not None:
        return "interactions" in head.top and ("version" in head.top or "recorded_with" in head.top)
    return _YAML.search(head.data) is not None


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read a cassette; interactions stand in the order in which they ended."""
    cassette = _cassette(source)
    interactions = cassette.get("interactions") if isinstance(cassette, dict) else None
    if not isinstance(interactions, list):
        raise invalid_recording(f"{shorten(source.name, 200)} is a cassette without a list of interactions")
    sink.title(source.name)
    builder = ExchangeBuilder(sink)
    for number, interaction in enumerate(interactions, 1):
        exchange = _exchange(interaction, sink)
        if exchange is None:
            sink.note("damaged-interaction", f"interaction {number} has no request and response; it is left out")
        else:
            builder.add(exchange)


def _cassette(source: ForeignSource) -> Json:
    if source.head(4096).lstrip()[:1] == b"{":
        return source.json()
    return yaml_tree(source.data(), source.name)


def yaml_tree(data: bytes, name: str) -> Json:
    """Return what a YAML text holds, by the safe loader.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it is no YAML, holds objects, or no YAML package is installed.
    """
    try:
        import yaml
    except ImportError:
        raise invalid_recording(
            f"{shorten(name, 200)} is YAML, which needs the package PyYAML", hint='pip install "stashdbg[formats]"'
        ) from None
    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("_Loader", (base,), {})
    for word, kind in _HARMLESS.items():
        loader.add_constructor(f"tag:yaml.org,2002:python/{word}", base.yaml_constructors[f"tag:yaml.org,2002:{kind}"])
    try:
        tree = yaml.load(data, loader)  # a safe loader with safe constructors
    except yaml.constructor.ConstructorError as error:
        raise invalid_recording(
            f"{shorten(name, 200)} holds what is no plain data{_place(error)}: {shorten(str(error.problem), 120)}",
            hint="only plain YAML is read, for objects in a file could run code",
        ) from None
    except yaml.YAMLError as error:
        why = shorten(str(getattr(error, "problem", None) or error), 120)
        raise invalid_recording(f"{shorten(name, 200)} is no YAML{_place(error)}: {why}") from None
    except (RecursionError, ValueError) as error:
        raise invalid_recording(f"{shorten(name, 200)} cannot be read: {type(error).__name__}") from None
    if b"*" in data and _repeats_too_much(tree):
        raise invalid_recording(
            f"{shorten(name, 200)} repeats itself by aliases beyond any use", hint="it may be hostile"
        )
    return tree


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" in line {mark.line + 1}" if mark is not None else ""


def _repeats_too_much(tree: Json) -> bool:
    """Tell whether a tree, its aliases written out, has more than ``_MAX_PARTS`` parts, or holds itself."""
    sizes: dict[int, int] = {}
    pending: list[tuple[Any, bool]] = [(tree, False)]
    open_boxes: set[int] = set()
    while pending:
        node, done = pending.pop()
        if not isinstance(node, dict | list) or (not done and id(node) in sizes):
            continue
        items = list(node.values()) if isinstance(node, dict) else node
        if done:
            open_boxes.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes.get(id(item), 1) for item in items)
            if sizes[id(node)] > _MAX_PARTS:
                return True
        elif id(node) in open_boxes:
            return True
        else:
            open_boxes.add(id(node))
            pending.append((node, True))
            pending += [(item, False) for item in items if isinstance(item, dict | list)]
    return False


def _exchange(interaction: Json, sink: RunSink) -> Exchange | None:
    request = interaction.get("request") if isinstance(interaction, dict) else None
    response = interaction.get("response") if isinstance(interaction, dict) else None
    if not isinstance(request, dict) or not isinstance(response, dict):
        return None
    for what, holder, known in (("request", request, _REQUEST), ("response", response, _RESPONSE)):
        for name in holder.keys() - known:
            sink.unknown(f"field {what}.{name}")
    headers, answered = _headers(request.get("headers")), _headers(response.get("headers"))
    status = response.get("status")
    code = status.get("code") if isinstance(status, dict) else response.get("status_code", status)
    date = header(answered, "date")
    return Exchange(
        str(request.get("method") or "GET"),
        str(request.get("uri") or ""),
        headers,
        _body(request),
        code if type(code) is int else None,
        answered,
        _body(response),
        at=epoch_ms(interaction.get("recorded_at")) or _http_date(date),
        cut=None if type(code) is int else "the response has no status",
    )


def _headers(headers: Json) -> Headers:
    if not isinstance(headers, dict):
        return ()
    listed = ((str(name), value if isinstance(value, list | tuple) else [value]) for name, value in headers.items())
    return [(name, _text(value)) for name, values in listed for value in values]


def _text(value: Any) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _body(part: dict[str, Any]) -> bytes:
    """Return the body of a request or response, in whichever of the dialects it stands."""
    body = part.get("body", part.get("content"))
    if "parsed_body" in part and body is None:
        return _spelled(part["parsed_body"])
    if isinstance(body, dict):
        if "string" in body:
            body = body["string"]
        elif "base64_string" in body and isinstance(body["base64_string"], str):
            return base64.b64decode(body["base64_string"])
    if isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    return b"" if body is None else _spelled(body)


def _spelled(tree: Json) -> bytes:
    if isinstance(tree, str):
        return tree.encode("utf-8", "surrogatepass")
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "surrogatepass")


def _http_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp() * 1000


FORMAT = Format(
    "vcrpy",
    "vcrpy cassette",
    detect,
    one_run,
    read,
    exact=("requests and responses, status codes, model inputs and outputs",),
    inferred=("tool calls, from the results that a later request carries",),
    missing=("when a request was made, beyond the second in a response's date", "how long it took"),
)
