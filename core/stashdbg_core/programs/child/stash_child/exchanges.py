"""An HTTP exchange of the program, as every network hook sees it: one that runs and is watched, or one that is served.

Bodies are recorded with their content coding undone, so what is served has none. What stands beside the status in a
status line is kept in two headers that no server can send, for their names have a blank, where it is not the usual one.
"""

from __future__ import annotations

import _thread
import atexit
import os
import re
import weakref
from collections import deque
from http import HTTPStatus

from . import calls
from .codings import decoded
from .real import perf_counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Header = tuple[str, str]
    Pieces = list[tuple[float, bytes]]
    Tree = dict[str, Any]

REASON, VERSION = "reason phrase", "http version"
AFTER_SENDING = "response"
"""Where a request failed: its response was awaited, it was sent. Kept as ``at`` beside the exception."""
_USUAL_VERSION = "HTTP/1.1"
_SECRET = re.compile(r"authorization|cookie|api-?key|token|secret|passw|credential|signature", re.IGNORECASE)
_MERGED_MS = 2.0
_MERGED_BYTES = 1 << 16

_open: weakref.WeakSet[Exchange] = weakref.WeakSet()
_dropped: deque[tuple[Any, ...]] = deque()
_EDGE = _thread.allocate_lock()


class TooLarge(Exception):
    """A body has more bytes than are recorded; on replay it is raised where the recording ends."""


def skipped() -> bool:
    """Tell whether a request made now is not to be recorded: nothing records, or it is part of a recorded call."""
    return calls.mode() == "off" or calls.inside()


def ask(method: str, url: str, headers: Iterable[Header], body: bytes) -> Exchange | Served:
    """Announce a request about to be sent; what comes back says whether it is sent or already answered.

    Args:
        method: Of the request.
        url: The whole of it.
        headers: Of the request; those that may hold secrets are not passed on.
        body: All of it, its own content coding left as it is.
    """
    _tell_dropped()
    kept = [(name, value) for name, value in headers if not _SECRET.search(name)]
    answer = calls.begin_http(method.upper(), url, kept, body)
    return Exchange(answer, method) if answer.run else Served(answer, method)


class Exchange:
    """A request that is really sent: collects the response as it passes to the program, and says how it ended, once."""

    def __init__(self, answer: Any, method: str) -> None:
        self.answer = answer
        self._method = method
        self._began = perf_counter()
        self._pieces: Pieces = []
        self._size = 0
        self._most = _most_bytes()
        self._status = 0
        self._headers: list[Header] = []
        self._ended = False
        self._merged_until = 0.0
        _open.add(self)

    def head(
        self, status: int, headers: Iterable[Header], reason: str | None = None, version: str | None = None
    ) -> None:
        """Take the status and the headers, which have come."""
        self._status = status
        self._headers = list(headers)
        if reason is not None and reason != usual_reason(status):
            self._headers.append((REASON, reason))
        if version is not None and version != _USUAL_VERSION:
            self._headers.append((VERSION, version))

    def data(self, piece: bytes, merge: bool = False) -> None:
        """Take a piece of the body as it came; ``merge``: its edges mean nothing, small ones may be joined."""
        if not piece or self._ended:
            return
        now = (perf_counter() - self._began) * 1000
        self._size += len(piece)
        if self._size > self._most:
            error = TooLarge("the body has more than {:,} bytes and was recorded up to there".format(self._most))
            calls.note("body-too-large", "a response of {} was longer than is recorded".format(self._method))
            self._end("failed", calls.error_tree(error))
        elif merge and self._pieces and now < self._merged_until and len(self._pieces[-1][1]) < _MERGED_BYTES:
            self._pieces[-1] = (self._pieces[-1][0], self._pieces[-1][1] + bytes(piece))
        else:
            self._merged_until = now + _MERGED_MS
            self._pieces.append((now, bytes(piece)))

    def complete(self) -> None:
        """Say that all of the response has come."""
        self._end("complete")

    def closed(self) -> None:
        """Say that the program stopped reading."""
        self._end("closed")

    def failed(self, error: BaseException | Tree) -> None:
        """Say that reading the body raised this."""
        if not self._ended:
            self._end("failed", self._tree(error))

    def threw(self, error: BaseException, **facts: Any) -> None:
        """Say that the request raised this and gave no response; ``facts`` are kept beside the exception."""
        if self._claim():
            calls.end(self.answer, "throw", {**self._tree(error), **facts})

    def forget(self) -> None:
        """Say nothing of it from here on."""
        self._ended = True

    def _tree(self, error: BaseException | Tree) -> Tree:
        if isinstance(error, dict):
            return error
        tree = calls.error_tree(error)
        if tree.get("kind") == "cancelled":
            tree["ms"] = round((perf_counter() - self._began) * 1000, 3)
        return tree

    def _claim(self) -> bool:
        with _EDGE:
            ended, self._ended = self._ended, True
        _open.discard(self)
        return not ended

    def _end(self, ending: str, error: Tree | None = None) -> None:
        if self._claim():
            _tell(self.answer, self._status, self._headers, self._pieces, ending, error)

    def __del__(self) -> None:
        if not self._ended:  # told later: a finalizer may run in the middle of another message to the parent
            self._ended = True
            _dropped.append((self.answer, self._status, self._headers, self._pieces, "closed", None))


class Served:
    """The recorded answer to a request: a response, or the exception that it raised."""

    def __init__(self, answer: Any, method: str) -> None:
        self.method = method.upper()
        self.error: Tree | None = None
        response = answer.response
        if response is None:
            self.error = answer.value if isinstance(answer.value, dict) else {}
            response = {}
        self.status: int = response.get("status", 0)
        pairs = [(str(name), str(value)) for name, value in response.get("headers", ())]
        known = dict(pairs)
        self.reason: str = known.get(REASON, usual_reason(self.status))
        self.version: str = known.get(VERSION, _USUAL_VERSION)
        self.ending: str = response.get("ending", "complete")
        self.failure: Tree | None = response.get("error")
        self.chunks = [_bytes(calls.untree(chunk)) for chunk in response.get("chunks", ())]
        self.headers: list[Header] = [pair for pair in pairs if pair[0] not in (REASON, VERSION)]
        if self._is_plain():
            self._set_length()

    @property
    def has_body(self) -> bool:
        """Whether a response to this request of this status can have a body."""
        return self.method != "HEAD" and self.status not in (204, 304) and self.status >= 200

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events, whose chunks a program may tell apart."""
        kind = next((value for name, value in self.headers if name.lower() == "content-type"), "")
        streams = (
            "text/event-stream",
            "application/vnd.amazon.eventstream",
            "application/x-ndjson",
            "application/jsonl",
        )
        return kind.lower().startswith(streams)

    def exception(self, *modules: Any) -> BaseException:
        """Return the exception that the request raised."""
        return calls.rebuild_error(self.error, *modules)

    def broken_off(self, *modules: Any) -> BaseException | None:
        """Return what a reader gets after the last chunk, or None if that is the end."""
        if self.ending == "complete":
            return None
        if self.ending == "failed" and self.failure is not None:
            return calls.rebuild_error(self.failure, *modules)
        return calls.ReplayMiss("the program reads more of a response than it did when it was recorded")

    def _is_plain(self) -> bool:
        named = {name.lower() for name, _ in self.headers}
        return self.ending == "complete" and self.has_body and not self.is_stream and "transfer-encoding" not in named

    def _set_length(self) -> None:
        length = str(sum(map(len, self.chunks)))
        self.headers = [pair for pair in self.headers if pair[0].lower() != "content-length"]
        self.headers.append(("content-length", length))


def usual_reason(status: int) -> str:
    """Return the words that go with a status."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def waited_ms(error: Tree | None) -> float | None:
    """Return how long a call ran until it was cancelled, in milliseconds; None if it was not."""
    if error is None or error.get("kind") != "cancelled":
        return None
    ms = error.get("ms", 0.0)
    return float(ms) if isinstance(ms, (int, float)) else 0.0


async def wait_to_be_cancelled(ms: float) -> None:
    """Wait for the program to cancel this task, as it did when it was recorded; give up well after that."""
    seconds = ms / 1000 * 2 + 5
    loop: Any = __import__("asyncio")
    try:
        loop.get_running_loop()
    except RuntimeError:  # the other event loop that httpx and MCP clients run in
        loop = __import__("trio")
    await loop.sleep(seconds)


def _most_bytes() -> int:
    """Return how many bytes of a body are recorded."""
    return int(calls.settings.get("maxBody") or 64 << 20)


def _bytes(chunk: Any) -> bytes:
    return chunk.encode("utf-8", "surrogatepass") if isinstance(chunk, str) else bytes(chunk)


def _tell(answer: Any, status: int, headers: list[Header], pieces: Pieces, ending: str, error: Tree | None) -> None:
    if not status:
        calls.end(answer, "throw", calls.error_tree(ConnectionAbortedError("the program gave the request up")))
        return
    headers, pieces = decoded(headers, pieces, _most_bytes())
    calls.end_http(answer, status, headers, pieces, ending, error)


def _tell_dropped() -> None:
    while _dropped:
        try:
            left = _dropped.popleft()
        except IndexError:
            return
        _tell(*left)


def _tell_all() -> None:
    _tell_dropped()
    for exchange in list(_open):
        exchange.closed()


def pieces_of(served: Served, *modules: Any) -> Iterator[bytes]:
    """Yield the chunks of a served body and raise what ended it."""
    yield from served.chunks
    error = served.broken_off(*modules)
    if error is not None:
        raise error


def _forget() -> None:
    """Leave the exchanges of the process that this one was forked from to it."""
    for exchange in list(_open):
        exchange.forget()
    _open.clear()
    _dropped.clear()


atexit.register(_tell_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
