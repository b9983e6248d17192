"""Random damage to valid files: what comes out is a recording that can be looked at, or a StashError, and soon."""

from __future__ import annotations

import json
import random
import time

import pytest

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.open import read_recording

COUNT = 1000
SECONDS = 2.0
_SPLICES = [b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\xff", b"\x00", b"NaN", b"1e999", b"\\ud800", b"\n"]
_SPLICES.append(b'"seq":')


def valid_files() -> list[bytes]:
    """Return one recording in three layouts: our lines, one line, pretty with the values first."""
    values = [
        {"text": 'say "hi"\n', "n": [1, 2.5, None, True]}, "plain", 17, {"deep": [[[["é→"]]]]},
        {"sha256:" + "0" * 64: {"seq": 1}, "meta": {}}, [],
    ]  # fmt: skip
    stored = [stored_form(value) for value in values]
    refs = [content_ref(raw) for raw in stored]
    events = [
        {
            "seq": i, "channel": "llm" if i % 2 else "tool", "key": f"k{i % 3}", "ordinal": 0, "outcome": "return",
            "ref": refs[i], "inputRef": refs[-1 - i], "at": 1.5e12 + i, "thread": "main",
        }
        for i in range(6)
    ]  # fmt: skip
    rows = [stored_form(event) for event in events]
    blobs = [b'"%b":%b' % (ref.encode(), raw) for ref, raw in zip(refs, stored, strict=True)]

    def joined(gap: bytes) -> bytes:
        head, middle = b'{"version":1,"id":"run","events":[' + gap, gap + b'],"blobs":{' + gap
        tail = gap + b'},"meta":{"complete":true}}' + gap
        return head + (b"," + gap).join(rows) + middle + (b"," + gap).join(blobs) + tail

    document = {"version": 1, "blobs": dict(zip(refs, values, strict=True)), "meta": {}, "events": events, "id": "run"}
    return [joined(b"\n"), joined(b""), json.dumps(document, indent=1).encode()]


def mutate(data: bytes, chance: random.Random) -> bytes:
    """Return a damaged copy: bytes flipped, cut, inserted or doubled, one to four times."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(out) + 1)
        length = min(chance.choice([1, 1, 2, 8, 40, 300]), len(out))
        kind = chance.randrange(6)
        if kind == 0 and out:
            out[place % len(out)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del out[place : place + length]
        elif kind == 2:
            out[place:place] = chance.choice(_SPLICES)
        elif kind == 3:
            out[place:place] = out[chance.randrange(len(out) + 1) :][:length]
        elif kind == 4:
            del out[place:]
        else:
            out[place : place + length] = chance.choice(_SPLICES) * chance.randint(1, 3)
    return bytes(out)


def look(data: bytes) -> bool:
    """Look at all there is in a file; tell whether it opened."""
    try:
        recording = read_recording(data, limits=Limits())
    except StashError as error:
        refusal = error.message
    else:
        refusal = None
    if refusal is not None:
        assert "\n" not in refusal
        assert len(refusal) < 500
        return False
    events = list(recording.events)
    assert [event.seq for event in events] == sorted(event.seq for event in events)
    for event in events:
        for ref in (event.ref, event.input_ref):
            if ref is not None:
                payload = recording.blobs.payload(ref)
                assert payload.state in ("ok", "missing", "damaged")
                assert (payload.state == "ok") or payload.problem
                try:
                    recording.blobs.tree(ref)
                except StashError:
                    assert payload.state != "ok" or b"$stash" in payload.raw
    for ref in recording.blobs.refs():
        assert recording.blobs.payload(ref).state != "missing"
    assert len(list(recording.blobs)) == len(recording.blobs)
    assert dict(recording.meta) is not None
    return True


def survive(count: int, seed: int) -> tuple[int, float]:
    """Look at mutants; return how many opened, and the longest time that one took in seconds."""
    chance = random.Random(seed)
    files = valid_files()
    opened, slowest = 0, 0.0
    for _ in range(count):
        data = mutate(chance.choice(files), chance)
        started = time.process_time()
        opened += look(data)
        slowest = max(slowest, time.process_time() - started)
    return opened, slowest


def test_the_whole_files_open_without_a_note() -> None:
    for data in valid_files():
        recording = read_recording(data)
        assert recording.notes == ()
        assert [recording.blobs.payload(event.ref).state for event in recording.events] == ["ok"] * 6


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_a_damaged_file_opens_or_is_refused(seed: int) -> None:
    opened, slowest = survive(COUNT, seed)
    assert opened > COUNT // 2  # most of the damage costs only a part
    assert slowest < SECONDS
