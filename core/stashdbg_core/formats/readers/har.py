"""HTTP archives (HAR 1.2) of browsers, mitmproxy and Playwright, also as a ``.zip`` or with bodies in files beside.

Entries are read in order of time. Pictures, fonts, styles and scripts that a page loads stay events, without their
bodies.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import msgspec

from stashdbg_core.canonical import Json
from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.exchange.headers import header
from stashdbg_core.formats.exchanges import Exchange, ExchangeBuilder
from stashdbg_core.formats.format import Format, one_run
from stashdbg_core.formats.head import Head
from stashdbg_core.formats.shapes import object_of, objects_of
from stashdbg_core.formats.source import ForeignSource
from stashdbg_core.formats.times import epoch_ms
from stashdbg_core.formats.zip_members import ZIP_MAGICS, ZipMembers
from stashdbg_core.parse import BOM, parse_json
from stashdbg_core.sanitize import shorten

if TYPE_CHECKING:
    from stashdbg_core.formats.sink import RunSink

_ASSETS = ("image/", "font/", "video/", "audio/", "text/css", "text/javascript")
_MORE_ASSETS = ("application/javascript", "application/x-javascript", "application/font", "application/wasm")
_ENDING = ".har"
_UNKNOWN_TYPE = "x-unknown"
"""What browsers write where an answer had no type."""
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_Bodies = Callable[[str], "bytes | None"]
"""Gives the body that an archive keeps in a file of its own; raises StashError if it cannot be read."""


def detect(head: Head) -> bool:
    """Tell whether a file is an HTTP archive."""
    if any(name.endswith(_ENDING) for name in head.members):
        return True
    log = head.inside("log")
    return log is not None and "entries" in log


def read(source: ForeignSource, run: int, sink: RunSink) -> None:
    """Read an archive."""
    data, bodies = _archive(source)
    about, entries = _entries(data, source.name)
    sink.meta(creator=about.get("creator"), browser=about.get("browser"))
    sink.title(source.name)
    builder = ExchangeBuilder(sink)
    for entry in entries:
        _add(builder, sink, entry, bodies)


def _archive(source: ForeignSource) -> tuple[bytes, _Bodies]:
    """Return the text of an archive and where its bodies are."""
    if not source.head(4).startswith(ZIP_MAGICS):
        return source.data().removeprefix(BOM), lambda name: _beside(source, name)
    archive = ZipMembers(source)
    name = min(name for name in archive.members if name.endswith(_ENDING))
    return (archive.read(name) or b"").removeprefix(BOM), archive.read


def _beside(source: ForeignSource, name: str) -> bytes | None:
    found = source.beside(name)
    return found.data() if found is not None else None


def _entries(data: bytes, name: str) -> tuple[dict[str, Json], list[dict[str, Any]]]:
    """Return what an archive says of itself, and its entries in order of time."""
    try:
        raw = _decode(bytes(_decode(data)["log"]))
        listed: list[Json] = [parse_json(bytes(entry)) for entry in _decode_list(bytes(raw.pop("entries")))]
        about: dict[str, Json] = {key: parse_json(bytes(value)) for key, value in raw.items() if key != "pages"}
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, RecursionError):
        tree = parse_json(data)
        log = tree.get("log") if isinstance(tree, dict) else None
        if not isinstance(log, dict) or not isinstance(log.get("entries"), list):
            raise invalid_recording(f"{shorten(name, 200)} is an HTTP archive without a list of entries") from None
        about, listed = log, log["entries"]
    entries = [entry for entry in listed if isinstance(entry, dict)]
    times = [epoch_ms(entry.get("startedDateTime")) for entry in entries]
    if None not in times:
        order = sorted(range(len(entries)), key=lambda at: times[at] or 0.0)
        entries = [entries[at] for at in order]
    return about, entries


def _add(builder: ExchangeBuilder, sink: RunSink, entry: dict[str, Any], bodies: _Bodies) -> None:
    request, response = entry.get("request"), entry.get("response")
    if not isinstance(request, dict):
        sink.note("damaged-entry", "an entry has no request; it is left out")
        return
    response = object_of(response)
    content = object_of(response.get("content"))
    status = response.get("status")
    answered = type(status) is int and status > 0
    method = str(request.get("method") or "GET")
    cut: str | None = None
    if answered and method == "GET" and _is_asset(content):
        answer, cut = b"", "the body of a page's asset is left out"
        sink.skipped("bodies of assets")
    else:
        answer, cut = _content(content, bodies) if answered else (b"", None)
    messages = _socket_messages(entry, answer)
    if messages:
        answer, cut = json.dumps(messages).encode("utf-8", "replace"), None
    ms: Any = entry.get("time")
    headers = _headers(request)
    builder.add(
        Exchange(
            method,
            str(request.get("url") or ""),
            headers,
            _posted(request, bodies),
            status if answered else None,
            # The text of a content is decoded; what it was encoded with is history.
            [(name, value) for name, value in _headers(response) if name.lower() != "content-encoding"],
            answer,
            at=epoch_ms(entry.get("startedDateTime")),
            ms=float(ms) if type(ms) in (int, float) and ms >= 0 else None,
            error=None if answered else _failure(entry, response),
            cut=cut,
        )
    )


def _socket_messages(entry: dict[str, Any], answer: bytes) -> list[Json]:
    """Return the messages of a web socket: those of the entry, or of the lines that Playwright attaches."""
    messages = entry.get("_webSocketMessages")
    if isinstance(messages, list):
        return messages if not answer else []
    if entry.get("_resourceType") != "websocket" or not answer:
        return []
    try:
        return [parse_json(line) for line in answer.splitlines() if line.strip()]
    except StashError:
        return []


def _failure(entry: dict[str, Any], response: dict[str, Any]) -> Json:
    """Return why there was no answer, as Chrome, Playwright and others say it."""
    said = response.get("_error") or response.get("_failureText") or response.get("statusText")
    return said or ("aborted" if entry.get("_wasAborted") is True else "no response")


def _is_asset(content: dict[str, Any]) -> bool:
    kind = content.get("mimeType")
    return isinstance(kind, str) and kind.lower().startswith((*_ASSETS, *_MORE_ASSETS))


def _headers(part: dict[str, Any]) -> list[tuple[str, str]]:
    listed = part.get("headers")
    pairs = objects_of(listed)
    named = [(str(item.get("name", "")), str(item.get("value", ""))) for item in pairs]
    content = part.get("content")
    kind = content.get("mimeType") if isinstance(content, dict) else None
    if isinstance(kind, str) and kind not in ("", _UNKNOWN_TYPE) and not header(named, "content-type"):
        named.append(("content-type", kind))
    return named


def _content(content: dict[str, Any], bodies: _Bodies) -> tuple[bytes, str | None]:
    """Return a response's body, and what is missing of it."""
    text, name = content.get("text"), content.get("_file")
    if isinstance(name, str):
        return _from_file(name, bodies)
    if not isinstance(text, str):
        size = content.get("size")
        return b"", "the capture kept no body" if type(size) is int and size else None  # -1: of a size not known
    if content.get("encoding") == "base64":
        try:
            return base64.b64decode(text), None
        except (binascii.Error, ValueError):
            return text.encode("utf-8", "surrogatepass"), "its body is no base64"
    return text.encode("utf-8", "surrogatepass"), None


def _from_file(name: str, bodies: _Bodies) -> tuple[bytes, str | None]:
    """Return a body that is kept in a file of its own, and why it is missing."""
    try:
        found = bodies(name)
    except StashError as error:
        return b"", f"its body cannot be read: {error.message}"
    return (found, None) if found is not None else (b"", f"its body is in a file that is not there: {name}")


def _posted(request: dict[str, Any], bodies: _Bodies) -> bytes:
    posted = request.get("postData")
    if not isinstance(posted, dict):
        return b""
    text, name, params = posted.get("text"), posted.get("_file"), posted.get("params")
    if isinstance(name, str):
        return _from_file(name, bodies)[0]
    if isinstance(text, str) and text:
        if posted.get("encoding") == "base64" or posted.get("_encoding") == "base64":
            try:
                return base64.b64decode(text)
            except (binascii.Error, ValueError):
                pass
        return text.encode("utf-8", "surrogatepass")
    fields = objects_of(params)
    return urlencode([(str(item.get("name", "")), str(item.get("value", ""))) for item in fields]).encode()


FORMAT = Format(
    "har",
    "HTTP archive (HAR)",
    detect,
    one_run,
    read,
    exact=("requests and responses, status codes, times, model inputs and outputs",),
    inferred=("tool calls, from the results that a later request carries",),
    missing=("bodies that the capture left out", "pictures, fonts, styles and scripts of pages"),
)
