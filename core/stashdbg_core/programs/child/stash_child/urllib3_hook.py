"""urllib3 recorded and served, and with it requests and botocore: every try of a request is a call of its own.

A try is ``HTTPConnectionPool._make_request``, in 1.26 as in 2: above it are the retries and redirects, below it is
``http.client``, which reads a served answer as it reads a real one. So retries, decoding, streaming and errors are
urllib3's own. Its experimental HTTP/2 has nothing of ``http.client`` below it, and is left alone.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

from . import calls
from .exchanges import Served, ask, skipped
from .http_client import header_pairs, serve_next_response, watch_next_response, watch_no_more
from .request_bodies import taken


def patch(module: Any) -> None:
    """Hook the pools of connections."""
    plain, secure = module.HTTPConnectionPool, module.HTTPSConnectionPool
    plain._make_request = _make_request(plain._make_request)
    secure._prepare_proxy = _prepare_proxy(secure._prepare_proxy)


def _make_request(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def make_request(self: Any, conn: Any, method: str, url: str, *args: Any, **more: Any) -> Any:
        if skipped() or args or type(conn).__module__.startswith("urllib3.http2"):
            return original(self, conn, method, url, *args, **more)
        content, more["body"] = taken(more.get("body"), "utf-8")
        asked = ask(method, _whole_url(self, url), header_pairs(more.get("headers")), content)
        if isinstance(asked, Served):
            return _served(conn, asked, functools.partial(original, self, conn, method, url, **more))
        watch_next_response(conn, asked)
        try:
            with calls.running(asked.answer):
                return original(self, conn, method, url, **more)
        except BaseException as error:
            asked.threw(error)
            raise
        finally:
            watch_no_more(conn)

    return make_request


def _served(conn: Any, served: Served, run: Callable[[], Any]) -> Any:
    if served.error is not None:
        raise served.exception("urllib3")
    serve_next_response(conn, served)
    conn.is_verified = _is_verified(conn)
    try:
        with calls.running(None):
            return run()
    finally:
        conn.sock = None  # the next request opens a connection, or is served


def _prepare_proxy(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def prepare_proxy(self: Any, conn: Any) -> Any:
        if skipped():
            return original(self, conn)
        if calls.mode() == "replay":
            return None
        with calls.running(None):
            return original(self, conn)

    return prepare_proxy


def _is_verified(conn: Any) -> bool:
    """Tell whether a connection would have checked its server's certificate; urllib3 warns of one that did not."""
    asked = getattr(conn, "cert_reqs", None)
    return str(getattr(asked, "name", asked)) != "CERT_NONE" and asked != 0


def _whole_url(pool: Any, url: str) -> str:
    if "://" in url.partition("?")[0]:
        return url
    host = "[{}]".format(pool.host) if ":" in pool.host and not pool.host.startswith("[") else pool.host
    usual = {"http": 80, "https": 443}.get(pool.scheme)
    port = pool.port if pool.port is not None else usual
    place = host if port == usual else "{}:{}".format(host, port)
    return "{}://{}{}".format(pool.scheme, place, url if url.startswith("/") else "/" + url)
