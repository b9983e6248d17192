"""Texts that hold JSON, as text or in base64: masked inside, they stay what they are."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from typing import Final

from stashdbg_core.canonical import Json, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.parse import parse_json

MAX_NESTING: Final = 6
"""JSON in a text in JSON in a text …: deeper texts are searched as running text."""

_INDENT = re.compile(r"[\[{]\r?\n([ \t]*)")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""No UTF-8 holds one: it stands as an escape."""
_BASE64_JSON = re.compile(r"(?:eyJ|W3si|ewog|eyAi)[A-Za-z0-9_-]{13,}[A-Za-z0-9+/_-]*={0,2}")


def mask_json_text(text: str, mask: Callable[[Json], Json]) -> str | None:
    """Return a JSON text with its tree masked, spelled the way it was; None for no object or list."""
    body = text.strip(" \t\r\n")
    if body[:1] + body[-1:] not in ("{}", "[]"):
        return None
    try:
        tree = parse_json(body.encode("utf-8", "surrogatepass"))
    except StashError:
        return None
    if type(tree) not in (dict, list):
        return None
    masked = mask(tree)
    if masked is tree:
        return text
    start = text.index(body[0])
    return text[:start] + _spelled_like(body, masked) + text[start + len(body) :]


def mask_base64_json(text: str, mask: Callable[[str], str]) -> str | None:
    """Return base64 of JSON with the JSON masked; None if ``text`` is nothing of the kind."""
    if _BASE64_JSON.fullmatch(text) is None:
        return None
    url_safe = "-" in text or "_" in text
    plain = text.translate(str.maketrans("-_", "+/")) + "=" * (-len(text) % 4)
    try:
        decoded = base64.b64decode(plain, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None
    masked = mask(decoded)
    if masked == decoded:
        return text
    data = masked.encode("utf-8", "surrogatepass")
    encoded = (base64.urlsafe_b64encode(data) if url_safe else base64.b64encode(data)).decode("ascii")
    return encoded if text.endswith("=") or len(text) % 4 == 0 else encoded.rstrip("=")


def _spelled_like(body: str, tree: Json) -> str:
    """Write ``tree`` with the white space of ``body``; compactly where Python's writer could not spell it."""
    compact = stored_form(tree).decode("utf-8")
    indent = _INDENT.match(body)
    if indent is None and '": ' not in body:
        return compact
    try:
        spelled = json.dumps(
            json.loads(compact),
            indent=indent[1] if indent else None,
            separators=(", " if not indent and ", " in body else ",", ": " if '": ' in body else ":"),
            ensure_ascii=body.isascii(),
            allow_nan=False,
        )
    except (ValueError, RecursionError):
        return compact
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", spelled)
