"""Whole recordings as files: equal when read again, untouched text copied, flat copies for other readers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import decode_recording, encode_recording, write_recording

MakeChat = Callable[..., Recording]
IsSame = Callable[[Recording, Recording], bool]
texts = st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF), max_size=12)
trees = st.recursive(
    st.none() | st.floats(allow_nan=False, allow_infinity=False) | texts | st.integers() | st.just("b" * 1500),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
any_events = st.builds(
    RecordedEvent, st.just(0), texts, texts, st.integers(0, 99), st.sampled_from(["return", "throw"]), texts, texts,
    st.none() | st.floats(0, 1e13), st.none() | texts, st.none() | texts,
    extra=st.dictionaries(texts.map("x-".__add__), st.sampled_from([b"1e2", b"[1.10]", b"-0"]), max_size=2),
)  # fmt: skip

JS_WRITTEN = b"""{"version":1,"id":"run-n",
"events":[{"seq":0,"channel":"tool","key":"n","ordinal":0,"outcome":"return","ref":"7477e6","inputRef":"gone","cost":1.10},
 {"seq":1,"channel":"tool","key":"n","ordinal":1,"outcome":"return","ref":"36ec6a",
  "at":1.7e12}],
"blobs":{"7477e6":{"a":1.0,"b":1,"c":1E2,"d":1.10,"e":-0,"f":1e-7,"g":1e21},
  "36ec6a":{"id":9007199254740993,"lo":-9223372036854775809,"hi":18446744073709551616,
 "s":"{\\"id\\":9007199254740993}"},
  "unused":[ 1e2 , "a\\u0000b\\u001f\\u007f\\u2028c" ]},
"meta":{"seed":1E2,"source":"js"},"x-other":{"n":1.50}}
"""


def test_numbers_pass_through_as_they_were_spelled(tmp_path: Path) -> None:
    (tmp_path / "js.json").write_bytes(JS_WRITTEN)
    original = open_recording(tmp_path / "js.json")
    for copy in (
        open_recording(write_recording(original, tmp_path / "copy.json")),
        open_recording(write_recording(original, tmp_path / "flat.json", flat=True)),
        decode_recording(encode_recording(original)),
    ):
        text = encode_recording(copy)
        for token in (
            '"a":1.0,"b":1,"c":1E2,"d":1.10,"e":-0,"f":1e-7,"g":1e21', '"cost":1.10', '"at":1.7e12', '"seed":1E2',
            '"x-other":{"n":1.50}', "9007199254740993", "-9223372036854775809", "18446744073709551616",
            '"a\\u0000b\\u001f\\u007f\\u2028c"',
        ):  # fmt: skip
            assert token in text
        assert list(copy.blobs.refs()) == ["7477e6", "36ec6a", "unused"]
        assert copy.events[0].input_ref == "gone"
        assert {ref: copy.blobs.payload(ref).state for ref in copy.blobs.refs()} == dict.fromkeys(
            copy.blobs.refs(), "ok"
        )
    assert (tmp_path / "js.json").read_bytes() == JS_WRITTEN


@settings(max_examples=60, deadline=None)
@given(
    st.lists(any_events, max_size=5),
    st.lists(trees, max_size=4),
    st.dictionaries(st.text(max_size=5), trees, max_size=3),
)
def test_a_recording_is_the_same_when_read_again(
    is_same: IsSame, events: list[RecordedEvent], values: list[object], meta: dict[str, object]
) -> None:
    blobs = BlobStore()
    refs = [blobs.put(value) for value in values] or ["none"]
    numbered = [event.replaced(seq=seq, ref=refs[seq % len(refs)]) for seq, event in enumerate(events)]
    recording = Recording("r é\ud83d", EventList(numbered), blobs, RawObject.of(meta), RawObject.of({"more": values}))
    text = encode_recording(recording)
    read = decode_recording(text)
    assert is_same(read, recording)
    assert encode_recording(read) == text
    json.loads(text)


def test_one_event_and_one_value_a_line(tmp_path: Path, make_chat: MakeChat, is_same: IsSame) -> None:
    recording = make_chat(8, complete=True)
    lines = write_recording(recording, tmp_path / "run.json").read_bytes().split(b"\n")
    assert lines[0] == b'{"version":1,"id":"chat","events":['
    assert [json.loads(line.rstrip(b","))["seq"] for line in lines[1:9]] == list(range(8))
    assert lines[9] == b'],"blobs":{'
    assert len(lines[10:-2]) == len(recording.blobs)
    assert lines[-2:] == [b'},"meta":{"complete":true}}', b""]
    empty = Recording("", EventList(), BlobStore())
    assert encode_recording(empty) == '{"version":1,"id":"","events":[],"blobs":{},"meta":{}}\n'
    assert is_same(decode_recording(encode_recording(empty)), empty)


def test_a_recording_can_be_written_over_its_own_file(tmp_path: Path, make_chat: MakeChat) -> None:
    path = write_recording(make_chat(30), tmp_path / "run.json")
    before = path.read_bytes()
    assert write_recording(open_recording(path), path, overwrite=True) == path
    assert path.read_bytes() == before
    assert write_recording(open_recording(path), path).name == "run-2.json"
    assert path.read_bytes() == before


def test_a_flat_copy_has_whole_values_under_their_own_hash(tmp_path: Path, make_chat: MakeChat) -> None:
    recording = make_chat(20)
    flat = json.loads(write_recording(recording, tmp_path / "flat.json", flat=True).read_bytes())
    for event, plain in zip(recording.events, flat["events"], strict=True):
        whole = flat["blobs"][plain["inputRef"]]
        assert stored_form(whole) == stored_form(recording.blobs[event.input_ref or ""])
        assert content_ref(stored_form(whole)) == plain["inputRef"]
    assert b'"$stash"' not in (tmp_path / "flat.json").read_bytes()
    assert len(flat["blobs"]) == 40
    again = open_recording(tmp_path / "flat.json")
    assert encode_recording(again, flat=True).encode() == (tmp_path / "flat.json").read_bytes()


def test_a_flat_copy_has_a_value_that_no_event_names_whole_too() -> None:
    blobs = BlobStore()
    piece = blobs.put_stored(b'["one"]')
    blobs.put_stored(b'{"$stash":"list","parts":["%b"],"items":["two"]}' % piece.encode())
    named = blobs.put({"v": 1})
    recording = Recording("r", (RecordedEvent(0, "c", "k", 0, "return", named),), blobs, RawObject({}))
    flat = json.loads(encode_recording(recording, flat=True))
    assert sorted(map(str, flat["blobs"].values())) == ["['one', 'two']", "{'v': 1}"]


def test_what_is_damaged_stays_and_costs_nothing_else() -> None:
    blobs = BlobStore()
    good = blobs.put({"v": 1})
    swapped = content_ref(b'"other"')
    blobs.put_raw(swapped, b'"price 1"')
    blobs.put_raw("nan", b'{"a": NaN, "b": 1}')
    blobs.put_raw("torn", b'{"a":')
    broken = blobs.put_stored(b'{"$stash":"ref","ref":"nowhere"}')
    refs = (good, swapped, "nan", "torn", broken)
    events = [RecordedEvent(seq, "c", "k", seq, "return", ref) for seq, ref in enumerate(refs)]
    for flat in (False, True):
        read = decode_recording(encode_recording(Recording("r", EventList(events), blobs), flat))
        assert read.blobs[good] == {"v": 1}
        assert read.blobs.payload(swapped).state == "damaged"
        assert read.blobs["nan"] == {"a": {"$stash": "float", "value": "nan"}, "b": 1}
        assert read.blobs.payload("torn").state == "missing"
        with pytest.raises(StashError, match="missing"):
            read.blobs.tree(broken)


def test_a_store_on_a_file_shows_both_and_writes_both(tmp_path: Path, make_chat: MakeChat) -> None:
    base = open_recording(write_recording(make_chat(10), tmp_path / "run.json"))
    blobs = BlobStore(base.blobs)
    new = blobs.put("edited")
    assert blobs.put(base.blobs[base.events[0].ref]) == base.events[0].ref
    assert len(blobs) == len(base.blobs) + 1
    assert list(blobs.refs()) == [*base.blobs.refs(), new]
    events = [event.replaced(ref=new) if event.seq == 3 else event for event in base.events]
    fork = decode_recording(encode_recording(Recording("fork", EventList(events), blobs, base.meta)))
    assert fork.blobs[fork.events[3].ref] == "edited"
    assert [fork.blobs[e.input_ref or ""] for e in fork.events] == [base.blobs[e.input_ref or ""] for e in base.events]


def test_a_store_says_what_is_missing_or_damaged() -> None:
    blobs = BlobStore()
    blobs.put_raw("sha256:" + "0" * 64, b"null")
    assert blobs.payload("sha256:" + "0" * 64).state == "damaged"
    assert blobs.payload("x").state == "missing"
    assert blobs.payload(blobs.put(None)).state == "ok"
    with pytest.raises(KeyError):
        blobs["x"]
    with pytest.raises(StashError, match="is missing"):
        blobs.tree("x")
    with pytest.raises(StashError, match="damaged"):
        blobs.tree("sha256:" + "0" * 64)


def test_a_reformatted_value_keeps_its_hash() -> None:
    blobs = BlobStore()
    ref = content_ref(b'{"a":[1,2.5]}')
    blobs.put_raw(ref, b'{ "a" : [\n 1, 2.5 ] }')
    assert blobs.payload(ref).state == "ok"
    read = decode_recording(encode_recording(Recording("r", EventList(), blobs)))
    assert read.blobs.payload(ref).raw == b'{"a":[1,2.5]}'
