"""A small agent, and the server of its model: what the model says depends on what the agent tells it of the weather."""

from __future__ import annotations

import itertools
import json
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from stashdbg_core.model import Recording
from stashdbg_core.programs.runs.starting import record_program
from stashdbg_core.store.open import open_recording

AGENT = """
import json, sys, urllib.request
URL = sys.argv[1]
def get(path):
    return json.load(urllib.request.urlopen(URL + path))["text"]
def ask(messages):
    body = {"model": "small", "messages": messages, "stream": True}
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(URL + "/v1/chat/completions", json.dumps(body).encode(), headers)
    said = ""
    for line in urllib.request.urlopen(request):
        if line.startswith(b"data: {"):
            said += json.loads(line[6:])["choices"][0]["delta"].get("content", "")
    return said
weather, news = get("/weather"), get("/news")
plan = ask([{"role": "user", "content": f"weather: {weather}. news: {news}"}])
done = get("/book?" + plan.replace(" ", "+"))
so_far = [{"role": "user", "content": "sum up"}, {"role": "assistant", "content": plan}]
last = ask([*so_far, {"role": "tool", "content": done}])
print("done:", last)
sys.exit(0 if "umbrella" in last else 4)
"""
WEATHER, NEWS = "heavy rain all day long", "tram line twelve is closed"
PLAN, LAST = "take an umbrella", "booked: take an umbrella"


class DecidingServer(ThreadingHTTPServer):
    """Listens on a free port of this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()
        self.number = itertools.count()
        self.moody = False
        """Whether no two last answers are the same."""
        self.gate: threading.Event | None = None
        """What every last answer waits for."""

    @property
    def url(self) -> str:
        """Of the root."""
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def deciding_server() -> Iterator[DecidingServer]:
    """Run a server until the block ends."""
    server = DecidingServer()
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server
    finally:
        if server.gate is not None:
            server.gate.set()
        server.shutdown()
        server.server_close()


def recorded_agent(server: DecidingServer, path: Path = Path("run.json")) -> Recording:
    """Write the agent to a file here, and record it."""
    Path("agent.py").write_text(AGENT)
    run = record_program([sys.executable, "agent.py", server.url], path)
    run.start()
    assert run.wait().exit_code == 0
    return open_recording(path)


class _Handler(BaseHTTPRequestHandler):
    server: DecidingServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        place, _, query = self.path.strip("/").partition("?")
        self.server.asked[place] += 1
        text = {"weather": WEATHER, "news": NEWS}.get(place, "booked: " + query.replace("+", " "))
        self._send("application/json", json.dumps({"text": text, "ref": next(self.server.number)}))

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        first = len(messages) == 1
        self.server.asked["plan" if first else "last"] += 1
        if first:
            said = PLAN if "rain" in messages[0]["content"] else "go for a walk"
        else:
            said = messages[-1]["content"] + (f" no {next(self.server.number)}" if self.server.moody else "")
            if self.server.gate is not None:
                self.server.gate.wait(30)
        number = next(self.server.number)
        deltas: list[Any] = [{"content": said[at : at + 5]} for at in range(0, len(said), 5)]
        pieces: list[Any] = [{"id": number, "choices": [{"index": 0, "delta": delta}]} for delta in [*deltas, {}]]
        pieces[-1]["usage"] = {"prompt_tokens": 7, "completion_tokens": 3}
        body = "".join(f"data: {json.dumps(piece)}\n\n" for piece in pieces)
        self._send("text/event-stream", body + "data: [DONE]\n\n")

    def _send(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())
