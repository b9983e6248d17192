"""AWS event streams (``application/vnd.amazon.eventstream``) as texts, as other streams are: a frame, a text.

A frame of Bedrock is an event with a JSON payload. Its text is an object with the event's name and the payload, spelled
as it was: ``{"contentBlockDelta":{"delta":{"text":"Hi"}}}``. What a model of another provider said, which stands as
base64 in the payload of a ``chunk``, stands as the JSON it is. ``frame_bytes`` gives back the very frame; one of which
that is not true, and all that follows a damaged one, stays bytes.

The encoding: https://smithy.io/2.0/aws/amazon-eventstream.html
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from zlib import crc32

import msgspec

EVENT_STREAM = "application/vnd.amazon.eventstream"
_PRELUDE = struct.Struct("!III")
_CHECKSUM = struct.Struct("!I")
_STRING = 7
_LONGEST_HEADERS = 128 * 1024
_LONGEST_PAYLOAD = 24 * 1024 * 1024
_EXCEPTION = "Exception"
_JSON = "application/json"
_NAME = re.compile(r'\{"([A-Za-z][A-Za-z0-9-]{0,99})":')
_CHUNK = "chunk"
_BYTES = re.compile(rb'"bytes":"([A-Za-z0-9+/=]*)"')
_decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def frame_chunks(body: bytes) -> list[str | bytes] | None:
    """Return the frames of a stream, each as its text or, where it has none, its bytes; together they are the body.

    From a damaged frame on, and of a frame that was cut off, the rest is one piece of bytes. None if the first frame
    is none.
    """
    chunks: list[str | bytes] = []
    at = 0
    while at < len(body):
        end = _end_of(body, at)
        if end is None:
            if not chunks:
                return None
            chunks.append(body[at:])
            break
        frame = body[at:end]
        chunks.append(_text_of(frame) or frame)
        at = end
    return chunks


def is_cut_off(rest: bytes) -> bool:
    """Tell whether bytes are the start of a frame of which nothing is known to be wrong but that more should follow."""
    if len(rest) < _PRELUDE.size:
        return True
    total, _, checksum = _PRELUDE.unpack_from(rest)
    return bool(checksum == crc32(rest[:8]) and len(rest) < total)


def frame_bytes(text: str) -> bytes:
    """Return the frame of a text; the text's own bytes if it is that of no frame."""
    found = _NAME.match(text)
    if found is None or not text.endswith("}"):
        return text.encode("utf-8", "replace")
    name, payload = found[1], text[found.end() : -1].encode("utf-8", "replace")
    if name == _CHUNK:
        payload = _closed(payload)
    kind = "exception" if name.endswith(_EXCEPTION) else "event"
    headers = b"".join(
        struct.pack("!B", len(key)) + key.encode() + struct.pack("!BH", _STRING, len(value)) + value.encode()
        for key, value in ((f":{kind}-type", name), (":content-type", _JSON), (":message-type", kind))
    )
    total = _PRELUDE.size + len(headers) + len(payload) + _CHECKSUM.size
    lengths = struct.pack("!II", total, len(headers))
    frame = lengths + _CHECKSUM.pack(crc32(lengths)) + headers + payload
    return frame + _CHECKSUM.pack(crc32(frame))


def _end_of(body: bytes, at: int) -> int | None:
    """Return where the frame that begins at ``at`` ends; None if it is damaged or not all there."""
    if len(body) - at < _PRELUDE.size + _CHECKSUM.size:
        return None
    total: int
    total, headers, checksum = _PRELUDE.unpack_from(body, at)
    payload = total - headers - _PRELUDE.size - _CHECKSUM.size
    end = at + total
    if checksum != crc32(body[at : at + 8]) or not 0 <= payload <= _LONGEST_PAYLOAD or headers > _LONGEST_HEADERS:
        return None
    if end > len(body) or _CHECKSUM.unpack_from(body, end - 4)[0] != crc32(body[at : end - 4]):
        return None
    return end


def _text_of(frame: bytes) -> str | None:
    """Return the text of a whole frame; None if the frame could not be made of it."""
    start = _PRELUDE.size + _PRELUDE.unpack_from(frame)[1]
    headers = _headers(frame[_PRELUDE.size : start])
    kind = headers.get(":message-type")
    name = headers.get(f":{kind}-type", "")
    payload = frame[start:-4]
    try:
        text = f'{{"{name}":{(_opened(payload) if name == _CHUNK else payload).decode("utf-8")}}}'
        _decode(text)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return None
    return text if frame_bytes(text) == frame else None


def _headers(data: bytes) -> dict[str, str]:
    """Return the headers that are texts; Bedrock has no others."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            name_end = at + 1 + data[at]
            kind, length = struct.unpack_from("!BH", data, name_end)
            value = data[name_end + 3 : name_end + 3 + length]
            if kind != _STRING:
                return {}
            found[data[at + 1 : name_end].decode("utf-8")] = value.decode("utf-8")
            at = name_end + 3 + length
    except (struct.error, UnicodeDecodeError):
        return {}
    return found


def _opened(payload: bytes) -> bytes:
    """Return the payload of a chunk with the JSON object in place of its base64."""
    found = _BYTES.search(payload)
    try:
        inner = base64.b64decode(found[1], validate=True) if found is not None else b""
    except binascii.Error:
        return payload
    return (
        payload[: found.start(1) - 1] + inner + payload[found.end(1) + 1 :] if found and inner[:1] == b"{" else payload
    )


def _closed(payload: bytes) -> bytes:
    """Undo ``_opened``."""
    try:
        inner = bytes(_decode(payload)["bytes"])
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, RecursionError):
        return payload
    return payload.replace(inner, b'"' + base64.b64encode(inner) + b'"', 1) if inner[:1] == b"{" else payload
