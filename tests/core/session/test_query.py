"""The query language: what parses, and where a fault is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.errors import StashError
from stashdbg_core.session.query import parse_query


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("(", 1),
        (")", 0),
        ("a b)", 3),
        ("a (b", 2),
        ('say "hello', 4),
        ("x /abc", 2),
        ("/(a+/", 0),
        ("ok nope:1", 3),
        ("is:bogus", 3),
        ("ms:soon", 3),
        ("seq:1 ms:>", 9),
        ("at:yesterday", 3),
        ("key:", 0),
        ("key: x", 0),
        ("a or", 4),
        ("or a", 0),
        ("not", 3),
        ("seq:/1/", 4),
        ('""', 0),
        ("/x/q", 0),
        ("/(?:a{9999}){9999}/", 0),
        ("(" * 200, 101),
    ],
)
def test_a_fault_names_its_column(text, column):
    with pytest.raises(StashError) as caught:
        parse_query(text)
    assert caught.value.code == "ERR_INVALID_INPUT"
    assert caught.value.details["column"] == column
    assert f"column {column + 1}" in caught.value.message or "at its end" in caught.value.message
    assert caught.value.message.isprintable()


def test_an_unknown_operator_is_told_its_nearest_name_and_how_to_look_for_it_as_a_text():
    with pytest.raises(StashError) as caught:
        parse_query("chanel:llm")
    assert "did you mean channel:" in caught.value.hint
    assert "quotes" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "[",
        "\\",
        "*",
        "'",
        "a{99",
        "[/INST]",
        "😀",
        "C:\\\\dir".replace("C:", "c"),
        '"(["',
        r"/\//",
        "--a",
        "not not a",
        "a and b",
    ],
)
def test_odd_characters_are_text(text):
    assert parse_query(text).kind in ("all", "term", "and", "not")


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet='ab :"/\\()-*<>=1.{}[]+?|\x1b\n', max_size=30))
def test_whatever_is_typed_parses_or_is_refused_at_a_column(text):
    try:
        parsed = parse_query(text)
    except StashError as error:
        refused = error
    else:
        assert parsed.kind in ("all", "term", "not", "and", "or")
        return
    assert refused.code == "ERR_INVALID_INPUT"
    assert 0 <= refused.details["column"] <= len(text)


def test_a_query_of_a_megabyte_is_refused_at_once():
    with pytest.raises(StashError, match="at most"):
        parse_query("(" * 1_000_000)
