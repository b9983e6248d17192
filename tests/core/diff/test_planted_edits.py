"""Every planted edit is found at its event and field, and nothing else is reported."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.diff import NOTHING, diff_recordings
from tests.core.diff.made_runs import NO_INPUT, Call, recording_of, reread

KEYS = ("search", "read", "plan")
numbers = st.integers(0, 5)
trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
calls = st.builds(
    Call, st.sampled_from(KEYS), st.just(NO_INPUT) | trees, trees, st.sampled_from(("tool", "llm")), st.just("return")
)
runs = st.lists(calls, max_size=12)


def numbered(count: int) -> list[Call]:
    """Calls that are all different, in a mixed order of keys."""
    chance = random.Random(count)
    return [
        Call(chance.choice(KEYS), {"q": f"question {n}", "n": [n, n + 1]}, {"answer": f"answer {n}", "rows": [n, 0, 1]})
        for n in range(count)
    ]


@given(runs)
@settings(max_examples=50, deadline=None)
def test_a_run_does_not_differ_from_itself(run: list[Call]) -> None:
    result = diff_recordings(recording_of(run), reread(recording_of(run, "other", 1e6)))
    assert result.same
    assert result.first_divergence is None
    assert len(result.timing_only) == len(run)


@given(runs, runs)
@settings(max_examples=50, deadline=None)
def test_two_runs_are_the_same_exactly_when_their_calls_are(one: list[Call], other: list[Call]) -> None:
    a, b = recording_of(one), recording_of(other)
    contents = [
        [(e.channel, e.key, a_or_b.blobs.payload(e.ref).raw, e.input_ref) for e in a_or_b.events] for a_or_b in (a, b)
    ]
    result = diff_recordings(a, b)
    if contents[0] == contents[1]:
        assert result.same
    places_a = [row.a for row in result.rows if row.a is not None]
    places_b = sorted(row.b for row in result.rows if row.b is not None)
    assert places_a == list(range(len(one)))
    assert places_b == list(range(len(other)))
    for row in result.changed:
        assert result.changes(row) or result.a.events[row.a].key != result.b.events[row.b].key


@given(st.integers(2, 40), st.data())
@settings(max_examples=40, deadline=None)
def test_a_changed_value_is_found_at_its_field(count: int, data: st.DataObject) -> None:
    run = numbered(count)
    place = data.draw(st.integers(0, count - 1))
    other = list(run)
    other[place] = run[place]._replace(value={**run[place].value, "rows": [place, 0, 1.0]})
    result = diff_recordings(recording_of(run), recording_of(other))
    (row,) = result.differing
    assert (row.kind, row.a, row.b) == ("changed", place, place)
    (change,) = result.changes(row)
    assert (change.part, change.pointer) == ("value", "/rows/2")
    assert (type(change.before), type(change.after)) == (int, float)


@given(st.integers(2, 40), st.data())
@settings(max_examples=40, deadline=None)
def test_a_changed_input_is_found_at_its_field(count: int, data: st.DataObject) -> None:
    run = numbered(count)
    place = data.draw(st.integers(0, count - 1))
    other = list(run)
    other[place] = run[place]._replace(input={"q": run[place].input["q"] + "?", "n": [place + 1]})
    result = diff_recordings(recording_of(run), recording_of(other))
    (row,) = result.differing
    assert (row.kind, row.a, row.b) == ("changed", place, place)
    assert [(c.part, c.pointer) for c in result.changes(row)] == [("input", "/q"), ("input", "/n/0")]


@given(st.integers(2, 40), st.data())
@settings(max_examples=40, deadline=None)
def test_insertions_and_deletions_are_found_and_shift_nothing(count: int, data: st.DataObject) -> None:
    run = numbered(count)
    gone = data.draw(st.integers(0, count - 1))
    new = data.draw(st.integers(0, count).filter(lambda at: at not in (gone, gone + 1)))
    other = list(run)
    other.insert(new, Call(data.draw(st.sampled_from(KEYS)), {"q": "new"}, "new"))
    del other[gone + (new <= gone)]
    result = diff_recordings(recording_of(run), recording_of(other))
    kinds = sorted(row.kind for row in result.differing)
    if kinds == ["changed"]:  # nothing of its channel and key stood between the two: one took the other's place
        (row,) = result.changed
        assert row.a == gone
        between = run[min(gone + 1, new) : max(gone, new)]
        assert all(call.key != run[gone].key for call in between)
    else:
        assert kinds == ["added", "removed"]
        assert [row.a for row in result.removed] == [gone]
        assert [row.b for row in result.added] == [new - (gone < new)]


@given(st.integers(3, 40), st.data())
@settings(max_examples=40, deadline=None)
def test_a_moved_call_is_one_move(count: int, data: st.DataObject) -> None:
    run = numbered(count)
    place = data.draw(st.integers(0, count - 1))
    to = data.draw(st.integers(0, count - 1).filter(lambda at: abs(at - place) > 1))
    other = list(run)
    other.insert(to, other.pop(place))
    result = diff_recordings(recording_of(run), recording_of(other))
    (row,) = result.differing
    assert (row.kind, row.a, row.b) == ("moved", place, to)


@pytest.mark.parametrize(
    ("old", "new"), [(1, 1.0), (1, True), (0, False), (0.0, -0.0), (None, NO_INPUT), ("1", 1), ({}, [])]
)
def test_a_type_is_content(old: Any, new: Any) -> None:
    before, after = Call("k", old, 0), Call("k", new, 0)
    result = diff_recordings(recording_of([before]), recording_of([after]))
    (change,) = result.changes(result.changed[0])
    assert (change.part, change.pointer) == ("input", "")
    assert (change.before, change.after) == (old, NOTHING if new is NO_INPUT else new)
