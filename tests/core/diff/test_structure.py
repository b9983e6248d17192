"""Differences of values and texts: exact, small, and bounded."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import SpelledNumber, canonical_form
from stashdbg_core.diff import NOTHING, diff_recordings, differences
from stashdbg_core.diff.sequences import matches
from stashdbg_core.diff.structure import pointer_of
from stashdbg_core.diff.text import text_difference, word_spans
from stashdbg_core.store.open import open_recording

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner), max_leaves=15
)


def found(before: Any, after: Any) -> list[tuple[str, Any, Any]]:
    return [(one.pointer, one.before, one.after) for one in differences(before, after)]


def at(tree: Any, parts: list[str | int]) -> Any:
    for part in parts:
        tree = tree[part]
    return tree


@given(trees, trees)
@settings(max_examples=100, deadline=None)
def test_there_is_a_difference_exactly_when_canonical_forms_differ(one: Any, other: Any) -> None:
    assert (found(one, other) == []) == (canonical_form(one) == canonical_form(other))


@given(trees, trees)
@settings(max_examples=100, deadline=None)
def test_every_path_leads_to_the_value_it_names(one: Any, other: Any) -> None:
    for difference in differences(one, other):
        if difference.before is not NOTHING:
            assert at(one, difference.parts) is difference.before
        if difference.after is not NOTHING and difference.before is NOTHING:
            assert at(other, difference.parts) is difference.after


@given(st.lists(st.integers(0, 4), max_size=60), st.lists(st.integers(0, 4), max_size=60))
@settings(max_examples=100, deadline=None)
def test_matches_are_a_longest_common_subsequence(one: list[int], other: list[int]) -> None:
    pairs = matches(one, other)
    assert all(one[i] == other[j] for i, j in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in itertools.pairwise(pairs))
    row = [0] * (len(other) + 1)
    for item in one:
        before = row[:]
        for j, counterpart in enumerate(other):
            row[j + 1] = before[j] + 1 if item == counterpart else max(before[j + 1], row[j])
    assert len(pairs) == row[-1]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("44-list-types", ["/v/0", "/v/1", "/v/2"]),
        ("46-dunder-keys", ["/__typename", "/x/__meta__"]),
        ("48-odd-keys", ["/a']['b"]),
        ("49-low-overlap", ["/k/deep/0/v", "/b", "/c", "/d"]),
        ("50-deep-diff", ["/k" * 900]),
    ],
)
def test_known_traps(data: Any, name: str, expected: list[str]) -> None:
    case = data / "cases" / name
    result = diff_recordings(open_recording(case / "a.json"), open_recording(case / "b.json"))
    pointers = [change.pointer for row in result.changed for change in result.changes(row)]
    assert [pointer[: len(want)] for pointer, want in zip(pointers, expected, strict=True)] == expected


def test_pointers_are_unambiguous() -> None:
    before = {"a']['b": 1, "a": {"b": 1}, "x/y~z": {"": [0]}}
    after = {"a']['b": 2, "a": {"b": 1}, "x/y~z": {"": [1]}}
    assert found(before, after) == [("/a']['b", 1, 2), ("/x~1y~0z//0", 0, 1)]


def test_numbers_are_compared_as_spelled() -> None:
    assert found(SpelledNumber("1e400"), SpelledNumber("1e401")) != []
    assert found({"n": 10**40}, {"n": 10**40 + 1})[0][0] == "/n"
    assert found({"$stash": "float", "value": "nan"}, {"value": "nan", "$stash": "float"}) == []


def test_insertion_is_shown_as_insertion() -> None:
    ids = list(range(100, 160))
    assert found(ids, [*range(10), *ids]) == [(f"/{n}", NOTHING, n) for n in range(10)]
    (change,) = differences([{"a": 1}, 2, {"b": 1}], [9, {"a": 1}, 2, {"b": 1}])
    assert (change.pointer, change.after) == ("/0", 9)
    moved = next(differences([1, {"b": 1}, 5], [0, 1, {"b": 2}, 5, 6]))
    assert pointer_of(moved.path_after) == "/0"


def test_big_lists_end_with_few_differences() -> None:
    numbers = list(range(100_000))
    assert len(found(numbers, [number + 1 for number in numbers])) == 2
    rows = [{"i": n, "t": f"text {n}"} for n in range(20_000)]
    changed = found(rows, [{**row, "t": row["t"] + "!"} for row in rows])
    assert len(changed) == 20_000
    assert changed[-1][0] == "/19999/t"
    assert len(found(rows[:3000], rows[2999::-1])) <= 6000


def test_long_lists_of_few_items_are_aligned_by_their_runs() -> None:
    chance = random.Random(1)
    one = [chance.randint(0, 1) for _ in range(40_000)]
    other = [*one[:1000], 1 - one[1000], *one[1000:20_000], *one[20_001:], 1]
    assert len(found(one, other)) <= 6


def test_depth_costs_no_stack() -> None:
    one: Any = 0
    other: Any = 1
    for _ in range(10_000):
        one, other = {"k": [one]}, {"k": [other]}
    (change,) = differences(one, other)
    assert len(change.parts) == 20_000
    assert (change.before, change.after) == (0, 1)


@given(st.text(alphabet="a1 \n.", max_size=40), st.text(alphabet="a1 \n.", max_size=40))
@settings(max_examples=100, deadline=None)
def test_word_spans_cover_every_change_and_no_more(one: str, other: str) -> None:
    spans = word_spans(one, other)
    rebuilt, place = [], 0
    for span in spans:
        rebuilt += [one[place : span.start], other[span.start_after : span.end_after]]
        assert span.start < span.end or span.start_after < span.end_after
        place = span.end
    assert "".join(rebuilt) + one[place:] == other


def test_words_are_told_apart() -> None:
    before, after = "the quick brown fox", "the quiet brown foxes"
    spans = [(before[s.start : s.end], after[s.start_after : s.end_after]) for s in word_spans(before, after)]
    assert spans == [("quick", "quiet"), ("fox", "foxes")]


@pytest.mark.parametrize(
    ("before", "after", "spans"),
    [
        ("costs 49.9 EUR", "costs 61.9 EUR", [("49.9", "61.9")]),
        ("costs 49.9.", "costs 49.8.", [("49.9", "49.8")]),
        ("costs 49.9", "costs 4", [("49.9", "4")]),
        ("v1.2.3 is out", "v1.3.3 is out", [("v1.2.3", "v1.3.3")]),
        ("in 2024. Yes", "in 2025. Yes", [("2024", "2025")]),
        ("a.b", "a.c", [("b", "c")]),
        ("1. one", "2. one", [("1", "2")]),
    ],
)
def test_a_number_with_a_point_is_one_word(before: str, after: str, spans: list[tuple[str, str]]) -> None:
    assert [(before[s.start : s.end], after[s.start_after : s.end_after]) for s in word_spans(before, after)] == spans


def test_lines_are_told_apart_and_line_ends_named() -> None:
    lines = text_difference("a\nb\nc", "a\nx\nc")
    assert [(s.start, s.end, s.start_after, s.end_after) for s in lines.spans] == [(1, 2, 1, 2)]
    assert not lines.only_line_ends
    assert text_difference("a\r\nb\n", "a\nb\n").only_line_ends


def test_five_megabytes_on_one_line_end() -> None:
    text = json.dumps(["word"] * 600_000)
    (span,) = word_spans(text, text[:3_000_000] + "x" + text[3_000_001:])
    assert span.end - span.start < 20
    assert len(word_spans(text, text.replace("word", "fjord"))) == 1
