"""Content codings of response bodies undone: gzip, deflate, and br and zstd where the program has a decoder."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Header = tuple[str, str]
    Pieces = list[tuple[float, bytes]]


def decoded(headers: list[Header], pieces: Pieces, limit: int) -> tuple[list[Header], Pieces]:
    """Return headers and body without content coding; both as they are where it cannot be undone.

    Args:
        headers: Of the response.
        pieces: The body as it came, each piece with the milliseconds since the request.
        limit: Bytes of a decoded body; a larger one stays as it is.
    """
    words = [
        word.strip().lower()
        for name, value in headers
        if name.lower() == "content-encoding"
        for word in value.split(",")
    ]
    codings = [word for word in words if word not in ("", "identity")]
    if not codings or not pieces:
        return headers, pieces
    body: Pieces = pieces
    for coding in reversed(codings):
        decoder = _decoder(coding)
        if decoder is None:
            return headers, pieces
        try:
            body = _undone(decoder, body, limit)
        except Exception:  # noqa: BLE001  each decoder has errors of its own; what is no such coding stays as it came
            return headers, pieces
    kept = [pair for pair in headers if pair[0].lower() not in ("content-encoding", "content-length")]
    return kept, body


def _undone(decoder: Any, pieces: Pieces, limit: int) -> Pieces:
    out: Pieces = []
    size = 0
    for ms, piece in pieces:
        text = decoder.decompress(piece)
        size += len(text)
        if size > limit:
            raise ValueError("the decoded body is too large")
        if text:
            out.append((ms, text))
    return out


def _decoder(coding: str) -> Any | None:
    if coding in ("gzip", "x-gzip"):
        import zlib

        return zlib.decompressobj(wbits=31)
    if coding == "deflate":
        return _Inflate()
    if coding == "br":
        brotli = _module("brotli", "brotlicffi")
        return None if brotli is None else _Brotli(brotli)
    if coding == "zstd":
        native = _module("compression.zstd", "backports.zstd")
        if native is not None:
            return native.ZstdDecompressor()
        package = _module("zstandard")
        return None if package is None else package.ZstdDecompressor().decompressobj()
    return None


class _Inflate:
    """The zlib format, as the standard says, or the bare one that some servers send."""

    def __init__(self) -> None:
        self._decoder: Any = None

    def decompress(self, piece: bytes) -> bytes:
        import zlib

        if self._decoder is not None:
            return bytes(self._decoder.decompress(piece))
        for wbits in (15, -15):
            decoder = zlib.decompressobj(wbits=wbits)
            try:
                out = decoder.decompress(piece)
            except zlib.error:
                continue
            self._decoder = decoder
            return out
        raise ValueError("not a deflated body")


class _Brotli:
    def __init__(self, module: Any) -> None:
        self._decoder = module.Decompressor()

    def decompress(self, piece: bytes) -> bytes:
        step = getattr(self._decoder, "decompress", None) or self._decoder.process
        return bytes(step(piece))


def _module(*names: str) -> Any | None:
    import importlib

    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
