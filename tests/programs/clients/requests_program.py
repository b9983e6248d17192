"""Uses requests and urllib3 in every way that matters, and prints what it sees."""

import hashlib
import io
import re
import sys
import warnings

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

URL, CLOSED_PORT = sys.argv[1], int(sys.argv[2])


def show(name, *facts):
    print(name, *facts, flush=True)


def text(error):
    return re.sub(r"0x[0-9a-f]+", "0x", str(error))


def tried(name, action):
    try:
        show(name, action())
    except Exception as error:  # noqa: BLE001
        show(
            name,
            type(error).__module__,
            type(error).__name__,
            text(error),
            type(error.__cause__ or error.__context__).__name__,
        )


session = requests.Session()
answer = session.get(URL + "/json", params={"q": "1"})
show(
    "json",
    answer.status_code,
    answer.reason,
    answer.json(),
    answer.headers["Content-Type"],
    answer.headers["Content-Length"],
    answer.ok,
)
show("elapsed", answer.elapsed.total_seconds() >= 0, answer.encoding, answer.raw.version)
show(
    "redirect",
    session.get(URL + "/redirect").url.partition(":")[2][-15:],
    [one.status_code for one in session.get(URL + "/redirect").history],
)
show("redirected post", session.post(URL + "/redirect?status=307&to=/echo", json={"a": 1}).json())
tried("404", lambda: session.get(URL + "/nowhere").raise_for_status())
show("chunked", session.get(URL + "/chunked").content)
show("gzip", session.get(URL + "/gzip").json()["packed"][:3], session.get(URL + "/deflate").text)
show("form", session.post(URL + "/echo", data={"a": "1"}).json(), session.put(URL + "/echo", data=b"\xff\x00").json())
show("generator", session.post(URL + "/echo", data=(part for part in (b"a", b"b"))).json())
show("file", session.post(URL + "/echo", data=io.BytesIO(b"from a file")).json())
show("files", session.post(URL + "/echo", files={"f": ("n.txt", b"inside")}).json()["size"] > 100)
show("empty", session.get(URL + "/empty").content, session.head(URL + "/json").headers["content-type"])
show("big", hashlib.sha256(session.get(URL + "/big").content).hexdigest()[:8])
show("big by parts", len(list(session.get(URL + "/big", stream=True).iter_content(1 << 20))))
with session.get(URL + "/sse", stream=True) as answer:
    show("sse", list(answer.iter_lines()))
with session.get(URL + "/sse", stream=True) as answer:
    lines = answer.iter_lines(chunk_size=1)
    show("closed early", next(lines), next(lines))
with session.get(URL + "/slow?gate=requests", stream=True) as answer:
    lines = answer.iter_lines(chunk_size=1)
    first = next(lines)
    requests.get(URL + "/open?gate=requests")
    show("slow", first, list(lines))
tried("dropped", lambda: session.get(URL + "/drop").content)
tried("dropped chunks", lambda: session.get(URL + "/drop-chunked").content)
tried("disconnected", lambda: session.get(URL + "/disconnect"))
tried("refused", lambda: requests.get(f"http://127.0.0.1:{CLOSED_PORT}/"))
tried("timeout", lambda: session.get(URL + "/hang", timeout=0.05))
tried("no such host", lambda: session.get("http://name.invalid/"))
tried("unverified", lambda: requests.get(f"https://127.0.0.1:{CLOSED_PORT}/", verify=False))
show("closing", session.get(URL + "/close").text, session.get(URL + "/close").reason)

retrying = requests.Session()
retrying.mount(
    "http://", HTTPAdapter(max_retries=Retry(3, backoff_factor=0, status_forcelist=[429], allowed_methods=None))
)
answer = retrying.get(URL + "/limited?name=requests")
show("limited", answer.status_code, len(answer.raw.retries.history))
tried("retried in vain", lambda: retrying.get(URL + "/nowhere").status_code)
tried("retried drops", lambda: retrying.get(URL + "/disconnect"))

pool = urllib3.PoolManager()
answer = pool.request("GET", URL + "/json", fields={"q": "pool"})
show("urllib3", answer.status, answer.data, answer.headers["content-type"])
answer = pool.request("GET", URL + "/sse", preload_content=False)
show("stream", b"".join(answer.stream(16)))
answer.release_conn()
answer = pool.request("GET", URL + "/json", preload_content=False)
show("lines", list(answer))
warnings.simplefilter("ignore")
tried("no retries", lambda: pool.request("GET", URL + "/disconnect", retries=False))
