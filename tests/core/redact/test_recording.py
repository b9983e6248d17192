"""A whole recording masked and scanned."""

from __future__ import annotations

import base64
import json
import random

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.redact import Redactor
from stashdbg_core.redact.recording import redact_recording
from stashdbg_core.redact.scan import ScanFinding, scan_recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import read_recording
from stashdbg_core.store.writer import encode_recording
from tests.core.redact.made_up_secrets import SHAPES

GONE = "sha256:" + "0" * 64
KEY = SHAPES["github"](random.Random(9))


def make() -> tuple[Recording, dict[str, str]]:
    """Return a recording with secrets in every part, and refs by name."""
    blobs = BlobStore()
    long = "an innocent text " * 200
    refs = {
        "clean": blobs.put({"text": long, "n": [1.0, 12345678901234567890]}),
        "input": blobs.put({"messages": [{"content": long}, {"content": f"use {KEY}"}]}),
        "split": blobs.put({"password": "p4ss" * 500, "other": long}),
        "orphan": blobs.put({"api_key": "orphan-1"}),
    }
    events = [
        RecordedEvent(0, "llm", f"chat {KEY}", 0, "return", refs["clean"], refs["input"], label="token=abc-123"),
        RecordedEvent(
            1, "tool", "login", 0, "return", refs["split"], "sha256:" + "0" * 64, extra={"x": b'{"pin": 12}'}
        ),
        RecordedEvent(2, "tool", "login", 1, "return", refs["clean"]),
    ]
    meta = RawObject.of({"command": ["agent", "--api-key", "k-1"], "complete": True})
    extra = RawObject({"note": b'"Bearer abcdefgh1234"', "big": b"1e400"})
    return Recording("run-1", EventList(events), blobs, meta, extra), refs


def test_nothing_is_left_and_the_clean_keeps_its_bytes() -> None:
    recording, refs = make()
    redactor = Redactor()
    masked = redact_recording(recording, redactor)
    text = encode_recording(masked)
    for secret in (KEY, "abc-123", "p4ssp4ss", "orphan-1", '"pin": 12', "k-1", "abcdefgh1234"):
        assert secret not in text
    assert masked.events[0].ref == masked.events[2].ref == refs["clean"]
    assert masked.blobs.payload(refs["clean"]).raw == recording.blobs.payload(refs["clean"]).raw
    assert masked.events[1].input_ref == GONE
    assert masked.blobs.payload(GONE).state == "missing"
    assert masked.extra.raw["big"] == b"1e400"
    assert masked.meta["redaction"]["counts"] == dict(redactor.counts)
    assert list(scan_recording(masked)) == []
    assert encode_recording(recording) == encode_recording(make()[0])


def test_masking_again_changes_nothing_and_gives_no_number_twice() -> None:
    once = redact_recording(make()[0])
    assert encode_recording(redact_recording(once)) == encode_recording(once)
    other = BlobStore(once.blobs)
    ref = other.put({"token": "brand-new"})
    events = EventList([*once.events, RecordedEvent(3, "tool", "t", 0, "return", ref)])
    again = redact_recording(Recording(once.id, events, other, once.meta, once.extra))
    number = again.blobs.tree(again.events[3].ref)["token"]
    assert number not in encode_recording(once)


def test_a_scan_names_event_part_pointer_and_kind() -> None:
    recording, refs = make()
    found = list(scan_recording(recording))
    assert ScanFinding(0, "event", "/key", "github-token") in found
    assert ScanFinding(0, "event", "/label", "token") in found
    assert ScanFinding(0, "input", "/messages/1/content", "github-token") in found
    assert ScanFinding(1, "value", "/password", "password") in found
    assert ScanFinding(1, "event", "/x/pin", "pin") in found
    assert ScanFinding(None, "meta", "/command/2", "api-key") in found
    assert ScanFinding(None, "recording", "/note", "bearer-token") in found
    assert ScanFinding(None, "blob", f"/{refs['orphan']}/api_key", "api-key") in found
    assert len(found) == 8
    assert all(KEY not in str(finding.to_json()) for finding in found)


def test_a_damaged_blob_is_masked_as_text() -> None:
    blobs = BlobStore()
    ref = "sha256:" + "1" * 64
    blobs.put_raw(ref, f'{{"a": "{KEY}"}}'.encode())
    event = RecordedEvent(0, "llm", "c", 0, "return", ref)
    recording = Recording("r", EventList([event]), blobs)
    assert [finding.part for finding in scan_recording(recording)] == ["value"]
    masked = redact_recording(recording)
    assert KEY.encode() not in masked.blobs.payload(masked.events[0].ref).raw
    assert masked.blobs.payload(masked.events[0].ref).state == "damaged"


def test_escapes_of_a_foreign_writer_hide_nothing() -> None:
    blobs = BlobStore()
    escaped = "".join(f"\\u{ord(c):04x}" for c in KEY)
    blobs.put_raw("abc", f'{{"a": "{escaped}"}}'.encode())
    recording = Recording("r", EventList([RecordedEvent(0, "llm", "c", 0, "return", "abc")]), blobs)
    masked = redact_recording(recording)
    assert masked.blobs.tree(masked.events[0].ref) == {"a": "[REDACTED:github-token#1]"}


def test_another_spelling_hides_no_secret() -> None:
    blobs = BlobStore()
    values = {
        "bytes": {"$stash": "bytes", "base64": base64.b64encode(f"token {KEY}".encode()).decode()},
        "stream": {
            "$stash": "stream",
            "kind": "sync",
            "chunks": [KEY[:9], KEY[9:]],
            "times": [1, 2],
            "ending": "closed",
        },
    }
    events = [
        RecordedEvent(seq, "c", key, 0, "return", blobs.put(tree)) for seq, (key, tree) in enumerate(values.items())
    ]
    text = encode_recording(Recording("run-1", EventList(events), blobs, RawObject.of({"complete": True})))
    for separators in ((",", ":"), (", ", ": "), (" , ", " : ")):
        respelled = read_recording(json.dumps(json.loads(text), separators=separators).encode())
        assert {finding.seq for finding in scan_recording(respelled)} == {0, 1}, separators
        masked = redact_recording(respelled)
        assert not list(scan_recording(masked))
        assert masked.blobs.tree(masked.events[1].ref)["chunks"] != values["stream"]["chunks"]


def test_what_no_reader_could_open_is_masked_and_keeps_its_escapes() -> None:
    """A value that is circular is masked as the text it is, in which half a character stands as an escape."""
    blobs = BlobStore()
    blobs.put_raw("p1", '{"é": "\\ud800", "password": "hunter-2-hunter", "own": {"$stash":"ref","ref":"p1"}}'.encode())
    recording = Recording("run-1", EventList([RecordedEvent(0, "tool", "login", 0, "return", "p1")]), blobs)
    masked = redact_recording(recording, Redactor()).blobs.payload("p1").raw.decode()
    assert "hunter" not in masked
    assert '"é": "\\ud800"' in masked
