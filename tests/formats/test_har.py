"""HTTP archives of browsers, mitmproxy and Playwright."""

from __future__ import annotations

import base64
import io
import json
import zipfile

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.exchange.frames import frame_bytes
from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.session.summary import summary
from tests.formats.conftest import counts, imported

ASKED = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
SAID = {"model": "m-1", "choices": [{"message": {"role": "assistant", "content": "yo"}}]}


def entry(url="https://h/v1/chat/completions", *, at=0, body=ASKED, status=200, content=None, method="POST", **more):
    request = {"method": method, "url": url, "headers": [{"name": "Authorization", "value": "Bearer leak"}]}
    if body is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(body)}
    content = {"mimeType": "application/json", "size": 9, "text": json.dumps(SAID)} if content is None else content
    response = {"status": status, "headers": [{"name": "content-encoding", "value": "br"}], "content": content}
    return {
        "startedDateTime": f"2026-11-30T07:00:{at:02}.000Z",
        "time": 12.5,
        "request": request,
        "response": response,
        **more,
    }


def har(*entries, **more):
    return json.dumps(
        {"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": entries, **more}}
    ).encode()


def test_the_shared_archive_has_the_events_that_were_counted(shared_samples):
    if shared_samples is not None:
        recording = imported(shared_samples / "har" / "weather_agent-mitmproxy11.har")
        assert counts(recording) == {"llm": 7, "tool": 6, "throws": 1, "pending": 0}
        assert recording.events[0].ms > 1 and recording.events[0].at > 1.7e12


def test_entries_in_order_of_time_with_their_durations_and_no_secret():
    recording = read_foreign(
        har(entry(at=5), entry(at=1, content={"mimeType": "text/plain", "text": "first"}, url="https://h/x"))
    )
    assert [(e.channel, e.key, e.ms) for e in recording.events] == [("http", "POST h/x", 12.5), ("llm", "m-1", 12.5)]
    assert recording.notes == () and recording.meta["source"]["creator"] == {"name": "t", "version": "1"}
    assert not any(b"leak" in recording.blobs.payload(ref).raw for ref in recording.blobs.refs())


def test_bodies_in_base64_left_out_or_of_an_asset():
    text = base64.b64encode(json.dumps(SAID).encode()).decode()
    contents = [
        {"mimeType": "application/json", "encoding": "base64", "text": text},
        {"mimeType": "application/json", "size": 400},
        {"mimeType": "application/json", "size": 0},
        {"mimeType": "image/png", "text": text, "encoding": "base64", "size": 99},
    ]
    recording = read_foreign(
        har(
            *(
                entry(content=c, method="GET" if "png" in c["mimeType"] else "POST", at=at)
                for at, c in enumerate(contents)
            )
        )
    )
    assert summary(recording, recording.events[0]) == "yo"
    assert [json.loads(e.extra.get("cut", b"null")) for e in recording.events] == [
        None, "the capture kept no body", None, "the body of a page's asset is left out",
    ]  # fmt: skip
    assert recording.meta["source"]["skipped"] == {"bodies of assets": 1}


def test_requests_that_failed_and_sockets():
    messages = [{"type": "send", "time": 1.0, "opcode": 1, "data": "hello"}]
    recording = read_foreign(
        har(
            entry(status=0, content={"size": 0}),
            entry("wss://h/live", method="GET", body=None, status=101, content={}, _webSocketMessages=messages, at=1),
            entry(status=500, content={"mimeType": "text/plain", "text": "oops"}, at=2),
        )
    )
    assert [e.outcome for e in recording.events] == ["throw", "return", "throw"]
    assert recording.blobs.tree(recording.events[0].ref) == {"error": "no response"}
    assert recording.blobs.tree(recording.events[1].ref)["body"] == messages
    assert summary(recording, recording.events[2]) == "500 oops"


def playwright(name="har.har", attached="a1.json"):
    content = {"mimeType": "application/json", "_file": attached}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(
            name, har(entry(content=content), entry(content={"mimeType": "application/json", "_file": "../gone"}, at=1))
        )
        archive.writestr("a1.json", json.dumps(SAID))
    return buffer.getvalue()


def test_a_playwright_zip_has_its_bodies_in_files(tmp_path):
    path = tmp_path / "trace.zip"
    path.write_bytes(playwright())
    recording = imported(path)
    assert summary(recording, recording.events[0]) == "yo"
    assert b"not there" in recording.events[1].extra["cut"]


def test_a_damaged_body_in_a_zip_is_named_and_the_rest_is_read(tmp_path):
    path = tmp_path / "trace.zip"
    path.write_bytes(playwright().replace(b'"yo"', b'"no"', 1))
    recording = imported(path)
    assert len(recording.events) == 2
    assert b"member a1.json is damaged" in recording.events[0].extra["cut"]


def test_bodies_beside_an_archive_stay_in_its_folder(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (tmp_path / "out.json").write_text(json.dumps(SAID))
    (folder / "a1.json").write_text(json.dumps(SAID))
    contents = [{"mimeType": "application/json", "_file": name} for name in ("a1.json", "../out.json")]
    (folder / "x.har").write_bytes(har(*(entry(content=c, at=at) for at, c in enumerate(contents))))
    recording = imported(folder / "x.har")
    assert [summary(recording, e) for e in recording.events] == ["yo", "200"]


def test_entries_of_odd_shapes_are_left_out_and_said():
    recording = read_foreign(
        har(1, {"request": None}, {"request": {"method": "GET", "url": "https://h/"}}, entry(at=3))
    )
    assert counts(recording) == {"http": 1, "llm": 1, "throws": 1, "pending": 0}
    assert [note.kind for note in recording.notes] == ["damaged-entry"]
    with pytest.raises(StashError, match="without a list of entries"):
        read_foreign(b'{"log":{"version":"1.2","entries":{}}}')


def chrome(url, status, content, *, at, method="POST", error=None, **more):
    """Return an entry as the developer tools of Chrome write it."""
    response = {
        "status": status, "statusText": "", "httpVersion": "http/2.0", "cookies": [], "redirectURL": "",
        "headers": [{"name": ":status", "value": str(status)}] if status else [], "headersSize": -1, "bodySize": -1,
        "content": {"size": 0, "mimeType": "x-unknown", **content}, "_transferSize": 0, "_error": error,
    }  # fmt: skip
    request = {
        "method": method, "url": url, "httpVersion": "http/2.0", "cookies": [], "queryString": [], "headersSize": -1,
        "headers": [{"name": ":authority", "value": "h"}, {"name": "content-type", "value": "application/json"}],
        "bodySize": 1, "postData": {"mimeType": "application/json", "text": json.dumps({**ASKED, "stream": True})},
    }  # fmt: skip
    timings = {"blocked": 1.5, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 2, "receive": 3}
    return {
        "_initiator": {"type": "script", "stack": {"callFrames": []}}, "_priority": "High", "_resourceType": "fetch",
        "cache": {}, "connection": "42", "pageref": "page_1", "request": request, "response": response,
        "serverIPAddress": "::1", "startedDateTime": f"2026-11-30T07:00:{at:02}.123Z", "time": 6.5,
        "timings": {**timings, "_blocked_queueing": 1.5}, **more,
    }  # fmt: skip


def test_an_archive_of_chromes_developer_tools():
    events = [{"model": "m-2", "choices": [{"index": 0, "delta": {"content": text}}]} for text in ("He", "y")]
    spelled = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"
    packed = {"text": base64.b64encode(spelled.encode()).decode(), "encoding": "base64"}
    frames = [{"type": "send", "time": 1764486000.5, "opcode": 1, "data": "hello"}]
    url, kind = "https://h/v1/chat/completions", {"mimeType": "text/event-stream", "size": len(spelled)}
    recording = read_foreign(
        har(
            chrome(url, 200, {**kind, "text": spelled}, at=1),
            chrome(url, 200, {**kind, **packed}, at=2, _fromCache="disk"),
            chrome(url, 200, kind, at=3),
            chrome(url, 0, {}, at=4, error="net::ERR_CONNECTION_REFUSED"),
            chrome("wss://h/x", 101, {}, at=5, method="GET", _resourceType="websocket", _webSocketMessages=frames),
            pages=[{"id": "page_1"}],
            creator={"name": "WebInspector", "version": "537.36"},
        )
    )
    answers = [recording.blobs.tree(event.ref) for event in recording.events]

    assert [(e.channel, e.key, e.ms) for e in recording.events[:3]] == [("llm", "m-2", 6.5)] * 2 + [("llm", "m", 6.5)]
    assert [summary(recording, event) for event in recording.events[:2]] == ["Hey", "Hey"]
    assert len(answers[0]["body"]["chunks"]) == 3 and answers[0]["body"] == answers[1]["body"]
    assert b"kept no body" in recording.events[2].extra["cut"]
    assert answers[3] == {"error": "net::ERR_CONNECTION_REFUSED"} and "cut" not in recording.events[3].extra
    assert answers[4] == {"status": 101, "headers": {}, "body": frames, "spelling": "spaced"}


def test_an_archive_of_playwright_attaches_bodies_of_requests_and_sockets(tmp_path):
    unknown = {"size": -1, "mimeType": "x-unknown"}
    attached = {"mimeType": "application/json", "size": 9}
    asked = entry(body=None, content={**attached, "_file": "b.json"})
    asked["request"]["postData"] = {"mimeType": "application/json", "text": "", "params": [], "_file": "a.json"}
    failed, stopped, slim = (entry(status=-1, content=unknown, at=at) for at in (1, 2, 4))
    failed["response"]["_failureText"], stopped["_wasAborted"] = "net::ERR_ABORTED", True
    slim["response"]["status"] = 200
    socket = entry("wss://h/x", method="GET", body=None, status=101, content={**unknown, "_file": "s.jsonl"}, at=3)
    archive = har(asked, failed, stopped, {**socket, "_resourceType": "websocket"}, slim)
    frames = [{"type": "receive", "time": 1.0, "opcode": 1, "data": text} for text in "ab"]
    bodies = {
        "a.json": json.dumps(ASKED),
        "b.json": json.dumps(SAID),
        "s.jsonl": "".join(json.dumps(frame) + "\n" for frame in frames),
    }
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as packed:
        packed.writestr("har.har", archive)
        for name, text in bodies.items():
            packed.writestr(name, text)
            (tmp_path / name).write_text(text)
    (tmp_path / "run.har").write_bytes(archive)

    for name in ("run.zip", "run.har"):
        recording = imported(tmp_path / name)
        answers = [recording.blobs.tree(event.ref) for event in recording.events]
        assert (recording.events[0].key, summary(recording, recording.events[0])) == ("m-1", "yo")
        assert recording.blobs.tree(recording.events[0].input_ref) == ASKED
        assert answers[1:3] == [{"error": "net::ERR_ABORTED"}, {"error": "aborted"}]
        assert answers[3]["body"] == frames
        assert ["cut" in event.extra for event in recording.events] == [False, False, False, False, True]


def test_a_bedrock_stream_in_an_archive_is_the_message_it_spelled():
    events = ['{"messageStart":{"role":"assistant"}}', '{"contentBlockDelta":{"delta":{"text":"yo"}}}']
    frames = [frame_bytes(event) for event in events]
    url = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-micro-v1%3A0/converse-stream"
    kind = {"mimeType": "application/vnd.amazon.eventstream", "encoding": "base64"}
    texts = [base64.b64encode(body).decode() for body in (b"".join(frames), frames[0] + frames[1][:-1])]
    recording = read_foreign(har(*(entry(url, content={**kind, "text": text}) for text in texts)))

    assert {event.key for event in recording.events} == {"us.amazon.nova-micro-v1:0"}
    assert summary(recording, recording.events[0]) == "yo"
    assert [note.kind for note in recording.notes] == ["odd-frames"]
    assert len(recording.blobs.tree(recording.events[1].ref)["body"]["chunks"]) == 2
