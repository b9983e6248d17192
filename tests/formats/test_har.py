"""HTTP archives of browsers, mitmproxy and Playwright."""

from __future__ import annotations

import base64
import io
import json
import zipfile

import pytest

from stashdbg_core.errors import StashError
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
