"""The two byte forms: exact, order-free where they must be, and the same by every way to them."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stashdbg_core import canonical
from stashdbg_core.canonical import SpelledNumber, canonical_form, content_digest, content_ref, is_plain, stored_form
from stashdbg_core.parse import parse_json

any_text = st.text(st.characters(exclude_categories=())).filter(
    lambda s: not any("\ud800" <= a <= "\udbff" and "\udc00" <= b <= "\udfff" for a, b in itertools.pairwise(s))
)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
trees = st.recursive(
    st.none() | st.booleans() | numbers | any_text,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(any_text, inner, max_size=5),
    max_leaves=20,
)


def reordered(tree: Any) -> Any:
    if type(tree) is dict:
        return {key: reordered(tree[key]) for key in reversed(list(tree))}
    return [reordered(item) for item in tree] if type(tree) is list else tree


@settings(max_examples=100)
@given(trees)
@example({"\ue000": 1, "\U0001f600": 2, "é": 3, "a": 4, "z9": 5, "z10": 6})
@example(["\x7f\u2028<>&/\\\"'\x00\x1f\b\f\n\r\t", 2**64, -(2**63) - 1, 1e16, 1e-5, 5e-324])
def test_the_fast_and_the_exact_encoder_agree(tree: Any) -> None:
    assert stored_form(tree) == canonical._exact(tree, sort=False)
    assert canonical_form(tree) == canonical._exact(tree, sort=True)
    assert b"\n" not in stored_form(tree)


@settings(max_examples=100)
@given(trees)
def test_both_forms_parse_to_the_same_tree(tree: Any) -> None:
    text = repr(tree)  # tells 1, 1.0 and True apart, and 0.0 and -0.0, and shows the order of keys
    assert repr(parse_json(stored_form(tree))) == text
    assert repr(json.loads(stored_form(tree))) == text
    assert parse_json(canonical_form(tree)) == tree


@settings(max_examples=100)
@given(trees)
def test_canonical_form_does_not_depend_on_key_order(tree: Any) -> None:
    other = reordered(tree)
    assert canonical_form(other) == canonical_form(tree)
    assert content_digest(other) == content_digest(tree)
    assert canonical_form(parse_json(canonical_form(tree))) == canonical_form(tree)


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(1e16)
@example(9999999999999998.0)
@example(1e-5)
@example(9.999999999999999e-6)
@example(-0.0)
@example(5e-324)
@example(1.7976931348623157e308)
def test_numbers_are_spelled_as_the_format_says(number: float) -> None:
    spelled = canonical.spell_number(number)
    assert spelled == by_hand(number)
    assert math.copysign(1, float(spelled)) == math.copysign(1, number)
    assert float(spelled) == number


def by_hand(number: float) -> str:
    """Spell a float from the shortest digits that Python's ``repr`` finds."""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, point = whole + fraction, len(whole) + int(exponent or 0)
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0") or "0"
    sign = "-" if math.copysign(1, number) < 0 else ""
    if digits == "0":
        return sign + "0.0"
    if 1e-5 <= abs(number) < 1e16:
        if point <= 0:
            return f"{sign}0.{'0' * -point}{digits}"
        padded = digits.ljust(point, "0")
        return f"{sign}{padded[:point]}.{padded[point:] or '0'}"
    return f"{sign}{digits[0]}{'.' if digits[1:] else ''}{digits[1:]}e{point - 1}"


def test_values_that_python_calls_equal_have_their_own_forms() -> None:
    values = [1, 1.0, True, "1", -0.0, 0.0, 0, False, None, [], {}, [[]], "", SpelledNumber("1e400"), math.pi]
    assert len({canonical_form(value) for value in values}) == len(values)


def test_numbers_beyond_double_range_stay_as_spelled() -> None:
    token = SpelledNumber("-1.50E+400")
    assert stored_form({"n": [token]}) == b'{"n":[-1.50E+400]}'
    assert token == SpelledNumber("-1.50E+400") != SpelledNumber("-1.5e400")
    assert canonical_form(parse_json(stored_form(token))) == stored_form(token)


@pytest.mark.parametrize("tree", [math.nan, [math.inf], {"a": -math.inf}])
def test_not_a_number_is_refused_not_nulled(tree: Any) -> None:
    for form in (stored_form, canonical_form):
        with pytest.raises(ValueError, match="tag them"):
            form(tree)


@pytest.mark.parametrize("tree", [(1,), {1: 2}, {1, 2}, b"x", [object()], {"a": (1,)}, True + 0j])
def test_what_json_has_not_is_refused_not_converted(tree: Any) -> None:
    assert not is_plain(tree)
    for form in (stored_form, canonical_form):
        with pytest.raises(TypeError):
            form(tree)


def test_deep_trees_and_cycles_of_the_stack() -> None:
    tree: Any = {"b": 1, "a": 2}
    for _ in range(50_000):
        tree = [tree]
    assert stored_form(tree).startswith(b"[[[[")
    assert canonical_form(tree).count(b'{"a":2,"b":1}') == 1
    assert not is_plain(tree)


def test_long_text_with_a_lone_surrogate() -> None:
    text = "日本語" * 100_000 + "\ud83d"
    assert stored_form(text) == b'"' + ("日本語" * 100_000).encode() + b'\\ud83d"'


def test_a_ref_is_the_hash_of_the_stored_bytes() -> None:
    assert content_ref(b"{}") == "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
