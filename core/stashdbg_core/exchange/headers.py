"""Headers of an exchange, whichever way a source spells them, and the ones that a recording keeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

Headers: TypeAlias = Mapping[str, "str | Iterable[str]"] | Iterable[tuple[str, str]]
"""Names to one or several values, or pairs as they stood on the wire."""

_HOP_BY_HOP = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "trailers", "transfer-encoding", "upgrade",
})  # fmt: skip
_OF_THE_BODY = frozenset({"content-encoding", "content-length"})
"""True of the bytes on the wire, not of the body as it is kept."""
_SECRET = frozenset({
    "authorization", "cookie", "set-cookie", "set-cookie2", "x-api-key", "api-key", "x-goog-api-key",
    "x-amz-security-token",
})  # fmt: skip


def header_pairs(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield names in lower case with each of their values; entries that are no text are left out."""
    for name, value in headers.items() if isinstance(headers, Mapping) else headers:
        if not isinstance(name, str):
            continue
        for one in (value,) if isinstance(value, str) else value if isinstance(value, Iterable) else ():
            if isinstance(one, str):
                yield name.lower(), one


def header(headers: Headers, name: str) -> str:
    """Return a header's values, joined by commas; empty if it is not there."""
    return ", ".join(value for found, value in header_pairs(headers) if found == name)


def kept_headers(headers: Headers) -> dict[str, str]:
    """Return the headers that say something about a response and hold no secret; repeated ones joined by commas."""
    pairs = list(header_pairs(headers))
    named = {word.strip().lower() for name, value in pairs if name == "connection" for word in value.split(",")}
    left_out = _HOP_BY_HOP | _OF_THE_BODY | _SECRET | named
    kept: dict[str, str] = {}
    for name, value in pairs:
        if name not in left_out and not name.startswith(":"):
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return kept
