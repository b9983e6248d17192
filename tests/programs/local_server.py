"""An HTTP server of the tests' own, with the ways in which real ones answer, limit, stall and fail."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

WAIT = 10
BIG = 10_000_000


class LocalServer(ThreadingHTTPServer):
    """Listens on a free port of this machine."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.gates: dict[str, threading.Event] = {}
        self.counts: Counter[str] = Counter()
        self.requests = 0
        """How many came; those to ``/hang`` do not count, as their client may give up before they are sent."""
        self.over = threading.Event()

    @property
    def url(self) -> str:
        """Of the root."""
        return f"http://127.0.0.1:{self.server_port}"

    def forget(self) -> None:
        """Be as at the start: gates closed, nothing counted."""
        self.gates.clear()
        self.counts.clear()
        self.requests = 0

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients that go away are what is tested."""

    def gate(self, name: str) -> threading.Event:
        """What ``/slow`` waits for and ``/open`` opens."""
        return self.gates.setdefault(name, threading.Event())


@contextmanager
def local_server() -> Iterator[LocalServer]:
    """Run a server until the block ends; no connection is taken after that."""
    server = LocalServer()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LocalServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._route()

    do_POST = do_PUT = do_HEAD = do_DELETE = do_GET

    def _route(self) -> None:
        place = urlsplit(self.path)
        self.server.requests += place.path != "/hang"
        self.query = {name: values[0] for name, values in parse_qs(place.query).items()}
        self.body = self._read_body()
        answer: Callable[[], None] = getattr(self, "at_" + place.path.strip("/").replace("-", "_"), self.at_missing)
        answer()

    def _read_body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, body: bytes, status: int = 200, reason: str | None = None, **headers: str) -> None:
        self.send_response(status, reason)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _start_chunks(self, kind: str = "text/plain") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _json(self, tree: Any, **more: Any) -> None:
        self._send(json.dumps(tree, separators=(",", ":")).encode(), **more)

    def at_json(self) -> None:
        self._json({"answer": 42, "q": self.query.get("q", "")})

    def at_echo(self) -> None:
        chunked = self.headers.get("Transfer-Encoding", "") != ""
        body = self.body.decode("latin-1")
        self._json({"method": self.command, "body": body[:200], "size": len(body), "chunked": chunked})

    def at_chunked(self) -> None:
        self._start_chunks()
        for part in (b"one ", b"two ", "drei \u00e4".encode(), b"\xff\xfe"):
            self._chunk(part)
        self._chunk(b"")

    def at_sse(self) -> None:
        self._start_chunks("text/event-stream")
        for n in range(5):
            self._chunk(b'data: {"n":%d}\n\n' % n)
        self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def at_slow(self) -> None:
        """Make the second event once the client has said that it has the first."""
        self._start_chunks("text/event-stream")
        self._chunk(b"data: first\n\n")
        opened = self.server.gate(self.query["gate"]).wait(WAIT)
        self._chunk(b"data: second\n\n" if opened else b"data: too late\n\n")
        self._chunk(b"")

    def at_open(self) -> None:
        self.server.gate(self.query["gate"]).set()
        self._json({"open": True})

    def at_gzip(self) -> None:
        body = gzip.compress(b'{"packed":"' + b"x" * 1000 + b'"}')
        self._send(body, Content_Encoding="gzip")

    def at_deflate(self) -> None:
        self._send(zlib.compress(b'{"packed":"deflate"}'), Content_Encoding="deflate")

    def at_limited(self) -> None:
        self.server.counts[self.query["name"]] += 1
        if self.server.counts[self.query["name"]] == 1:
            self._json({"error": "slow down"}, status=429, Retry_After="0")
        else:
            self._json({"ok": True})

    def at_drop(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "100")
        self.end_headers()
        self.wfile.write(b"y" * 40)
        self.close_connection = True

    def at_drop_chunked(self) -> None:
        self._start_chunks("text/event-stream")
        self._chunk(b"data: only\n\n")
        self.close_connection = True

    def at_disconnect(self) -> None:
        self.close_connection = True

    def at_redirect(self) -> None:
        self._send(b"", status=int(self.query.get("status", "302")), Location=self.query.get("to", "/json?q=moved"))

    def at_empty(self) -> None:
        self.send_response(204)
        self.end_headers()

    def at_big(self) -> None:
        self._send(b"0123456789" * (BIG // 10), Content_Type="application/octet-stream")

    def at_cookies(self) -> None:
        named = [part.partition("=")[0].strip() for part in self.headers.get("Cookie", "").split(";")]
        body = json.dumps(sorted(named)).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", "session=s3cr3tv4lue; Path=/; HttpOnly")
        self.send_header("Set-Cookie", "csrf=t0ken-0123456789; Path=/; Expires=Wed, 01 Jan 2070 00:00:00 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def at_close(self) -> None:
        """Answer as old servers do: the body ends with the connection."""
        self.close_connection = True
        self.wfile.write(b"HTTP/1.0 200 Fine\r\nContent-Type: text/plain\r\n\r\nup to the end")

    def at_hang(self) -> None:
        self.server.over.wait(WAIT)
        self.close_connection = True

    def at_missing(self) -> None:
        self._json({"error": "nothing here"}, status=404, reason="Nothing Of That Name")
