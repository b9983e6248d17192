"""Uses http.client and urllib in every way that matters, and prints what it sees."""

import gzip
import hashlib
import http.client
import json
import socket
import sys
import urllib.error
import urllib.request
import xmlrpc.client

URL, CLOSED_PORT = sys.argv[1], int(sys.argv[2])
HOST, PORT = URL.rpartition("/")[2].split(":")


def show(name, *facts):
    print(name, *facts, flush=True)


def tried(name, action):
    try:
        show(name, action())
    except Exception as error:  # noqa: BLE001
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        show(name, type(error).__name__, str(error), type(cause).__name__)


with urllib.request.urlopen(URL + "/json?q=1") as answer:
    show(
        "json",
        answer.status,
        answer.reason,
        answer.headers["content-type"],
        answer.headers["content-length"],
        json.load(answer),
    )
show("redirect", urllib.request.urlopen(URL + "/redirect").geturl())
tried("404", lambda: urllib.request.urlopen(URL + "/nowhere"))
try:
    urllib.request.urlopen(URL + "/nowhere")
except urllib.error.HTTPError as error:
    show("404 body", error.code, error.reason, error.read())
show("chunked", urllib.request.urlopen(URL + "/chunked").read())
show("lines", list(urllib.request.urlopen(URL + "/sse")))
with urllib.request.urlopen(URL + "/gzip") as answer:
    packed = answer.read()
    show("gzip", (gzip.decompress(packed) if answer.headers["content-encoding"] == "gzip" else packed)[:14])
show("closing", urllib.request.urlopen(URL + "/close").read(), urllib.request.urlopen(URL + "/close").version)
show("big", hashlib.sha256(urllib.request.urlopen(URL + "/big").read()).hexdigest())
show(
    "generator",
    urllib.request.urlopen(
        urllib.request.Request(URL + "/echo", data=(part for part in (b"a", b"b")), method="PUT")
    ).read(),
)
slow = urllib.request.urlopen(URL + "/slow?gate=urllib")
first = slow.readline()
urllib.request.urlopen(URL + "/open?gate=urllib").read()
show("slow", first, slow.read())
partly = urllib.request.urlopen(URL + "/sse")
show("closed early", partly.readline(), partly.readline())
partly.close()
tried("dropped", lambda: urllib.request.urlopen(URL + "/drop").read())
tried(
    "dropped by parts",
    lambda: urllib.request.urlopen(URL + "/drop").read(30) + urllib.request.urlopen(URL + "/drop").read(50),
)
tried("dropped chunks", lambda: urllib.request.urlopen(URL + "/drop-chunked").read())
tried("disconnected", lambda: urllib.request.urlopen(URL + "/disconnect"))
tried("refused", lambda: urllib.request.urlopen(f"http://127.0.0.1:{CLOSED_PORT}/"))
tried("timeout", lambda: urllib.request.urlopen(URL + "/hang", timeout=0.05))
tried("no such host", lambda: urllib.request.urlopen("http://name.invalid/"))

connection = http.client.HTTPConnection(HOST, int(PORT))
for number in range(3):  # one connection, kept alive
    connection.request("POST", "/echo", body=json.dumps({"n": number}), headers={"Content-Type": "application/json"})
    answer = connection.getresponse()
    show("kept", answer.status, answer.read(), answer.isclosed(), answer.getheader("content-type"))
connection.request("HEAD", "/json", headers={"Authorization": "Basic hunter2-hunter2", "X-Api-Key": "hunter2-hunter2"})
answer = connection.getresponse()
show("head", answer.status, answer.read())
connection.request("GET", "/empty")
answer = connection.getresponse()
show("empty", answer.status, answer.read())
connection.putrequest("POST", "/echo")
connection.putheader("Content-Length", "5")
connection.endheaders(b"he")
connection.send(b"llo")
answer = connection.getresponse()
show("by hand", answer.status, answer.read())
buffer = bytearray(4)
connection.request("GET", "/json?q=into")
answer = connection.getresponse()
show("into", answer.readinto(buffer), bytes(buffer), answer.peek(3)[:3], answer.read1(5), answer.read())
connection.close()
tried("xmlrpc", lambda: xmlrpc.client.ServerProxy(URL + "/nowhere").hello())
tried("raw name", lambda: socket.gethostbyname("127.0.0.1"))
left_open = urllib.request.urlopen(URL + "/sse")  # nobody reads it to the end
show("left open", left_open.readline())
