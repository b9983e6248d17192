"""JSON text to trees: the tolerant parser agrees with the standard library, keeps what is odd, and never recurses."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import SpelledNumber, canonical_form
from stashdbg_core.errors import ErrorCode, StashError
from stashdbg_core.parse import parse_json, parse_tolerant
from stashdbg_core.store.limits import Limits

_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200)
@given(_TREES, st.sampled_from([None, 1]))
def test_it_reads_what_json_writes(tree: object, indent: int | None) -> None:
    text = json.dumps(tree, indent=indent).encode()
    parsed = parse_tolerant(text)
    assert canonical_form(parsed.tree) == canonical_form(tree) == canonical_form(parse_json(text))
    assert parsed.problems == ()
    assert parsed.exact


@settings(max_examples=200)
@given(st.binary(max_size=40) | st.text(alphabet='{}[]",:\\ 0-1.eENaInfinitytrue', max_size=30).map(str.encode))
def test_whatever_the_bytes_it_parses_or_says_where(text: bytes) -> None:
    try:
        parse_json(text)
    except StashError as error:
        refusal = error
    else:
        return
    assert refusal.code is ErrorCode.INVALID_RECORDING
    assert 0 <= refusal.details["offset"] <= 3 * len(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        (b"NaN", {"$stash": "float", "value": "nan"}),
        (b"[Infinity,-Infinity]", [{"$stash": "float", "value": "inf"}, {"$stash": "float", "value": "-inf"}]),
    ],
)
def test_bare_not_finite_numbers_become_tags_with_a_problem(text: bytes, tree: object) -> None:
    parsed = parse_tolerant(text)
    assert parsed.tree == tree
    assert "which JSON has not" in parsed.problems[0]
    assert parsed.exact


def test_lone_surrogates_stay() -> None:
    assert parse_json(rb'"ok \ud83d tail \udcff"') == "ok \ud83d tail \udcff"


def test_duplicate_keys_are_named_by_pointer_and_the_last_counts() -> None:
    parsed = parse_tolerant(b'{"a":[0,{"x/y":1,"x/y":2}]}')
    assert parsed.tree == {"a": [0, {"x/y": 2}]}
    assert parsed.problems == ("key given twice, the last counts: /a/1/x~1y",)
    assert not parsed.exact


def test_bad_utf8_is_replaced_and_its_byte_named() -> None:
    parsed = parse_tolerant(b'{"a":"\xff"}')
    assert parsed.tree == {"a": "\ufffd"}
    assert parsed.problems == ("byte 6 is not UTF-8",)
    assert not parsed.exact


def test_numbers_that_python_cannot_hold_keep_their_spelling() -> None:
    for token in ("1e400", "-" + "7" * 5000):
        number = parse_json(token.encode())
        assert type(number) is SpelledNumber
        assert number.token == token


def test_integers_are_exact_at_any_size() -> None:
    assert parse_json(b"[9007199254740993,-9223372036854775809,18446744073709551616]") == [
        9007199254740993,
        -9223372036854775809,
        18446744073709551616,
    ]


def test_depth_costs_no_stack() -> None:
    tree = parse_json(b"[" * 100_000 + b"]" * 100_000)
    depth = 0
    while tree:
        tree, depth = tree[0], depth + 1
    assert depth == 99_999


@pytest.mark.parametrize(("text", "limit"), [(b"[" * 2001 + b"]" * 2001, "depth"), (b"1" * 4301, "digits")])
def test_a_broken_limit_is_named(text: bytes, limit: str) -> None:
    with pytest.raises(StashError, match=f"{limit}=") as caught:
        parse_tolerant(text, Limits())
    assert caught.value.details["limit"] == limit
    assert f"--limit {limit}=N" in str(caught.value.hint)
    assert parse_tolerant(text, Limits(depth=9999, digits=9999)).exact


def test_limits_are_read_from_settings() -> None:
    limits = Limits.parse(["depth=5000", "size=2GB"])
    assert (limits.depth, limits.size) == (5000, 2_000_000_000)
    for bad in ("depth", "depth=-1", "nonsense=3", "size=2 parsecs"):
        with pytest.raises(StashError) as caught:
            Limits.parse([bad])
        assert caught.value.code is ErrorCode.INVALID_INPUT
