"""Binary content that a format writes as base64 text within its JSON: kept once, beside what says what it is."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from stashdbg_core import tags
from stashdbg_core.canonical import Json

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?((?:;[\w.+-]+=[^;,]{0,100})*)(;base64)?,", re.IGNORECASE)


class Tagged(dict[str, Any]):
    """A tag of our own (``stashdbg_core.tags``) in a tree of a foreign file, where the same keys would be data."""


def image(mime: str, base64_text: str) -> Json:
    """Return what stands for binary content: its type, size and digest, and the bytes, which are stored once.

    Text that is no base64 stays as it is.
    """
    try:
        data = base64.b64decode(base64_text, validate=False)
    except (binascii.Error, ValueError):
        return {"mime": mime, "data": base64_text}
    return binary(mime, data)


def binary(mime: str, data: bytes) -> Json:
    """Return what stands for bytes; see ``image``."""
    text = base64.b64encode(data).decode("ascii")
    return {
        "mime": mime,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "data": Tagged({tags.TAG: tags.BYTES, "base64": text}),
    }


def data_url(text: str) -> Json | None:
    """Return what stands for the content of a ``data:`` URL, or None if the text is none."""
    if not text.startswith(("data:", "DATA:")):
        return None
    found = _DATA_URL.match(text)
    if found is None:
        return None
    mime = (found.group(1) or "text/plain").lower()
    body = text[found.end() :]
    return image(mime, body) if found.group(3) else binary(mime, unquote_to_bytes(body))
