"""Headers of an exchange, whichever way a source spells them, and the ones that a recording keeps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
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
    "authorization", "cookie", "set-cookie2", "x-api-key", "api-key", "x-goog-api-key",
    "x-amz-security-token",
})  # fmt: skip
SET_COOKIE = "set-cookie"
_MASKED_COOKIE = "[REDACTED:cookie]"
_ATTRIBUTE = re.compile(
    r"(?:path|domain|max-age|samesite|expires)=[^;]{0,200}|secure|httponly|partitioned", re.IGNORECASE
)


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


def kept_headers(headers: Headers) -> dict[str, str | list[str]]:
    """Return the headers that say something about a response and hold no secret.

    Repeated ones are joined by commas; cookies, which commas do not tell apart, are a list, and have no values.
    """
    pairs = list(header_pairs(headers))
    named = {word.strip().lower() for name, value in pairs if name == "connection" for word in value.split(",")}
    left_out = _HOP_BY_HOP | _OF_THE_BODY | _SECRET | named
    kept: dict[str, str] = {}
    for name, value in pairs:
        if name not in left_out and name != SET_COOKIE and not name.startswith(":"):
            kept[name] = f"{kept[name]}, {value}" if name in kept else value
    cookies = [_masked_cookie(value, kept.get("date", "")) for name, value in pairs if name == SET_COOKIE]
    return {**kept, **({SET_COOKIE: cookies[0] if len(cookies) == 1 else [*cookies]} if cookies else {})}


def _masked_cookie(value: str, date: str) -> str:
    """Return a cookie that is set, with its name and attributes; one that was fresh never goes stale."""
    pair, *attributes = [part.strip() for part in value.split(";")]
    name, equals, secret = pair.partition("=")
    kept = [part for part in attributes if _ATTRIBUTE.fullmatch(part) and not _is_to_come(part, date)]
    masked = f"{name}={_MASKED_COOKIE if secret else ''}" if equals else _MASKED_COOKIE
    return "; ".join([masked, *kept])


def _is_to_come(attribute: str, date: str) -> bool:
    """Tell whether a cookie expires later than it was set: a replay may run after that."""
    name, _, when = attribute.partition("=")
    if name.lower() != "expires":
        return False
    now, end = _moment(date) or datetime.now(UTC), _moment(when)
    return end is not None and end > now


def _moment(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime

    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
