"""Fields, density, sizes in words, and whole values out of a recording."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.session.columns import columns_of
from stashdbg_core.session.density import BUCKETS, Density
from stashdbg_core.session.fields import event_fields
from stashdbg_core.session.inspection import HEAD_BYTES, inspect_part, is_quick, whole_value
from stashdbg_core.session.words import duration_words, minute_words, moment_words, offset_words, size_words
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList


def recorded(value, given=None, **more):
    blobs = BlobStore()
    ref = more.pop("ref", None) or blobs.put(value)
    event = RecordedEvent(4, "tool", "k", 0, "return", ref, None if given is None else blobs.put(given), **more)
    return Recording("x", EventList([event]), blobs), event


def words(inspection) -> list[str]:
    inspection.lines.extend(10**6)
    return ["".join(text for text, _ in inspection.lines.line(index).tokens) for index in range(inspection.lines.count)]


def test_every_known_field_is_a_row_and_unknown_keys_follow():
    extra = {"vendor": b'{"x":1.50}'}
    recording, event = recorded(
        1,
        2,
        at=1_790_000_000_000.0,
        ms=1234.5,
        thread="w1",
        parent=2,
        call_id="c",
        site="a.py:1 f",
        label="l",
        extra=extra,
    )
    rows = {row.name: row.text for row in event_fields(recording, event)}
    assert rows["took"] == "1.2 s"
    assert rows["started"].startswith("2026-09-21 14:13:20.000")
    assert (rows["lane"], rows["parent"], rows["call id"], rows["site"], rows["label"]) == (
        "w1",
        "event 2",
        "c",
        "a.py:1 f",
        "l",
    )
    assert rows["vendor"] == '{"x":1.50}'
    assert rows["value ref"] == event.ref


def test_a_missing_value_and_an_absent_input_say_so():
    recording, event = recorded(None, ref="sha256:" + "0" * 64)
    value = inspect_part(recording, event, "value")
    assert (value.words, value.trouble) == ("missing", True)
    assert words(value)[0].startswith("value missing")
    assert words(inspect_part(recording, event, "input")) == ["no input was recorded for this call"]
    with pytest.raises(StashError, match="stored"):
        whole_value(recording, event.ref)


def test_a_damaged_value_is_shown_with_the_reason_before_it():
    blobs = BlobStore()
    blobs.put_raw("sha256:" + "1" * 64, b'{"a":1}')
    event = RecordedEvent(0, "tool", "k", 0, "return", "sha256:" + "1" * 64)
    shown = inspect_part(Recording("x", EventList([event]), blobs), event, "value")
    assert shown.trouble
    assert [line.startswith("damaged: ") for line in words(shown)] == [True, False, False, False]


def test_shared_pieces_are_put_in():
    long = {"messages": [{"role": "user", "content": "tell me " * 300}] * 3}
    recording, event = recorded(long)
    assert json.loads(whole_value(recording, event.ref)) == long
    assert sum("tell me tell me" in line for line in words(inspect_part(recording, event, "value"))) == 3
    assert not is_quick(recording, event, "value")
    assert inspect_part(recording, event, "value").words.startswith("7.3 kB, of which ")


def test_the_head_of_a_huge_value_is_shown_and_the_rest_named():
    recording, event = recorded("A" * (HEAD_BYTES + 26_000_000))
    assert words(inspect_part(recording, event, "value"))[-1] == "… 26 MB more, :write FILE saves all of it"
    assert len(whole_value(recording, event.ref)) == HEAD_BYTES + 26_000_002


def test_density_counts_every_event_once_at_any_width():
    events = [
        RecordedEvent(n, "ab"[n % 2], "k", 0, "throw" if n == 700 else "return", "r", ms=float(n % 3))
        for n in range(3000)
    ]
    recording = Recording("x", EventList(events), BlobStore())
    density = Density(columns_of(recording.events), len(events))
    while not density.complete:
        density.extend(999)
    assert len(density.buckets) == BUCKETS
    for width in (1, 40, 200, 512):
        merged = density.resampled(width)
        assert (len(merged), sum(bucket.events for bucket in merged), sum(bucket.throws for bucket in merged)) == (
            width,
            3000,
            1,
        )
    assert len(density.resampled(2000)) == 2000


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (999_499, "999 kB"), (30e6, "30 MB"), (2.5e9, "2.5 GB")],
)
def test_sizes(size, said):
    assert size_words(int(size)) == said


@pytest.mark.parametrize(
    ("ms", "said"),
    [(0.31, "0.3 ms"), (85.2, "85 ms"), (1240.0, "1.2 s"), (125_000.0, "2 m 05 s"), (11_040_000.0, "3 h 04 m"),
     (float("nan"), "?"), (-5.0, "?"), (1e300, "?"), (float("inf"), "?")],
)  # fmt: skip
def test_durations(ms, said):
    assert duration_words(ms) == said


def test_moments_and_offsets():
    assert offset_words(12_440) == "+00:12.4"
    assert offset_words(3_723_000) == "+1:02:03.0"
    assert offset_words(-61_000) == "-01:01.0"
    assert offset_words(float("nan")) == "+?"
    assert "no calendar" in moment_words(1e300)
    assert "no calendar" in moment_words(float("nan"))
    assert minute_words(0.0)[:2] in ("19", "20") and minute_words(1e300) == minute_words(float("nan")) == ""
