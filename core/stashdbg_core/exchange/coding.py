"""Content codings of HTTP bodies undone: gzip, deflate, and br and zstd where a decoder is installed."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any

from stashdbg_core.exchange.headers import Headers, header

MAX_DECODED = 256 * 1024 * 1024
"""Bytes of a decoded body; one that would be larger stays as it is."""


def content_decoded(headers: Headers, body: bytes) -> bytes:
    """Return a body without its content codings; as it is where it has none, or they cannot be undone."""
    decoded = body
    for coding in reversed(_codings(headers)):
        found = _undone(coding, decoded)
        if found is None:
            return body
        decoded = found
    return decoded


def undecodable(headers: Headers) -> str | None:
    """Return the first content coding that nothing installed here undoes, or None."""
    return next((coding for coding in _codings(headers) if _decoder(coding) is None), None)


def _codings(headers: Headers) -> list[str]:
    words = [word.strip().lower() for word in header(headers, "content-encoding").split(",")]
    return [word for word in words if word not in ("", "identity")]


def _undone(coding: str, body: bytes) -> bytes | None:
    decode = _decoder(coding)
    try:
        return decode(body) if decode is not None else None
    except Exception:  # noqa: BLE001  each decoder has errors of its own; sources often keep the header of a decoded body
        return None


def _decoder(coding: str) -> Callable[[bytes], bytes] | None:
    if coding in ("gzip", "x-gzip"):
        return _gunzip
    if coding == "deflate":
        return _inflate
    if coding == "br":
        brotli = _module("brotli", "brotlicffi")
        return _bounded(brotli.decompress) if brotli is not None else None
    if coding == "zstd":
        native, package = _module("compression.zstd"), _module("zstandard")
        if native is not None:
            return _bounded(native.decompress)
        if package is not None:
            return lambda body: bytes(package.ZstdDecompressor().decompress(body, max_output_size=MAX_DECODED))
    return None


def _module(*names: str) -> Any:
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None


def _bounded(decode: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    def decoded(body: bytes) -> bytes:
        found = bytes(decode(body))
        if len(found) > MAX_DECODED:
            raise ValueError("the decoded body is too large")
        return found

    return decoded


def _gunzip(body: bytes) -> bytes:
    """Return every member of a gzip body; one that was cut off gives what is there."""
    out = bytearray()
    while body:
        decoder = zlib.decompressobj(wbits=31)
        out += decoder.decompress(body, MAX_DECODED - len(out) + 1)
        if len(out) > MAX_DECODED:
            raise ValueError("the decoded body is too large")
        body = decoder.unused_data if decoder.eof else b""
        if body and body[:2] != b"\x1f\x8b":  # padding after the last member
            break
    return bytes(out)


def _inflate(body: bytes) -> bytes:
    for wbits in (15, -15):  # the zlib format, as the standard says, and the bare one that some servers send
        decoder = zlib.decompressobj(wbits=wbits)
        try:
            out = decoder.decompress(body, MAX_DECODED + 1)
        except zlib.error:
            continue
        if len(out) <= MAX_DECODED:
            return out
    raise ValueError("not a deflated body")
