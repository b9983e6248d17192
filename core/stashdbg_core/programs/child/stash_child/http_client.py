"""``http.client`` recorded and served, and with it ``urllib.request``, ``xmlrpc`` and whatever else stands on it.

A request made by ``request`` is announced before its connection is opened. One made piece by piece (``putrequest``,
``putheader``, ``endheaders``, ``send``) is announced when its response is asked for, for only then is it known to be
whole.
"""

from __future__ import annotations

import functools

from . import calls
from .exchanges import AFTER_SENDING, Exchange, Served, ask, skipped
from .request_bodies import taken
from .wire import Framing, ServedSocket, WatchedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_ASKED = "_stash_asked"
_PIECES = "_stash_pieces"
_WATCHED = "_stash_watched"


def patch(module: Any) -> None:
    """Hook the connection classes."""
    plain, secure = module.HTTPConnection, getattr(module, "HTTPSConnection", None)
    plain.request = _request(plain.request)
    plain.putrequest = _putrequest(plain.putrequest)
    plain.putheader = _putheader(plain.putheader)
    plain.send = _send(plain.send)
    plain.getresponse = _getresponse(plain.getresponse)
    plain.connect = _connect(plain.connect)
    if secure is not None and "connect" in vars(secure):
        secure.connect = _connect(secure.connect)


def watch_next_response(connection: Any, exchange: Exchange) -> None:
    """Have the response that a connection reads next go to an exchange; the sender tells what the request raises."""
    connection.__dict__[_WATCHED] = exchange


def watch_no_more(connection: Any) -> None:
    """Take that back, if no response came."""
    connection.__dict__.pop(_WATCHED, None)


def serve_next_response(connection: Any, served: Served) -> None:
    """Have a connection read a served response next; what it sends before goes nowhere."""
    if connection.sock is not None:
        connection.close()
    connection.sock = ServedSocket(served)


def header_pairs(headers: Any) -> list[tuple[str, str]]:
    """Return request headers, in whichever mapping or sequence they are, as pairs of text."""
    items = headers.items() if hasattr(headers, "items") else headers or ()
    return [(_text(name), _text(value)) for name, value in items]


def _text(word: Any) -> str:
    return word.decode("latin-1") if isinstance(word, bytes) else str(word)


def _request(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def request(self: Any, method: str, url: str, body: Any = None, headers: Any = {}, **more: Any) -> Any:  # noqa: B006
        if skipped():
            return original(self, method, url, body, headers, **more)
        content, body = taken(body, "iso-8859-1")
        asked = ask(method, _whole_url(self, url), header_pairs(headers), content)
        if isinstance(asked, Served):
            _serve(self, asked)
            if asked.error is not None and asked.error.get("at") != AFTER_SENDING:
                raise asked.exception()
            with calls.running(None):
                return original(self, method, url, body, headers, **more)
        self.__dict__[_ASKED] = asked
        try:
            with calls.running(asked.answer):
                return original(self, method, url, body, headers, **more)
        except BaseException as error:
            self.__dict__.pop(_ASKED, None)
            asked.threw(error)
            raise

    return request


def _getresponse(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def getresponse(self: Any, *args: Any, **more: Any) -> Any:
        watched = self.__dict__.get(_WATCHED)
        if watched is not None:
            response = original(
                self, *args, **more
            )  # urllib3 1.26 asks twice, at first with an argument that is refused
            del self.__dict__[_WATCHED]
            return _watch(response, watched)
        pieces = self.__dict__.pop(_PIECES, None)
        asked = self.__dict__.pop(_ASKED, None)
        if pieces is not None and asked is None:
            asked = pieces.asked(self)
        if asked is None:
            return original(self, *args, **more)
        if isinstance(asked, Served):
            return _served_response(self, asked, functools.partial(original, self, *args, **more))
        try:
            with calls.running(asked.answer):
                response = original(self, *args, **more)
        except BaseException as error:
            asked.threw(error, at=AFTER_SENDING)
            raise
        return _watch(response, asked)

    return getresponse


def _serve(connection: Any, served: Served) -> None:
    serve_next_response(connection, served)
    connection.__dict__[_ASKED] = served
    if served.error is not None and served.error.get("at") != AFTER_SENDING:
        connection.__dict__.pop(_ASKED)
        connection.sock = None


def _served_response(connection: Any, served: Served, read: Callable[[], Any]) -> Any:
    try:
        if served.error is not None:
            connection.close()
            raise served.exception()
        return read()
    finally:
        connection.sock = None  # the next request opens a connection, or is served


def _watch(response: Any, exchange: Exchange) -> Any:
    """Have all that is read from a response go to its exchange."""
    version = {9: "HTTP/0.9", 10: "HTTP/1.0"}.get(response.version)
    exchange.head(response.status, header_pairs(response.headers), response.reason, version)
    framing = Framing(response.chunked, response.length)
    if response.fp is None or framing.done:
        exchange.complete()
    else:
        response.fp = WatchedFile(response.fp, exchange, framing)
    return response


class _Pieces:
    """A request made piece by piece: what it says so far, and in a replay the bytes that are not sent yet."""

    def __init__(self, method: str, url: str) -> None:
        self._method = method
        self._url = url
        self.headers: list[tuple[str, str]] = []
        self._sent = b""
        self.held: list[bytes] | None = None if calls.mode() == "record" else []

    def take(self, data: Any) -> Any:
        """Keep what is sent, and return it to be sent."""
        content, data = taken(data, "iso-8859-1")
        self._sent += content
        if self.held is not None:
            self.held.append(content)
        return data

    def asked(self, connection: Any) -> Any:
        """Announce the request; send it now if it was held back and is to run."""
        body = self._sent.partition(b"\r\n\r\n")[2]
        if ("transfer-encoding", "chunked") in [(name.lower(), value.lower()) for name, value in self.headers]:
            framing = Framing(True, None)
            body = framing.body(body)
        asked = ask(self._method, _whole_url(connection, self._url), self.headers, body)
        if isinstance(asked, Served):
            serve_next_response(connection, asked)
        elif self.held is not None:
            try:
                with calls.running(asked.answer):
                    for part in self.held:
                        connection.send(part)
            except BaseException as error:
                asked.threw(error)
                raise
        return asked


def _putrequest(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def putrequest(self: Any, method: str, url: str, *args: Any, **more: Any) -> Any:
        self.__dict__.pop(_PIECES, None)
        if not skipped() and _ASKED not in self.__dict__:
            self.__dict__[_PIECES] = _Pieces(method, url)
        return original(self, method, url, *args, **more)

    return putrequest


def _putheader(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def putheader(self: Any, header: Any, *values: Any) -> Any:
        pieces = self.__dict__.get(_PIECES)
        if pieces is not None:
            pieces.headers.append((_text(header), ", ".join(map(_text, values))))
        return original(self, header, *values)

    return putheader


def _send(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def send(self: Any, data: Any) -> Any:
        pieces = self.__dict__.get(_PIECES)
        if pieces is None or skipped():
            return original(self, data)
        data = pieces.take(data)
        if pieces.held is not None:
            return None
        try:
            with calls.running(None):
                return original(self, data)
        except BaseException as error:
            self.__dict__.pop(_PIECES, None)
            asked = pieces.asked(self)
            if isinstance(asked, Exchange):
                asked.threw(error)
            raise

    return send


def _connect(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def connect(self: Any) -> Any:
        if skipped() or self.__dict__.get("auto_open") == 0:
            return original(self)
        if calls.mode() != "record":
            return None  # opened when a request is really sent
        with calls.running(None):
            return original(self)

    return connect


def _whole_url(connection: Any, url: str) -> str:
    """Return the URL that a request is for; through a proxy it is whole already."""
    if "://" in url.partition("?")[0]:
        return url
    secure = getattr(connection, "default_port", 80) == 443
    tunnel = getattr(connection, "_tunnel_host", None)
    host = tunnel or connection.host
    port = (getattr(connection, "_tunnel_port", None) if tunnel else connection.port) or connection.default_port
    host = "[{}]".format(host) if ":" in host and not host.startswith("[") else host
    place = host if port == (443 if secure else 80) else "{}:{}".format(host, port)
    return "{}://{}{}".format("https" if secure else "http", place, url if url.startswith("/") else "/" + url)
