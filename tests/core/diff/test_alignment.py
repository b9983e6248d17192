"""Which calls are taken for each other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from stashdbg_core.canonical import stored_form
from stashdbg_core.diff import diff_recordings
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.model import RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import decode_recording, encode_recording, write_recording
from tests.core.diff.made_runs import NO_INPUT, Call, recording_of, reread

Make = Callable[..., Recording]


def test_an_inserted_call_of_the_same_key_is_one_addition(data: Path) -> None:
    case = data / "cases" / "53-inserted"
    result = diff_recordings(open_recording(case / "a.json"), open_recording(case / "b.json"))
    assert (len(result.added), result.same_count) == (1, 3)
    assert not result.changed
    assert not result.removed
    first = result.first_divergence
    assert first is not None
    assert (first.kind, first.b) == ("added", 0)


def test_identity_pairs_by_number(recorded: Make) -> None:
    one = [Call("search", NO_INPUT, text) for text in "abc"]
    other = [Call("search", NO_INPUT, text) for text in "xabc"]
    by_number = diff_recordings(recorded(one), recorded(other), align="identity")
    assert [(row.a, row.b) for row in by_number.changed] == [(0, 0), (1, 1), (2, 2)]
    assert [row.b for row in by_number.added] == [3]
    same = diff_recordings(recorded(one), recorded(one), align="identity")
    assert same.same


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(StashError) as caught:
        diff_recordings(recording_of([]), recording_of([]), align="time")  # type: ignore[arg-type]
    assert caught.value.code is ErrorCode.INVALID_INPUT


def test_two_models_are_compared_call_by_call(recorded: Make) -> None:
    def run(model: str, says: list[str]) -> list[Call]:
        calls = []
        for turn, text in enumerate(says):
            calls += [Call(model, {"turn": turn}, text, "llm"), Call("search", {"q": turn}, "found")]
        return calls

    result = diff_recordings(recorded(run("small", ["a", "b"])), recorded(run("large", ["a", "c"])))
    assert [(row.a, row.b) for row in result.changed] == [(0, 0), (2, 2)]
    assert not result.added
    assert next(result.changes(row) for row in result.changed) == []
    assert result.changes(result.changed[1])[0].after == "c"


def test_equal_inputs_find_each_other_past_an_insertion(recorded: Make) -> None:
    one = [Call("search", {"q": n}, f"old {n}") for n in range(3)]
    other = [Call("search", {"q": "first"}, "x"), *(Call("search", {"q": n}, f"new {n}") for n in range(3))]
    result = diff_recordings(recorded(one), recorded(other))
    assert [(row.a, row.b) for row in result.changed] == [(0, 1), (1, 2), (2, 3)]
    assert [row.b for row in result.added] == [0]


def test_a_poll_that_ended_sooner_is_one_removal(recorded: Make) -> None:
    poll = [Call("poll", {"job": 1}, "pending")] * 3 + [Call("poll", {"job": 1}, "done")]
    result = diff_recordings(recorded(poll), recorded(poll[1:]))
    assert len(result.removed) == 1
    assert not result.changed


def test_key_order_spelling_and_sharing_do_not_count(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": f"message {n} " + "long " * 400} for n in range(6)]
    calls = [Call("chat", {"messages": chat[: n + 1], "b": 1, "a": 2}, {"n": n}, "llm") for n in range(6)]
    a = recording_of(calls)
    flat = decode_recording(encode_recording(a, flat=True))
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps(json.loads(encode_recording(flat)), indent=1))
    turned = recording_of([call._replace(input=dict(reversed(call.input.items()))) for call in calls])
    for other in (reread(a), flat, open_recording(pretty), turned):
        assert diff_recordings(a, other).same


def test_a_value_edited_under_its_old_reference_is_a_difference(tmp_path: Path) -> None:
    path = write_recording(recording_of([Call("price", 1, {"eur": 10})]), tmp_path / "a.json")
    edited = tmp_path / "b.json"
    edited.write_bytes(path.read_bytes().replace(b'{"eur":10}', b'{"eur":99}'))
    result = diff_recordings(open_recording(path), open_recording(edited))
    (row,) = result.changed
    (change,) = result.changes(row)
    assert (change.part, change.pointer, change.before, change.after) == ("value", "/eur", 10, 99)
    assert "B: " in (change.note or "")
    assert "damaged" in (change.note or "")


def test_a_piece_edited_under_its_old_reference_is_a_difference(tmp_path: Path) -> None:
    path = write_recording(recording_of([Call("chat", ["x" * 3000, "y" * 3000], 0)]), tmp_path / "a.json")
    edited = tmp_path / "b.json"
    edited.write_bytes(path.read_bytes().replace(b"xxx", b"xxz"))
    assert not diff_recordings(open_recording(path), open_recording(edited)).same


def test_a_missing_value_is_not_null() -> None:
    null = recording_of([Call("k", NO_INPUT, None)])
    (event,) = null.events
    missing = replace(null, blobs=BlobStore(), events=EventList([event]))
    result = diff_recordings(null, missing)
    (change,) = result.changes(result.changed[0])
    assert change.before is None
    assert "after" not in change.to_json()
    assert "B: " in (change.note or "")


def test_values_missing_on_both_sides_are_no_difference() -> None:
    events = [RecordedEvent(0, "tool", "k", 0, "return", "opaque-1", "opaque-2")]
    others = [RecordedEvent(0, "tool", "k", 0, "return", "opaque-3", "opaque-4")]
    a = Recording(id="a", events=EventList(events), blobs=BlobStore())
    b = Recording(id="b", events=EventList(others), blobs=BlobStore())
    assert diff_recordings(a, b).same


def test_an_error_in_place_of_a_value_is_a_changed_outcome(recorded: Make) -> None:
    error = {"$stash": "exception", "class": "builtins:TimeoutError", "text": "no answer"}
    result = diff_recordings(recorded([Call("k", 1, 2)]), recorded([Call("k", 1, error, outcome="throw")]))
    changes = result.changes(result.changed[0])
    assert [(change.part, change.pointer) for change in changes] == [("outcome", ""), ("value", "")]


def test_names_do_not_run_together(recorded: Make) -> None:
    result = diff_recordings(recorded([Call("b:c", 1, 2, "a")]), recorded([Call("c", 1, 2, "a:b")]))
    assert (len(result.added), len(result.removed)) == (1, 1)


def test_lanes_labels_times_and_places_do_not_count() -> None:
    a = recording_of([Call("k", 1, 2)])
    event = a.events[0].replaced(seq=7, label="x", thread="t", site="f.py:1", ms=5.0, call_id="c", ordinal=3)
    result = diff_recordings(a, replace(a, id="b", events=EventList([event])))
    assert result.same
    assert len(result.timing_only) == 1


@pytest.mark.parametrize("distinct", [2, 20_000])
def test_long_runs_with_few_edits_are_aligned_exactly(distinct: int) -> None:
    def value(number: int) -> int:
        return number * 2654435761 % (1 << 32) % distinct

    run = [Call("poll", {"job": 1}, value(n)) for n in range(20_000)]
    other = [*run[:500], Call("poll", {"job": 1}, "new"), *run[500:15_000], *run[15_001:]]
    started = time.process_time()
    result = diff_recordings(recording_of(run), recording_of(other))
    assert time.process_time() - started < 30
    assert sorted(row.kind for row in result.differing) == ["added", "removed"]
    assert [row.b for row in result.added] == [500]


def test_a_piece_that_holds_itself_ends() -> None:
    blobs = BlobStore()
    blobs.put_raw("loop", stored_form({"$stash": "ref", "ref": "loop"}))
    events = EventList([RecordedEvent(0, "tool", "k", 0, "return", "loop")])
    looped = Recording(id="a", events=events, blobs=blobs)
    assert diff_recordings(looped, looped).same
    other = recording_of([Call("k", NO_INPUT, 1)])
    result = diff_recordings(looped, other)
    assert "itself" in (result.changes(result.changed[0])[0].note or "")


def test_when_the_chunks_of_a_stream_came_does_not_count(recorded: Make) -> None:
    def stream(chunks: list[str], times: list[float]) -> list[Call]:
        tag = {"$stash": "stream", "kind": "sync", "chunks": chunks, "times": times, "ending": "exhausted"}
        return [Call("chat", 1, tag, "llm")]

    assert diff_recordings(recorded(stream(["a"], [1.5])), recorded(stream(["a"], [2.5]))).same
    result = diff_recordings(recorded(stream(["a", "b"], [1.5, 2])), recorded(stream(["a", "c"], [2.5, 3])))
    assert [change.pointer for change in result.changes(result.changed[0])] == ["/chunks/1"]


def test_a_damaged_value_with_the_same_content_is_no_difference(tmp_path: Path) -> None:
    path = write_recording(recording_of([Call("price", 1, {"a": 1, "b": 2})]), tmp_path / "a.json")
    turned = tmp_path / "b.json"
    turned.write_bytes(path.read_bytes().replace(b'{"a":1,"b":2}', b'{"b":2,"a":1}'))
    assert open_recording(turned).blobs.payload(open_recording(turned).events[0].ref).state == "damaged"
    assert diff_recordings(open_recording(path), open_recording(turned)).same


def test_the_first_divergence_is_one_of_content_and_only_else_one_of_order() -> None:
    run = [Call("a", n, f"value {n}") for n in range(4)]
    swapped = [run[1], run[0], run[2], run[3]]
    only_order = diff_recordings(recording_of(run), recording_of(swapped)).first_divergence
    assert only_order is not None
    assert only_order.kind == "moved"
    both = [*swapped[:3], run[3]._replace(value="another")]
    content = diff_recordings(recording_of(run), recording_of(both)).first_divergence
    assert content is not None
    assert (content.kind, content.a) == ("changed", 3)
