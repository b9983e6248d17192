"""Every file of the collected cases opens with the right notes or is refused in one clear line, and stays as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import Recording
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import open_recording, read_recording

CASES = Path(__file__).parents[2] / "data" / "cases"
REFUSED = {
    "62-deep/deep3000.json": "depth=2000",
    "65-versions/v1str.json": 'has version "1"',
    "65-versions/v2.json": "made by a newer format (2); this build reads 1",
    "65-versions/vtrue.json": "has version true",
}
NOTES = {
    "112-odd-events/meta-null.json": ["odd-meta"],
    "112-odd-events/null-event.json": ["damaged-event", "seq-repeated"],
    "112-odd-events/o.json": ["unknown-outcome"],
    "68-blobs/missing.json": ["missing-blob"],
    "69-numbering/gap.json": ["seq-gap"],
    "69-numbering/ordinals.json": ["ordinal-odd", "ordinal-gap"],
    "69-numbering/twice.json": ["ordinal-repeated"],
}
DAMAGED = {"60-digits/digits.json": "digits=4300", "61-dup-keys/dup.json": "/text"}
FILES = sorted(str(path.relative_to(CASES)) for path in CASES.rglob("*.json"))


def test_the_cases_are_there() -> None:
    assert len(FILES) > 40
    assert set(FILES) >= REFUSED.keys() | NOTES.keys() | DAMAGED.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_case_opens_or_is_refused(name: str) -> None:
    path = CASES / name
    before = path.read_bytes()
    if name in REFUSED:
        with pytest.raises(StashError) as caught:
            open_recording(path)
        assert caught.value.code is ErrorCode.INVALID_RECORDING
        assert REFUSED[name] in caught.value.message
        assert path.name in caught.value.message
        assert caught.value.hint
    else:
        recording = open_recording(path)
        assert [note.kind for note in recording.notes] == NOTES.get(name, [])
        _look(recording, DAMAGED.get(name))
    assert path.read_bytes() == before


def _look(recording: Recording, damaged: str | None) -> None:
    for event in recording.events:
        if not event.ref:
            assert event.damage
            continue
        payload = recording.blobs.payload(event.ref)
        if damaged is not None:
            assert payload.state == "damaged"
            assert damaged in str(payload.problem)
            with pytest.raises(StashError) as caught:
                recording.blobs.tree(event.ref)
            assert caught.value.code is ErrorCode.INVALID_RECORDING
        elif payload.state == "missing":
            assert [note.ref for note in recording.notes] == [event.ref]
            with pytest.raises(StashError) as caught:
                recording.blobs.tree(event.ref)
            assert caught.value.code is ErrorCode.NOT_FOUND
        else:
            assert payload.state == "ok"
            assert recording.blobs[event.ref] == recording.blobs.tree(event.ref)


def test_missing_is_not_null() -> None:
    recording = open_recording(CASES / "68-blobs/missing.json")
    missing, null = recording.events
    assert missing.ref not in recording.blobs
    assert null.ref in recording.blobs
    assert recording.blobs[null.ref] is None


def test_a_raised_limit_opens_what_it_refused() -> None:
    recording = open_recording(CASES / "62-deep/deep3000.json", limits=Limits.parse(["depth=5000"]))
    assert recording.blobs.payload(recording.events[0].ref).state == "ok"
    recording = open_recording(CASES / "60-digits/digits.json", limits=Limits.parse(["digits=6000"]))
    assert recording.blobs.payload(recording.events[0].ref).state == "ok"


def test_numbers_stay_as_they_were_spelled() -> None:
    recording = open_recording(CASES / "57-number-spelling/n.json")
    raw = recording.blobs.payload(recording.events[0].ref).raw
    assert raw == b'{"a":1.0,"b":1,"c":1E2,"d":1.10,"e":-0,"f":1e-7,"g":1e21}'
    recording = open_recording(CASES / "56-bigint/bigint.json")
    assert recording.blobs[recording.events[0].ref]["hi"] == 18446744073709551616


def test_bare_nan_is_read_with_a_problem() -> None:
    recording = open_recording(CASES / "58-nan/nan.json")
    payload = recording.blobs.payload(recording.events[0].ref)
    assert payload.state == "ok"
    assert "NaN" in str(payload.problem)
    assert recording.blobs[recording.events[0].ref]["score"] == {"$stash": "float", "value": "nan"}


def test_an_odd_event_leaves_the_others() -> None:
    recording = open_recording(CASES / "112-odd-events/null-event.json")
    assert [event.damage for event in recording.events] == ["is null, not an object", None]
    assert recording.notes[0].message.startswith("event 0 of the file")


@pytest.mark.parametrize("indent", [None, 1])
def test_a_value_nested_too_deep_is_named_whatever_the_layout_and_the_interpreter(indent: int | None) -> None:
    text = json.dumps({"version": 1, "id": "run", "events": [], "blobs": {"a" * 64: "here"}, "meta": {}}, indent=indent)
    data = text.replace('"here"', "[" * 2500 + "]" * 2500).encode()
    assert read_recording(data, limits=Limits(depth=3000)).blobs.payload("a" * 64).state == "ok"
    try:
        payload = read_recording(data).blobs.payload("a" * 64)
    except StashError as refusal:
        said = refusal.message
    else:
        said = payload.problem or "" if payload.state == "damaged" else ""
    assert "depth=2000" in said
