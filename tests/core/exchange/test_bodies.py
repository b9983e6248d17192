"""Responses kept as trees and given back byte for byte, headers, spellings, streams and content codings among them."""

from __future__ import annotations

import copy
import gzip
import json
import zlib

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.exchange.bodies import body_tree, response_parts, response_tree
from stashdbg_core.exchange.coding import content_decoded, undecodable
from stashdbg_core.exchange.rpc import addressed
from stashdbg_core.exchange.shape import is_response
from stashdbg_core.exchange.spelling import spelled_text, spelled_tree
from stashdbg_core.exchange.sse import event_json, event_texts, line_texts
from stashdbg_core.parse import parse_json
from stashdbg_core.redact import Redactor

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
KEYS = st.text(max_size=6) | st.just("$stash")
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
EVENT = st.sampled_from(
    ['data: {"a": 1}', "data:x\ndata: y", ": ping", "event: e\r\ndata: é", "id: 1", "[DONE]", "\ufeff"]
)
END = st.sampled_from(["\n\n", "\r\n\r\n", "\r\r", "\n", "\r\n\n", "\n\r\n\n", ""])
KIND = st.sampled_from(["application/json", "text/event-stream", "application/x-ndjson", "text/html", ""])
BODIES = (
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass"))
    | JSON.map(lambda tree: json.dumps(tree).encode())
    | st.builds(
        lambda tree, spelling: spelled_text(tree, spelling).encode("utf-8", "replace"),
        st.dictionaries(st.text(max_size=5), LEAVES),
        st.sampled_from(["compact", "spaced", "indent", "indent4-ascii-newline", "compact-html-newline"]),
    )
    | st.lists(st.tuples(EVENT, END), max_size=6).map(lambda parts: "".join(a + b for a, b in parts).encode())
)


@given(body=BODIES, kind=KIND, cut=st.integers(1, 9), status=st.integers(100, 599))
@settings(max_examples=120, deadline=None)
def test_a_response_comes_back_byte_for_byte_however_it_was_cut(body, kind, cut, status):
    chunks = [body[at : at + cut] for at in range(0, len(body), cut)]
    times = [float(at) for at in range(len(chunks))]
    tree = response_tree(status, {"Content-Type": kind}, chunks, times_ms=times)
    stored = parse_json(stored_form(tree))
    assert stored == tree and is_response(stored)
    parts = response_parts(stored)
    assert (parts.status, parts.headers, b"".join(parts.chunks)) == (status, [("content-type", kind)], body)
    assert parts.ending == "complete" and parts.times_ms == sorted(parts.times_ms)


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ('{"a":[1,{}],"é":"ü"}', "compact"),
        ('{"a": [1, {}], "é": null}', "spaced"),
        ('{"a": "\\u00e9"}', "spaced-ascii"),
        ('{"a":"\\u003cb\\u003e"}\n', "compact-html-newline"),
        ('{\n  "a": [],\n  "b": [\n    1.5\n  ]\n}\n', "indent-newline"),
        ('[\n    1\n]', "indent4"),
        ("[]", "compact"),
        ("{}\n", "compact-newline"),
    ],
)  # fmt: skip
def test_the_usual_spellings_are_told_apart(text, spelling):
    assert spelled_tree(text) == (json.loads(text), spelling)
    assert response_tree(200, {}, text.encode()).get("spelling", "compact") == spelling


@pytest.mark.parametrize(
    "text", ['{"a" :1}', '{"a":1.50}', '{"a":1,"a":2}', '{"a":1e400}', '"text"', "null", "", "{", '{"a":"\\/"}', " {}"]
)
def test_json_that_no_spelling_gives_back_stays_text(text):
    assert response_tree(200, {}, text.encode())["body"] == text


def test_secrets_and_what_is_about_the_connection_are_no_headers_of_a_recording():
    headers = [
        ("Content-Type", "application/json"), ("Authorization", "Bearer 1"), ("Transfer-Encoding", "chunked"),
        ("Content-Encoding", "gzip"), ("Content-Length", "7"), ("Connection", "X-Hop"), ("X-Hop", "1"),
        ("Vary", "a"), ("vary", "b"), ("X-Request-Id", "req_1"),
    ]  # fmt: skip
    kept = {"content-type": "application/json", "vary": "a, b", "x-request-id": "req_1"}
    assert response_tree(200, headers, b"{}")["headers"] == kept


def test_cookies_keep_their_names_and_lose_their_values():
    date = ("date", "Wed, 01 Jan 2020 00:00:00 GMT")
    session = "session=s3cr3t==; Path=/; Expires=Thu, 02 Jan 2020 00:00:00 GMT; HttpOnly; Note=also secret"
    masked = "session=[REDACTED:cookie]; Path=/; HttpOnly"
    gone = "old=; expires=Tue, 31 Dec 2019 00:00:00 GMT; max-age=0"
    tree = response_tree(200, [date, ("Set-Cookie", session)], b"")
    assert tree["headers"]["set-cookie"] == masked
    several = response_tree(200, [date, ("Set-Cookie", session), ("set-cookie", gone), ("Set-Cookie", "bare")], b"")
    assert several["headers"]["set-cookie"] == [masked, gone, "[REDACTED:cookie]"]
    for known in (tree, several):
        assert Redactor().redact_tree(known) == known
        assert dict(response_parts(known).headers)["date"] == date[1]
    assert response_parts(several).headers[1:] == [("set-cookie", text) for text in (masked, gone, "[REDACTED:cookie]")]
    assert "s3cr3t" not in str(Redactor().redact_tree({"headers": {"set-cookie": "session=s3cr3t; Path=/"}}))


def test_each_event_of_a_stream_has_the_time_at_which_it_was_whole():
    chunks = [b'data: {"a":', b"1}\n\ndata: [DO", b"NE]\n\n"]
    tree = response_tree(200, {"content-type": "text/event-stream"}, chunks, times_ms=[1.0, 2.0, 9.0])
    assert tree["body"]["chunks"] == ['data: {"a":1}\n\n', "data: [DONE]\n\n"] and tree["body"]["times"] == [2.0, 9.0]


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
def test_a_body_that_was_cut_says_so(kind):
    error = {"$stash": "exception", "class": "httpx:ReadError", "text": "reset", "args": []}
    tree = response_tree(200, {"content-type": kind}, b'data: {"a"', ending="failed", error=error)
    parts = response_parts(tree)
    assert (parts.ending, parts.error, b"".join(parts.chunks)) == ("failed", error, b'data: {"a"')


def test_an_edited_tree_is_a_response_too():
    tree = response_tree(200, {"content-type": "application/json"}, b'{"a": "x"}')
    edited = copy.deepcopy(tree)
    edited["body"]["a"] = "y"
    assert response_parts(edited).chunks == [b'{"a": "y"}']
    assert response_parts({"status": 429, "body": None}).chunks == [b"null"]
    stream = response_tree(200, {"content-type": "text/event-stream"}, b"data: 1\n\ndata: 2\n\n")
    stream["body"]["chunks"][1:] = ["data: 3\n\n"]
    assert b"".join(response_parts(stream).chunks) == b"data: 1\n\ndata: 3\n\n"


@pytest.mark.parametrize("tree", [None, {}, {"status": 200}, {"status": "200", "body": ""}, {"status": 99, "body": ""}])
def test_what_is_no_response_is_refused(tree):
    assert not is_response(tree)
    with pytest.raises(StashError, match="no HTTP response"):
        response_parts(tree)


def test_content_codings_are_undone_where_they_can_be():
    body = b'{"a": 1}' * 50
    bare = zlib.compressobj(wbits=-15)
    packed = {
        "gzip": gzip.compress(body[:200]) + gzip.compress(body[200:]),
        "deflate": zlib.compress(body),
        "Deflate": bare.compress(body) + bare.flush(),
        "zstd": zstandard.compress(body),
        "identity": body,
        "x-unknown": body,
        "gzip, deflate": zlib.compress(gzip.compress(body)),
    }
    for coding, sent in packed.items():
        assert content_decoded({"Content-Encoding": coding}, sent) == body, coding
    assert content_decoded({"content-encoding": ["gzip"]}, body) == body  # decoded before, the header kept
    assert body.startswith(content_decoded({"content-encoding": "gzip"}, packed["gzip"][:30]))
    assert undecodable({"content-encoding": "gzip, x-unknown"}) == "x-unknown"
    assert undecodable({"content-encoding": "gzip"}) is None


def test_equal_requests_have_equal_inputs():
    form = b"--%s\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--%s--\r\n"
    kind = "multipart/form-data; boundary=%s"
    one, two = (body_tree({"content-type": kind % word}, form.replace(b"%s", word.encode())) for word in ("aa1", "bb2"))
    assert one == two and "boundary" in one
    assert body_tree({}, b'{ "a":1 }') == {"a": 1} and body_tree({}, b"a=1") == "a=1" and body_tree({}, b"") == ""
    assert body_tree({}, b'{"$stash": "ref"}') == {"$stash": "dict", "items": [["$stash", "ref"]]}
    assert body_tree({}, b"\xff") == {"$stash": "bytes", "base64": "/w=="}


@given(st.lists(st.tuples(EVENT, END), max_size=8))
@settings(max_examples=60)
def test_cutting_a_stream_loses_nothing(parts):
    text = "".join(event + end for event, end in parts)
    assert "".join(event_texts(text)) == text == "".join(line_texts(text))


def test_the_json_of_an_event_is_put_back_as_it_was_spelled():
    text = 'event: x\ndata: {"a": "é"}\nid: 1\n\n'
    found = event_json(text)
    assert found.text_with(found.tree) == text
    assert found.text_with({"a": 2}) == 'event: x\ndata: {"a": 2}\nid: 1\n\n'
    assert event_json('{"a":1}\n').text_with({"a": 2}) == '{"a":2}\n'
    assert [event_json(t) for t in ("data: [DONE]\n\n", ": ping\n\n", "", "data: 1\n\n", "data: {\ndata: }\n\n")] == [
        None
    ] * 5


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_a_json_rpc_answer_gets_the_id_of_the_request_it_answers(kind):
    answer = b'{"jsonrpc":"2.0","id":1,"result":{"ok":true}}'
    body = (
        answer if kind == "application/json" else b'data: {"jsonrpc":"2.0","method":"p"}\n\ndata: ' + answer + b"\n\n"
    )
    tree = response_tree(200, {"content-type": kind}, body)
    asked = b'{"jsonrpc":"2.0","id":"x7","method":"ping"}'
    assert b"".join(response_parts(addressed(tree, asked)).chunks) == body.replace(b'"id":1', b'"id":"x7"')
    assert addressed(tree, b'{"jsonrpc":"2.0","method":"note"}') == tree == addressed(tree, b"{}")
