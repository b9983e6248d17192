"""Events as JSON text: equal after the round trip, unknown keys as they were spelled, nothing lost to damage."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.model import RecordedEvent
from stashdbg_core.store.event_record import decode_event, encode_event

REF = "sha256:" + "0" * 64
texts = st.text(st.characters(min_codepoint=0, max_codepoint=0x10FFFF), max_size=20)  # lone surrogates included
times = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**20), 10**20)
spellings = st.sampled_from([b"1e2", b"1.10", b"-0", b"1E400", b"null", b'{"a" : [1, 2.0]}', b'"\\u0061"', b"[]"])
unknown = st.dictionaries(texts.map(lambda text: "x-" + text), spellings, max_size=3)
events = st.builds(
    RecordedEvent,
    seq=st.integers(-(2**70), 2**70),
    channel=texts,
    key=texts,
    ordinal=st.integers(-5, 2**40),
    outcome=st.sampled_from(["return", "throw", "paused"]),
    ref=texts,
    input_ref=st.none() | texts,
    at=st.none() | times,
    label=st.none() | texts,
    thread=st.none() | texts,
    parent=st.none() | st.integers(),
    ms=st.none() | times,
    call_id=st.none() | texts,
    site=st.none() | texts,
    extra=unknown,
)


@settings(max_examples=100, deadline=None)
@given(events)
def test_decoding_gives_the_event_that_was_encoded(event: RecordedEvent) -> None:
    text = encode_event(event)
    decoded = decode_event(text, 7)
    assert decoded == event
    assert b"\n" not in text
    assert encode_event(decoded) == text


def test_keys_stand_in_the_order_of_the_format() -> None:
    event = RecordedEvent(
        3, "llm", "k", 1, "return", REF, REF, 1.5, "plan", "w1", 0, 2.25, "toolu_1", "a.py:1 f", {"z": b"1e2"}
    )
    assert list(json.loads(encode_event(event))) == [
        "seq", "channel", "key", "ordinal", "outcome", "ref", "inputRef", "at", "label", "thread", "parent", "ms",
        "callId", "site", "z",
    ]  # fmt: skip
    assert list(json.loads(encode_event(RecordedEvent(3, "llm", "k", 1, "return", REF)))) == [
        "seq", "channel", "key", "ordinal", "outcome", "ref",
    ]  # fmt: skip


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_time_that_json_cannot_hold_is_left_out(number: float) -> None:
    event = RecordedEvent(0, "c", "k", 0, "return", REF, at=number, ms=number)
    assert decode_event(encode_event(event), 0) == RecordedEvent(0, "c", "k", 0, "return", REF)


WHOLE = b'{"seq":1,"channel":"c","key":"k","ordinal":0,"outcome":"return","ref":"r"'


@pytest.mark.parametrize(
    ("key", "text", "complaint"),
    [
        ("at", b'"yesterday"', "at is not a number"),
        ("at", b"true", "at is not a number"),
        ("parent", b"1.0", "parent is not an integer"),
        ("label", b"[1e2]", "label is not a string"),
        ("inputRef", b"12", "inputRef is not a string"),
    ],
)
def test_a_known_key_of_the_wrong_type_is_named_and_kept(key: str, text: bytes, complaint: str) -> None:
    raw = WHOLE + b',"' + key.encode() + b'":' + text + b"}"
    event = decode_event(raw, 0)
    assert event.damage == complaint
    assert event.extra[key] == text
    assert encode_event(event) == raw


@pytest.mark.parametrize("ordinal", [b"1.5", b'"0"', b"null", b"1e9"])
def test_an_odd_ordinal_survives_a_rewrite(ordinal: bytes) -> None:
    raw = WHOLE.replace(b'"ordinal":0', b'"ordinal":' + ordinal) + b"}"
    event = decode_event(raw, 0)
    assert (event.ordinal, event.damage) == (0, "ordinal is not an integer")
    rewritten = encode_event(event)
    assert rewritten.count(b'"ordinal"') == 1
    assert b'"ordinal":' + ordinal in rewritten


def test_an_explicit_null_is_no_damage_and_stays() -> None:
    raw = WHOLE + b',"label":null}'
    event = decode_event(raw, 0)
    assert (event.label, event.damage) == (None, None)
    assert encode_event(event) == raw


@pytest.mark.parametrize("raw", [b"null", b"[]", b'"x"', b"3", b"{", b"", b"\xff", b'{"seq":', b"true"])
def test_what_is_no_event_is_marked_with_its_place(raw: bytes) -> None:
    event = decode_event(raw, 41)
    assert (event.seq, event.outcome) == (41, "damaged")
    assert event.damage


def test_missing_keys_are_named() -> None:
    event = decode_event(b'{"channel":"c","ref":"r","outcome":"return","key":"k","ordinal":0}', 5)
    assert (event.seq, event.damage) == (5, "has no seq")


def test_a_key_that_stands_twice_is_damage() -> None:
    event = decode_event(WHOLE + b',"key":"other"}', 0)
    assert event.key == "other"
    assert event.damage is not None
    assert "/key" in event.damage


def test_spaced_out_json_is_no_damage() -> None:
    event = decode_event(json.dumps(json.loads(WHOLE + b',"z":1}'), indent=2).encode(), 0)
    assert event.damage is None
    assert event.extra == {"z": b"1"}


def test_a_lone_surrogate_and_bad_utf8_cost_no_event() -> None:
    assert decode_event(WHOLE + b',"label":"\\ud83d"}', 0).label == "\ud83d"
    damaged = decode_event(WHOLE + b',"z":"\xff"}', 0)
    assert damaged.damage is not None
    json.loads(encode_event(damaged))


@settings(max_examples=150, deadline=None)
@given(events, st.data())
def test_no_mutation_of_an_event_makes_decoding_raise(event: RecordedEvent, data: st.DataObject) -> None:
    text = bytearray(encode_event(event))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(text) - 1))
        text[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        text = text or bytearray(b" ")
    decoded = decode_event(bytes(text), 9)
    json.loads(encode_event(decoded))
