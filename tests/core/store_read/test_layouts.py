"""One recording in many layouts reads the same; damage costs a part and is named with its place."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.store.layout_compact import index_compact
from stashdbg_core.store.layout_lines import index_lines
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_recording, read_recording
from stashdbg_core.store.source import BytesSource
from stashdbg_core.store.writer import write_recording

Document = dict[str, Any]


def document(count: int = 50) -> Document:
    events, blobs = [], {}
    for seq in range(count):
        value = {"text": f"reply {seq} \n\u2028 é", "meta": {"seq": seq}, "at": [1.5, None]}
        ref = content_ref(stored_form(value))
        blobs[ref] = value
        events.append(
            {
                "seq": seq,
                "channel": "llm",
                "key": "chat",
                "ordinal": seq,
                "outcome": "return",
                "ref": ref,
                "at": 1.0 + seq,
            }
        )
    return {"version": 1, "id": "run", "events": events, "blobs": blobs, "meta": {"complete": True, "n": 1}}


def lines(doc: Document) -> bytes:
    rows = b",\n".join(stored_form(event) for event in doc["events"])
    blobs = b",\n".join(b'"%b":%b' % (ref.encode(), stored_form(value)) for ref, value in doc["blobs"].items())
    rest = b"".join(
        b",%b:%b" % (stored_form(key), stored_form(doc[key]))
        for key in doc
        if key not in ("version", "id", "events", "blobs", "meta")
    )
    head = b'{"version":1,"id":%b,"events":[' % stored_form(doc["id"])
    middle = b'\n%b\n],"blobs":{' % rows if rows else b'],"blobs":{'
    return (
        head
        + middle
        + (b"\n" + blobs + b"\n" if blobs else b"")
        + b'},"meta":'
        + stored_form(doc["meta"])
        + rest
        + b"}\n"
    )


def shuffled(doc: Document) -> Document:
    return {key: doc[key] for key in ("meta", "blobs", "id", "events", "version")}


LAYOUTS = {
    "lines": lines,
    "one line": stored_form,
    "one line, values first": lambda doc: stored_form(shuffled(doc)),
    "pretty": lambda doc: json.dumps(doc, indent=2).encode(),
    "pretty, tabs, values first": lambda doc: json.dumps(shuffled(doc), indent="\t", ensure_ascii=False).encode(),
    "BOM": lambda doc: b"\xef\xbb\xbf" + lines(doc),
    "CRLF": lambda doc: json.dumps(doc, indent=2).replace("\n", "\r\n").encode(),
}


def facts(recording: Recording) -> tuple[Any, ...]:
    values = {ref: recording.blobs[ref] for ref in recording.blobs.refs()}
    return recording.id, list(recording.events), values, dict(recording.meta), dict(recording.extra)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_reads_the_same(name: str, tmp_path: Path) -> None:
    doc = document()
    path = tmp_path / "run.json"
    path.write_bytes(LAYOUTS[name](doc))
    recording = open_recording(path)
    assert facts(recording) == facts(read_recording(lines(doc)))
    assert recording.notes == ()
    assert recording.complete
    assert recording.path == path
    assert all(recording.blobs.payload(event.ref).state == "ok" for event in recording.events)
    assert [event.seq for event in recording.events] == list(range(50))


@pytest.mark.parametrize("count", [0, 1, 2, 5000])
def test_the_fast_layouts_are_taken(count: int) -> None:
    doc = document(count)
    found = index_lines(BytesSource(lines(doc)), Limits())
    assert found is not None
    assert (len(found.events), len(found.blobs)) == (count, count)
    one_line = index_compact(BytesSource(stored_form(doc)), Limits())
    assert count == 0 or (one_line is not None and len(one_line.events) == count)


def test_unknown_keys_survive_as_they_were_spelled() -> None:
    doc = {**document(2), "note": "x"}
    recording = read_recording(lines(doc).replace(b'"note":"x"', b'"note":[1.10,1E2]'))
    assert recording.extra.raw == {"note": b"[1.10,1E2]"}
    assert recording.meta.raw == {"complete": b"true", "n": b"1"}


def test_columns_answer_as_the_events_do() -> None:
    doc = document(20)
    doc["events"][3].update(ms=12.5, thread="worker", ordinal=10**12)
    events: Any = read_recording(lines(doc)).events
    for position, event in enumerate(events):
        assert events.channel_at(position) == event.channel
        assert events.key_at(position) == event.key
        assert events.outcome_at(position) == event.outcome
        assert events.ordinal_at(position) == event.ordinal
        assert events.ms_at(position) == event.ms
        assert events.at_at(position) == event.at
        assert events.thread_at(position) == event.thread
        assert events.seq_at(position) == event.seq
    assert events[-1].seq == 19
    assert [event.seq for event in events[5:8]] == [5, 6, 7]
    assert events.position_of(7) == 7
    assert events.position_of(99) is None
    with pytest.raises(IndexError):
        events[20]


def test_events_come_in_seq_order_and_odd_numbers_are_named() -> None:
    doc = document(4)
    for event, seq in zip(doc["events"], [5, 0, 1, 1], strict=True):
        event["seq"] = seq
    recording = read_recording(lines(doc))
    assert [event.seq for event in recording.events] == [0, 1, 1, 5]
    kinds = [(note.kind, note.seq) for note in recording.notes if not note.kind.startswith("ordinal")]
    assert kinds == [("unsorted", None), ("seq-repeated", 1), ("seq-gap", 5)]
    assert recording.events.position_of(1) == 1


def test_notes_of_a_kind_are_counted_after_a_hundred() -> None:
    doc = document(300)
    doc["blobs"] = {}
    missing = [note for note in read_recording(lines(doc)).notes if note.kind == "missing-blob"]
    assert len(missing) == 101
    assert missing[-1].message == "and 200 more notes of this kind"


def test_a_foreign_input_without_a_value_is_no_damage() -> None:
    doc = document(1)
    doc["events"][0]["inputRef"] = "cyrb53:123"
    assert [note.kind for note in read_recording(lines(doc)).notes] == ["input-not-stored"]
    doc["events"][0]["inputRef"] = "sha256:" + "ab" * 32
    assert [note.kind for note in read_recording(lines(doc)).notes] == ["missing-blob"]


def test_a_value_that_was_edited_is_damaged_and_a_reformatted_one_is_not() -> None:
    doc = document(2)
    first, second = (event["ref"] for event in doc["events"])
    edited = read_recording(lines(doc).replace(b"reply 0", b"reply 9"))
    assert edited.blobs.payload(first).state == "damaged"
    assert edited.blobs.payload(second).state == "ok"
    pretty = read_recording(json.dumps(doc, indent=4).encode())
    assert pretty.blobs.payload(first).state == "ok"


def test_a_value_given_twice_is_named() -> None:
    doc = document(2)
    first = doc["events"][0]["ref"].encode()
    for layout in (lines, stored_form):
        data = layout(doc).replace(b'"blobs":{', b'"blobs":{"%b":1,' % first, 1)
        recording = read_recording(data)
        assert [note.kind for note in recording.notes] == ["duplicate-key"]
        assert recording.notes[0].ref == first.decode()
        assert recording.blobs.payload(first.decode()).state == "ok"  # the last counts, and it hashes to its reference
        assert len(recording.blobs) == len(list(recording.blobs)) == 2


def test_a_foreign_value_given_twice_is_damaged() -> None:
    data = stored_form({"version": 1, "id": "x", "events": [], "blobs": {"r": 1}, "meta": {}})
    recording = read_recording(data.replace(b'{"r":1}', b'{"r":1,"r":2}'))
    assert recording.blobs.payload("r").state == "damaged"
    assert [note.kind for note in recording.notes] == ["duplicate-key"]


def test_top_level_keys_given_twice_are_named() -> None:
    for key in ("events", "blobs", "meta", "id"):
        data = stored_form(document(2))[:-1] + b',"%b":%b}' % (key.encode(), b'"again"' if key == "id" else b"{}")
        assert "duplicate-key" in [note.kind for note in read_recording(data).notes], key


def test_bad_utf8_costs_one_value() -> None:
    doc = document(3)
    recording = read_recording(lines(doc).replace(b"reply 1", b"reply\xff1"))
    states = [recording.blobs.payload(event.ref) for event in recording.events]
    assert [payload.state for payload in states] == ["ok", "damaged", "ok"]
    assert "not UTF-8" in str(states[1].problem)


@pytest.mark.parametrize("layout", ["lines", "one line", "pretty"])
def test_cut_anywhere_what_is_whole_is_read(layout: str) -> None:
    data = LAYOUTS[layout](document(5))
    end = len(data.rstrip())
    before = (-1, -1)
    for size in range(60, end):
        recording = read_recording(data[:size])
        note = next(note for note in recording.notes if note.kind == "truncated")
        assert note.offset is not None
        assert note.offset <= size
        assert not recording.complete
        assert "byte" in note.message
        read = (len(recording.events), len(recording.blobs))
        assert read >= before
        before = read
    assert before == (5, 5)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "holds only white space"),
        (json.dumps({"version": 1}).encode("utf-16"), "UTF-16"),
        (json.dumps({"version": 1}).encode("utf-16-le"), "UTF-16"),
        (b"import os\nprint(1)\n", "source code"),
        (b"PK\x03\x04rest", "a zip archive"),
        (b"[]", "a JSON list"),
        (b'"text"', "a JSON string"),
        (b"{}", "without version and events"),
        (b'{"version":1}', "no events"),
        (b'{"type":"user","sessionId":"x"}\n{"type":"assistant"}\n', "an agent's session log"),
        (b'{"resourceSpans":[]}', "an OpenTelemetry trace"),
        (b'{"id":"x","events":[],"blobs":{},"meta":{}}', "without a version"),
        (b'{"version":1.0,"id":"x","events":[],"blobs":{},"meta":{}}', "has version 1.0"),
        (b"\0\0\0\0\0", "binary data"),
        (b"hello", "is not JSON"),
    ],
)
def test_other_files_are_refused_by_what_they_look_like(data: bytes, what: str) -> None:
    with pytest.raises(StashError) as caught:
        read_recording(data)
    assert caught.value.code is ErrorCode.INVALID_RECORDING
    assert what in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("limit", ["size=100", "events=3", "blobs=3", "line=50"])
@pytest.mark.parametrize("layout", ["lines", "one line", "pretty"])
def test_limits_are_named_when_broken(limit: str, layout: str) -> None:
    with pytest.raises(StashError) as caught:
        read_recording(LAYOUTS[layout](document()), limits=Limits.parse([limit]))
    assert caught.value.code is ErrorCode.INVALID_RECORDING
    assert limit in caught.value.message
    assert caught.value.details["limit"] == limit.split("=")[0]


def test_a_value_a_thousand_deep_opens() -> None:
    doc = document(1)
    deep = b'"x":' + b"[" * 1000 + b"]" * 1000 + b","
    recording = read_recording(stored_form(doc).replace(b'"blobs":{', b'"blobs":{' + deep))
    assert recording.blobs.payload("x").state == "ok"
    assert recording.blobs.payload(recording.events[0].ref).state == "ok"


def test_a_key_of_data_that_looks_like_a_reference_is_no_value() -> None:
    ref = "sha256:" + "0" * 64
    value = {ref: {"x": 1}, "events": [{"seq": 1}, {"seq": 2}], "meta": {}, "blobs": {}}
    own = content_ref(stored_form(value))
    doc = document(2)
    doc["blobs"][own] = value
    doc["events"][0]["nested"] = [{"a": 1}, {"seq": 1}, {"blobs": {ref: 1}}]
    for layout in (lines, stored_form):
        recording = read_recording(layout(doc))
        assert ref not in recording.blobs
        assert recording.blobs[own] == value
        assert len(recording.events) == 2
        assert recording.events[0].damage is None


def test_foreign_references_that_together_look_like_ours_are_found() -> None:
    first, second = "sha256:" + "a" * 64 + "sha256:" + "b" * 20, "c" * 44
    doc = document(0) | {"blobs": {first: 1, second: 2}}
    blobs = read_recording(stored_form(doc)).blobs
    assert (blobs.payload(first).raw, blobs.payload(second).raw) == (b"1", b"2")


def test_many_references_that_begin_alike_cost_no_more() -> None:
    refs = [f"sha256:{'ab' * 8}{number:048x}" for number in range(3000)]
    event = {"channel": "c", "key": "k", "outcome": "return"}
    events = [{"seq": seq, "ordinal": seq, **event, "ref": ref} for seq, ref in enumerate(refs)]
    blobs = {ref: seq for seq, ref in enumerate(refs)}
    recording = read_recording(lines({"version": 1, "id": "x", "events": events, "blobs": blobs, "meta": {}}))
    payloads = [recording.blobs.payload(ref) for ref in refs]
    assert [int(payload.raw) for payload in payloads] == list(range(3000))
    assert {payload.state for payload in payloads} == {"damaged"}


def test_what_our_writer_writes_is_the_fast_layout(tmp_path: Path) -> None:
    recording = read_recording(json.dumps({**document(), "note": [1]}, indent=2).encode())
    path = write_recording(recording, tmp_path / "out.json")
    assert index_lines(BytesSource(path.read_bytes()), Limits()) is not None
    assert facts(open_recording(path)) == facts(recording)


def test_damage_that_repeats_does_not_read_the_file_over_and_over() -> None:
    event = b'{"seq":0,"channel":"' + b"x" * 20_000 + b'","open":['
    data = b'{"version":1,"id":"x","events":[' + event * 900
    started = time.process_time()
    recording = read_recording(data)
    assert time.process_time() - started < 2
    assert not recording.complete
    assert len(recording.notes) < 300
