"""The small structural difference: right, bounded, not recursive."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import SpelledNumber, canonical_form
from stashdbg_core.replay.field_changes import Change, field_changes, preview

trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(trees, trees)
@settings(max_examples=100)
def test_no_change_means_equal_canonical_form(one: Any, other: Any) -> None:
    assert (field_changes(one, other) == ()) == (canonical_form(one) == canonical_form(other))


@given(trees)
@settings(max_examples=100)
def test_a_copy_has_no_change_and_a_preview_is_bounded(tree: Any) -> None:
    assert field_changes(tree, json.loads(json.dumps(tree))) == ()
    assert len(preview(tree, 40)) <= 40


def test_number_types_are_told_apart_in_the_values_shown() -> None:
    assert field_changes([1, 0.0, True], [1.0, -0.0, 1]) == (
        Change("/0", "1", "1.0"), Change("/1", "0.0", "-0.0"), Change("/2", "true", "1")
    )  # fmt: skip
    assert field_changes(SpelledNumber("1e400"), SpelledNumber("1e401")) == (Change("", "1e400", "1e401"),)


def test_absent_is_not_null() -> None:
    assert field_changes({"a": None}, {"b": None}) == (Change("/a", "null", None), Change("/b", None, "null"))
    assert Change("/b", None, "null").to_json() == {"pointer": "/b", "live": "null"}


def test_an_inserted_item_is_one_change() -> None:
    assert field_changes([1, 2, 3, 4], [0, 1, 2, 3, 4]) == (Change("/0", None, "0"),)


def test_pointers_are_rfc_6901() -> None:
    assert field_changes({"a/b": {"m~n": 1}}, {"a/b": {"m~n": 2}})[0].pointer == "/a~1b/m~0n"


def test_depth_width_and_length_are_bounded() -> None:
    one: Any = 0
    other: Any = 1
    for _ in range(50_000):
        one, other = [one], [other]
    (change,) = field_changes(one, other)
    assert len(change.pointer) <= 1001
    assert len(field_changes(list(range(1000)), [n + 1000 for n in range(1000)], limit=7)) == 7
    assert len(preview({"k" * 10_000: one}, 50)) == 50
    assert preview(10**5000) == "an integer of 16610 bits"
