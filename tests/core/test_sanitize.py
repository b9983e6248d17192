"""Nothing recorded acts on the terminal or hides in it, and nothing harmless changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stashdbg_core.sanitize import sanitize, sanitize_line, shorten

any_text = st.text(st.characters(exclude_categories=()))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;PWN\x07", "␛]0;PWN␇"),
        ("\x9b2J", "‹U+009B›2J"),
        ("a\x00\x7f", "a␀␡"),
        ("a\r\nb\r\nc", "a\nb\nc"),
        ("visible\rhidden", "visible␍hidden"),
        ("x\ty\n", "x\ty\n"),
        ("GRANTED \u202e DEIN\u202c", "GRANTED ‹U+202E› DEIN‹U+202C›"),
        ("pay\u200bpal", "pay‹U+200B›pal"),
        ("ok\U000e0041", "ok‹U+E0041›"),
        ("\ud83d", "‹U+D83D›"),
        ("a\u2028b\u2029", "a‹U+2028›b‹U+2029›"),
        ("ab\u200dc", "ab‹U+200D›c"),
        ("12\ufe0f3", "12‹U+FE0F›3"),
        ("é\u200d\u200d\u200dé", "é\u200d‹U+200D›‹U+200D›é"),
        ("😀\ufe0f\ufe0f", "😀\ufe0f‹U+FE0F›"),
        ("é\u200dx", "é‹U+200D›x"),
    ],
)
def test_what_acts_or_hides_becomes_visible(text: str, shown: str) -> None:
    assert sanitize(text) == shown


@pytest.mark.parametrize(
    "text", ["مرحبا بالعالم", "می‌خواهم", "👨‍👩‍👧", "🏳️‍🌈", "❤️‍🔥", "1️⃣", "👍🏽", "한국어", "e\u0301", "[/][b]", "␛"]
)
def test_real_text_stays(text: str) -> None:
    assert sanitize(text) == text
    assert sanitize_line(text) == text


@given(any_text)
def test_output_is_safe_stable_and_encodable(text: str) -> None:
    for clean in (sanitize(text), sanitize_line(text)):
        clean.encode()
        assert not [c for c in clean if c < " " and c not in "\n\t"]
        assert not set(clean) & set("\x7f\x9b\u202e\u2066\u200b\ufeff\u2028")
    assert "\n" not in sanitize_line(text)
    assert sanitize_line(sanitize_line(text)) == sanitize_line(text)


@given(any_text, st.integers(0, 20))
def test_shorten_keeps_to_its_limit(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == sanitize_line(text) or limit == 0 or short.endswith("…")


def test_shorten_looks_at_the_head_only() -> None:
    assert shorten("x" * 10_000_000, 5) == "xxxx…"
