"""Uses httpx or httpx2, plain and async, in every way that matters, and prints what it sees."""

import asyncio
import hashlib
import importlib
import sys

URL, CLOSED_PORT, NAME = sys.argv[1], int(sys.argv[2]), sys.argv[3]
httpx = importlib.import_module(NAME)


def show(name, *facts):
    print(name, *facts, flush=True)


def tried(name, action):
    try:
        show(name, action())
    except httpx.HTTPError as error:
        show(
            name,
            type(error).__name__,
            str(error),
            error.request.method,
            error.request.url.path,
            type(error.__cause__).__name__,
        )


def plain(client):
    answer = client.get("/json", params={"q": "1"})
    show(
        "json",
        answer.status_code,
        answer.reason_phrase,
        answer.http_version,
        answer.json(),
        answer.is_closed,
        answer.headers["content-type"],
    )
    show("elapsed", answer.elapsed.total_seconds() >= 0, answer.num_bytes_downloaded, answer.encoding)
    show("redirect", client.get("/redirect").url.path, [one.status_code for one in client.get("/redirect").history])
    show("redirected post", client.post("/redirect?status=307&to=/echo", json={"a": 1}).json())
    tried("404", lambda: client.get("/nowhere").raise_for_status())
    show("404 body", client.get("/nowhere").json(), client.get("/nowhere").reason_phrase)
    show("chunked", client.get("/chunked").content)
    show("gzip", client.get("/gzip").json()["packed"][:3], client.get("/deflate").text)
    show("limited", [client.get("/limited?name=" + NAME).status_code for _ in range(2)])
    show("form", client.post("/echo", data={"a": "1"}).json(), client.put("/echo", content=b"\xff\x00").json())
    show("generator", client.post("/echo", content=(part for part in (b"a", b"b"))).json())
    show("files", client.post("/echo", files={"f": ("n.txt", b"inside")}).json()["size"] > 100)
    show("empty", client.get("/empty").content, client.head("/json").headers["content-type"])
    show("big", hashlib.sha256(client.get("/big").content).hexdigest()[:8])
    with client.stream("GET", "/sse") as answer:
        show("sse", list(answer.iter_lines()), answer.is_stream_consumed)
    with client.stream("GET", "/sse") as answer:
        lines = answer.iter_lines()
        show("closed early", next(lines), next(lines), answer.is_closed)
    show("closed", answer.is_closed)
    with client.stream("GET", "/slow?gate=" + NAME) as answer:
        pieces = answer.iter_text()
        first = next(pieces)
        client.get("/open?gate=" + NAME)
        show("slow", first, "".join(pieces))
    with client.stream("GET", "/drop") as answer:
        tried("dropped", lambda: answer.read())
    tried("dropped chunks", lambda: client.get("/drop-chunked"))
    tried("disconnected", lambda: client.get("/disconnect"))
    tried("refused", lambda: client.get(f"http://127.0.0.1:{CLOSED_PORT}/"))
    tried("timeout", lambda: client.get("/hang", timeout=0.05))
    tried("no such host", lambda: client.get("http://name.invalid/"))


class Auth(httpx.Auth):
    requires_response_body = True

    def auth_flow(self, request):
        answer = yield request
        request.headers["x-second"] = answer.json()["method"]
        yield request


async def awaited():
    seen = []

    async def on_response(answer):
        seen.append(answer.status_code)

    async def parts():
        yield b"async "
        yield b"parts"

    async with httpx.AsyncClient(
        base_url=URL, event_hooks={"response": [on_response]}, follow_redirects=True
    ) as client:
        answers = await asyncio.gather(*(client.get("/json", params={"q": name}) for name in "abc"))
        show("gathered", [answer.json()["q"] for answer in answers])
        show("async generator", (await client.post("/echo", content=parts())).json())
        show("auth flow", (await client.post("/echo", auth=Auth(), content=b"x")).json(), seen)
        async with client.stream("GET", "/sse") as answer:
            show("async sse", [line async for line in answer.aiter_lines()])
        async with client.stream("GET", "/slow?gate=async-" + NAME) as answer:
            pieces = answer.aiter_text()
            first = await pieces.__anext__()
            await client.get("/open?gate=async-" + NAME)
            show("async slow", first, "".join([piece async for piece in pieces]))
        for path in ("/drop", "/drop-chunked", "/disconnect"):
            try:
                show(path, await client.get(path))
            except httpx.HTTPError as error:
                show(path, type(error).__name__, str(error))
        try:
            await asyncio.wait_for(client.get("/hang"), 0.05)
        except TimeoutError:
            show("cancelled")
        try:
            await client.get("/hang", timeout=0.05)
        except httpx.TimeoutException as error:
            show("async timeout", type(error).__name__)
    mock = httpx.MockTransport(lambda request: httpx.Response(200, text="mine"))
    async with httpx.AsyncClient(transport=mock) as client:
        show("mock", (await client.get("http://mock/")).text)


with httpx.Client(base_url=URL, follow_redirects=True) as client:
    plain(client)
asyncio.run(awaited())
