"""What a file that is no recording looks like, in one line."""

from __future__ import annotations

import re

from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.model import FORMAT_VERSION
from stashdbg_core.parse import BOM, parse_json
from stashdbg_core.sanitize import shorten
from stashdbg_core.store.index import Found
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.scan import ScanStop, skip_space, skip_value

_EXPECTED = 'a recording is a JSON object that begins with "version": 1'
_SQLITE = b"SQLite format 3\0"
_SQLITE_HEADER = 100
_MAGIC = [
    (b"PK\x03\x04", "a zip archive"), (b"PK\x05\x06", "an empty zip archive"), (_SQLITE, "an SQLite database"),
    (b"\x89PNG", "a picture"), (b"\xff\xd8\xff", "a picture"), (b"GIF8", "a picture"), (b"%PDF", "a PDF document"),
    (b"\x7fELF", "a program"), (b"#!", "a script"),
    (b"<", "HTML or XML"), (b"---", "YAML"),
]  # fmt: skip
_PACKED = [
    (b"\x28\xb5\x2f\xfd", "zstandard", "zstd -d"), (b"\x1f\x8b", "gzip", "gunzip"),
    (b"\xfd7zXZ\0", "xz", "unxz"), (b"BZh", "bzip2", "bunzip2"),
]  # fmt: skip
"""Magic, name and unpacker of what a whole file may be compressed with."""
_FOREIGN = {
    "resourceSpans": "an OpenTelemetry trace", "log": "an HTTP archive", "interactions": "an HTTP cassette",
    "trajectory": "an agent trajectory", "messages": "a list of chat messages", "sessionId": "an agent's session log",
    "parentUuid": "an agent's session log", "commitLog": "an agentfootprint recording", "spans": "a trace",
    "schema_version": "an agent trajectory", "eval": "an Inspect log", "jsonrpc": "a JSON-RPC log",
}  # fmt: skip
_SOURCE_CODE = re.compile(rb"(?m)^(?:import |from \S+ import |def |class |#include|package |const |function )")
_NEXT_LINE = re.compile(rb"[ \t]*\r?\n\s*(?=[\[{])")


def refuse_content(head: bytes, name: str, size: int) -> None:
    """Refuse a file whose first bytes cannot be a JSON object's.

    Args:
        head: The first bytes.
        name: Of the file.
        size: Bytes of the whole file.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``, saying what it looks like.
    """
    body = head.removeprefix(BOM).lstrip(b" \t\r\n")
    if body[:1] == b"{" and b"\0" not in body[:4]:
        return
    if not body:
        raise _no_recording(name, "is empty" if not head else "holds only white space")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _utf16(name)
    if head.startswith(_SQLITE) and size < (whole := _database_size(head)):
        raise invalid_recording(
            f"{name} is an SQLite database that is cut off: {size:,} of {whole:,} bytes are there",
            hint="copy it again, whole, or let sqlite3 FILE .recover rescue what is left",
        )
    for magic, what, unpacker in _PACKED:
        if head.startswith(magic):
            message = f"{name} looks like {what}-compressed data, not a version-1 recording"
            raise invalid_recording(message, hint=f"unpack it first, with {unpacker}")
    for magic, what in _MAGIC:
        if head.startswith(magic):
            raise _no_recording(name, f"looks like {what}")
    if b"\0" in body[:2] and body[:4].strip(b"\0"):
        raise _utf16(name)
    if b"\0" in body[:1000]:
        raise _no_recording(name, "looks like binary data")
    if body.startswith((b'"""', b"'''")):
        raise _no_recording(name, "looks like source code")
    kinds = {b"[": "a JSON list", b'"': "a JSON string"}
    if body[:1] in kinds:
        raise _no_recording(name, f"looks like {kinds[body[:1]]}")
    if _SOURCE_CODE.search(body):
        raise _no_recording(name, "looks like source code")
    if body.split(maxsplit=1)[0].rstrip(b",") in (b"null", b"true", b"false") or body[:1].isdigit():
        raise _no_recording(name, "looks like a bare JSON value")
    raise _no_recording(name, "is not JSON")


def refuse_top(data: bytes, name: str) -> None:
    """Refuse JSON objects one after the other, which is some other tool's log."""
    start = skip_space(data, len(BOM) if data.startswith(BOM) else 0)
    try:
        end = skip_value(data, start, Limits(depth=10_000))
    except (ScanStop, StashError):
        return
    if _NEXT_LINE.match(data, end):
        keys = _top_keys(data[start:end])
        what = next((f", {_FOREIGN[key]} perhaps" for key in keys if key in _FOREIGN), "")
        if "events" not in keys:
            raise _no_recording(name, f"looks like JSON lines{what}")


def refuse_version(found: Found, name: str) -> None:
    """Refuse another version of the format, and objects that are no recording at all."""
    raw = found.top.get("version")
    truncated = any(note.kind == "truncated" for note in found.notes.notes())
    if raw is None:
        keys = list(found.top)
        if truncated and (len(found.events) or len(found.blobs)):
            found.notes.add("no-version", "the file does not say its version any more")
            return
        if not keys and not len(found.events):
            what = "is cut off before its first event" if truncated else "is a JSON object without version and events"
            raise _no_recording(name, what)
        foreign = next((_FOREIGN[key] for key in keys if key in _FOREIGN), None)
        raise _no_recording(name, f"looks like {foreign}" if foreign else f"is {_object_of(keys)} without a version")
    if raw == b"1":
        if not found.has_events and not len(found.blobs):
            raise _no_recording(
                name, "is cut off before its first event" if truncated else "has a version but no events"
            )
        return
    if not found.has_events and not len(found.blobs):
        raise _no_recording(name, f"is {_object_of(list(found.top))}")
    try:
        version = parse_json(raw)
    except StashError:
        raise _no_recording(name, f"has the version {shorten(raw.decode('utf-8', 'replace'), 40)}") from None
    if type(version) is int and version > FORMAT_VERSION:
        raise invalid_recording(
            f"{name} was made by a newer format ({version if version < 10**9 else 'a huge number'}); "
            f"this build reads {FORMAT_VERSION}",
            hint="upgrade stashdbg",
        )
    shown = shorten(raw.decode("utf-8", "replace"), 40)
    raise invalid_recording(
        f"{name} has version {shown}; this build reads the number {FORMAT_VERSION}",
        hint=f'write "version": {FORMAT_VERSION} if you are sure that it is a version-{FORMAT_VERSION} recording',
    )


def _database_size(head: bytes) -> int:
    """Return how many bytes an SQLite database has by its header (https://www.sqlite.org/fileformat.html, 1.3)."""
    page, pages = int.from_bytes(head[16:18], "big"), int.from_bytes(head[28:32], "big")
    return max(_SQLITE_HEADER, (page if page > 1 else 1 << 16) * pages)


def _object_of(keys: list[str]) -> str:
    shown = ", ".join(shorten(key, 30) for key in keys[:6])
    return f"a JSON object ({'keys: ' if len(keys) > 1 else 'key: '}{shown}{', …' if len(keys) > 6 else ''})"


def _top_keys(raw: bytes) -> list[str]:
    try:
        tree = parse_json(raw)
    except StashError:
        return []
    return list(tree) if isinstance(tree, dict) else []


def _utf16(name: str) -> StashError:
    return invalid_recording(f"{name} is UTF-16 text from byte 0 on; a recording is UTF-8", hint="save it as UTF-8")


def _no_recording(name: str, what: str) -> StashError:
    return invalid_recording(f"{name} {what}, not a version-1 recording", hint=_EXPECTED)
