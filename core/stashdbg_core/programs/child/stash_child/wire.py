"""The bytes of HTTP/1.1 responses below ``http.client``: watched as it reads them, or made from a served answer.

Whatever stands on ``http.client``, urllib3 included, parses real response bytes, so that its objects and its errors are
its own.
"""

from __future__ import annotations

import http.client

from . import calls
from .exchanges import Exchange, Served

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Framing:
    """Tells the bytes of a body from those around them, in a response as it is read."""

    def __init__(self, chunked: bool, length: int | None) -> None:
        self.chunked = chunked
        self.left = length  # of the body or of the chunk; None: up to the end of the connection
        self.done = length == 0 and not chunked
        self._line = b""
        self._state = "size"

    @property
    def by_connection(self) -> bool:
        """Whether the end of the connection is the end of the body."""
        return not self.chunked and self.left is None

    def body(self, wire: bytes) -> bytes:
        """Return those of the bytes that are the body's."""
        if self.chunked:
            return b"".join(self._chunks(wire))
        if self.left is not None:
            wire = wire[: self.left]
            self.left -= len(wire)
            self.done = self.left == 0
        return wire

    def _chunks(self, wire: bytes) -> Iterator[bytes]:
        while wire and not self.done:
            if self._state == "data":
                assert self.left is not None
                part, wire = wire[: self.left], wire[self.left :]
                self.left -= len(part)
                if not self.left:
                    self._state = "end"
                yield part
                continue
            line, feed, wire = wire.partition(b"\n")
            self._line += line
            if not feed:
                return
            if self._state == "size":
                try:
                    self.left = int(self._line.split(b";", 1)[0], 16)
                except ValueError:
                    self.left = 0
                self.done = self.left == 0
                self._state = "data"
            else:
                self._state, self.left = "size", None
            self._line = b""


class WatchedFile:
    """What ``http.client`` reads a body from: the real file, of which all that is read goes to an exchange too."""

    def __init__(self, file: Any, exchange: Exchange, framing: Framing) -> None:
        self._file = file
        self._exchange = exchange
        self._framing = framing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, size: int | None = -1) -> bytes:
        """Read as the file does."""
        data: bytes = self._watched(self._file.read, size)
        return self._passed(data, size is None or size < 0 or len(data) < size)

    def read1(self, size: int = -1) -> bytes:
        """Read as the file does."""
        data: bytes = self._watched(self._file.read1, size)
        return self._passed(data, not data and size != 0)

    def readline(self, limit: int = -1) -> bytes:
        """Read as the file does."""
        data: bytes = self._watched(self._file.readline, limit)
        return self._passed(data, not data.endswith(b"\n") and not 0 <= limit <= len(data))

    def readinto(self, buffer: Any) -> int:
        """Read as the file does."""
        count: int = self._watched(self._file.readinto, buffer) or 0
        view = memoryview(buffer).cast("B")
        self._passed(bytes(view[:count]), count < len(view))
        return count

    def close(self) -> None:
        """Close the file; what was not read was not wanted."""
        try:
            self._file.close()
        finally:
            self._exchange.closed()

    def _watched(self, read: Any, argument: Any) -> Any:
        try:
            return read(argument)
        except BaseException as error:
            self._exchange.failed(error)
            raise

    def _passed(self, data: bytes, at_end: bool) -> bytes:
        framing = self._framing
        if not framing.done:
            self._exchange.data(framing.body(data), merge=True)
            if framing.done or (at_end and framing.by_connection):
                framing.done = True
                self._exchange.complete()
            elif at_end:
                tree = calls.error_tree(http.client.IncompleteRead(b"", framing.left))
                self._exchange.failed({**tree, "missing": framing.left, "chunked": framing.chunked})
        return data


class ServedFile:
    """The bytes of a served response, to read as from a connection."""

    def __init__(self, served: Served) -> None:
        self._wire = _wire(served)
        self._buffer = b""
        self._at = 0
        self._at_end = False
        self.closed = False

    def read(self, size: int | None = -1) -> bytes:
        """Read so many bytes, or up to the end."""
        while (size is None or size < 0 or self._ready < size) and self._more():
            pass
        return self._take(self._ready if size is None or size < 0 else size)

    def read1(self, size: int = -1) -> bytes:
        """Read what is there, at most so many bytes."""
        while size and not self._ready and self._more():
            pass
        return self._take(self._ready if size < 0 else size)

    def readline(self, limit: int = -1) -> bytes:
        """Read a line."""
        end = self._buffer.find(b"\n", self._at)
        while end < 0 and not 0 <= limit <= self._ready and self._more():
            end = self._buffer.find(b"\n", self._at)
        size = self._ready if end < 0 else end + 1 - self._at
        return self._take(size if limit < 0 else min(size, limit))

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer until it is full, or up to the end."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def peek(self, size: int = 0) -> bytes:
        """Return what is there without taking it."""
        while not self._ready and self._more():
            pass
        return self._buffer[self._at :]

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def flush(self) -> None:
        """Do nothing, as reading files do."""

    def close(self) -> None:
        """Close it."""
        self.closed = True

    def fileno(self) -> int:
        """Refuse: there is no connection.

        Raises:
            OSError: Always.
        """
        raise OSError("a replayed response has no connection")

    @property
    def _ready(self) -> int:
        return len(self._buffer) - self._at

    def _more(self) -> bool:
        if not self._at_end:
            try:
                piece = next(self._wire)
            except StopIteration:
                self._at_end = True
            else:
                self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return not self._at_end

    def _take(self, size: int) -> bytes:
        out = self._buffer[self._at : self._at + size]
        self._at += len(out)
        return out


class ServedSocket:
    """In place of a connection's socket while a served response is read from it; what is sent goes nowhere."""

    def __init__(self, served: Served) -> None:
        self._file = ServedFile(served)

    def makefile(self, *_args: Any, **_kwargs: Any) -> ServedFile:
        """Return the response's file."""
        return self._file

    def sendall(self, *_args: Any) -> None:
        """Drop what is sent."""

    def send(self, data: Any, *_args: Any) -> int:
        """Drop what is sent."""
        return len(data)

    def fileno(self) -> int:
        """Refuse: there is no connection."""
        return self._file.fileno()

    def _nothing(self, *_args: Any, **_kwargs: Any) -> None:
        return None

    settimeout = gettimeout = setsockopt = getsockopt = setblocking = shutdown = close = getpeercert = version = (
        _nothing
    )


def _wire(served: Served) -> Iterator[bytes]:
    """Yield a served response as its server would send it."""
    missing = served.failure.get("missing") if served.failure is not None else None
    cut = served.ending == "failed" and served.failure is not None and "chunked" in served.failure
    chunked = _is_chunked(served, cut)
    about_framing = {"transfer-encoding", "connection", "keep-alive"} | (
        {"content-length"} if chunked or cut else set()
    )
    headers = [pair for pair in served.headers if pair[0].lower() not in about_framing]
    if cut and not chunked:
        headers.append(("content-length", str(sum(map(len, served.chunks)) + int(missing or 0))))
    if chunked:
        headers.append(("transfer-encoding", "chunked"))
    yield _head(served, headers)
    chunks = served.chunks if served.has_body else []
    for at, chunk in enumerate(chunks):
        more = int(missing or 0) if cut and at == len(chunks) - 1 else 0
        yield b"%x\r\n%b%b" % (len(chunk) + more, chunk, b"" if more else b"\r\n") if chunked else chunk
    if not cut:
        error = served.broken_off()
        if error is not None:
            raise error
        if chunked:
            yield b"0\r\n\r\n"


def _is_chunked(served: Served, cut: bool) -> bool:
    if not served.has_body:
        return False
    if cut:
        return bool(served.failure and served.failure["chunked"])
    return served.is_stream or served.ending != "complete"


def _head(served: Served, headers: list[Any]) -> bytes:
    version = served.version if served.version.startswith("HTTP/1.") else "HTTP/1.1"
    lines = ["{} {} {}".format(version, served.status, _line(served.reason))]
    lines += ["{}: {}".format(_line(name), _line(value)) for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "replace")


def _line(text: str) -> str:
    """Return a text that cannot end the line it stands on: recorded headers may have been edited."""
    return text.replace("\r", " ").replace("\n", " ")
