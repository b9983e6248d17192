"""Uses aiohttp in every way that matters, and prints what it sees."""

import asyncio
import hashlib
import io
import sys

import aiohttp

URL, CLOSED_PORT = sys.argv[1], int(sys.argv[2])


def show(name, *facts):
    print(name, *facts, flush=True)


async def tried(name, awaitable):
    try:
        show(name, await awaitable)
    except (TimeoutError, aiohttp.ClientError) as error:
        show(name, type(error).__name__, str(error), isinstance(error, OSError), type(error.__cause__).__name__)


async def text(session, path, method="GET", **more):
    async with session.request(method, path, **more) as answer:
        return await answer.text()


async def parts():
    yield b"async "
    yield b"parts"


async def whole_answers(session):
    async with session.get("/json", params={"q": "1"}) as answer:
        said = await answer.json()
        show("json", answer.status, answer.reason, said, answer.content_type, answer.url.path, answer.version)
    async with session.get("/redirect") as answer:
        show("redirect", answer.url.path, [one.status for one in answer.history], await answer.read())
    show("redirected post", await text(session, "/redirect?status=307&to=/echo", "POST", json={"a": 1}))
    async with session.get("/nowhere") as answer:
        show("404", answer.status, answer.reason, answer.ok, await answer.text())
    await tried("raise", text(session, "/nowhere", raise_for_status=True))
    show("chunked", await (await session.get("/chunked")).read())
    show("gzip", (await text(session, "/gzip"))[:14], await text(session, "/deflate"))
    show("limited", [(await session.get("/limited?name=aiohttp")).status for _ in range(2)])
    show("empty", await (await session.get("/empty")).read(), (await session.head("/json")).headers["content-type"])
    show("big", hashlib.sha256(await (await session.get("/big")).read()).hexdigest()[:8])


async def request_bodies(session):
    form = await text(session, "/echo", "POST", data={"a": "1"})
    show("form", form, await text(session, "/echo", "PUT", data=b"\xff\x00"))
    show("generator", await text(session, "/echo", "POST", data=parts()))
    show("file", await text(session, "/echo", "POST", data=io.BytesIO(b"from a file")))
    form = aiohttp.FormData()
    form.add_field("f", b"inside", filename="n.txt")
    show("files", len(await text(session, "/echo", "POST", data=form)) > 100)


async def streams(session):
    async with session.get("/sse") as answer:
        show("sse", [line async for line in answer.content])
    async with session.get("/sse") as answer:
        chunks = [chunk async for chunk, _ in answer.content.iter_chunks()]
        show("chunks", b"".join(chunks), answer.content.at_eof())
    async with session.get("/sse") as answer:
        show("closed early", await answer.content.readline(), await answer.content.readline())
    show("closed", answer.closed)
    async with session.get("/slow?gate=aiohttp") as answer:
        first = await answer.content.readline()
        await text(session, "/open?gate=aiohttp")
        show("slow", first, await answer.content.read())


async def failures(session):
    await tried("dropped", text(session, "/drop"))
    await tried("dropped chunks", text(session, "/drop-chunked"))
    await tried("disconnected", text(session, "/disconnect"))
    await tried("timeout", text(session, "/hang", timeout=aiohttp.ClientTimeout(total=0.05)))
    await tried("read timeout", text(session, "/hang", timeout=aiohttp.ClientTimeout(sock_read=0.05)))
    try:
        await asyncio.wait_for(session.get("/hang"), 0.05)
    except TimeoutError:
        show("cancelled")


async def main():
    async with aiohttp.ClientSession(URL) as session:
        await whole_answers(session)
        await request_bodies(session)
        await streams(session)
        await failures(session)
        answers = await asyncio.gather(*(text(session, "/json", params={"q": name}) for name in "abc"))
        show("gathered", answers)
        show("closing", await text(session, "/close"))
    async with aiohttp.ClientSession() as session:
        await tried("refused", text(session, f"http://127.0.0.1:{CLOSED_PORT}/"))
        await tried("no such host", text(session, "http://name.invalid/"))


asyncio.run(main())
