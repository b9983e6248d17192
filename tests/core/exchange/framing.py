"""AWS event streams made by hand, as their specification says."""

from __future__ import annotations

import base64
import json
import struct
from binascii import crc32


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """Return a frame, encoded as the specification says."""
    head = b"".join(
        struct.pack("!B", len(k)) + k.encode() + b"\x07" + struct.pack("!H", len(v)) + v.encode()
        for k, v in headers.items()
    )
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return message + struct.pack("!I", crc32(message))


def event(name: str, payload: bytes, kind: str = "event") -> bytes:
    return frame({f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}, payload)


def compact(tree: object) -> bytes:
    return json.dumps(tree, separators=(",", ":"), ensure_ascii=False).encode()


def stream(*events: dict[str, object]) -> bytes:
    return b"".join(event(name, compact(payload)) for one in events for name, payload in one.items())


def chunk(said: object, **more: object) -> bytes:
    inner = base64.b64encode(compact(said)).decode()
    return event("chunk", compact({"bytes": inner, **more}))
