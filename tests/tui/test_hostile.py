"""Recorded data that attacks the screen: it is shown as text, everywhere, and nothing of it acts."""

from __future__ import annotations

import unicodedata

import pytest
from rich.cells import cell_len

from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_tui import safe

BAD = [
    chr(code)
    for code in (*range(32), *range(0x7F, 0xA0), 0x202E, 0x202D, 0x2066, 0x2069, 0x200B, 0xE0041, 0xFEFF, 0x2028)
]


def is_clean(text: str) -> bool:
    return not any(sign in text for sign in BAD if sign != "\n")


@pytest.mark.parametrize(("size", "theme"), [((40, 12), "dark"), ((120, 30), "ansi")])
def test_no_recorded_control_reaches_any_widget(drive, hostile, size, theme):
    async def test(d):
        for _ in range(len(hostile.events)):
            for part in "12345678":
                await d.press(part)
                lines = d.lines()
                assert is_clean("\n".join(lines))
                assert all(cell_len(line) <= size[0] for line in lines)
            await d.press("j")

    drive(test, recording=hostile, size=size, theme=theme)


def test_markup_is_shown_literally_in_rows_values_and_the_status_line(drive, hostile):
    async def test(d):
        text = d.text()
        assert text.count("[/] [b] [@click=app.quit]") >= 3
        await d.press("j")
        assert "[/] [b]" in d.status

    drive(test, recording=hostile, size=(160, 40))


def test_hostile_text_in_searches_lists_and_charts_is_only_text(drive, hostile, recordings, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    async def test(d):
        await d.press("j", "m", "b", "semicolon")
        d.screen.prompt.query_one("Input").value = recordings.HOSTILE.replace("\r", "").replace("\n", "")
        await d.press("enter")
        for keys in (
            ["apostrophe"],
            ["T"],
            ["E"],
            ["R"],
            ["W"],
            ["escape", "x", "L"],
            ["B"],
            ["o"],
            ["c"],
            ["f"],
            ["up"],
        ):
            await d.press(*keys)
            assert is_clean(d.text()), keys
        await d.press("escape", "slash")
        d.screen.prompt.query_one("Input").value = "[/] [b]"
        await d.press("enter", "n", "n")
        assert is_clean(d.text()) and "hit" in d.status
        await d.press("A")
        await d.pilot.pause(0.2)
        assert is_clean(d.text()) and not d.app._exit

    drive(test, recording=hostile, size=(140, 50))


def test_hostile_text_in_notices_prompts_and_failures_is_only_text(drive, hostile, recordings, tmp_path):
    bad = recordings.HOSTILE.replace("/", "").replace("\0", "").replace("\ud800", "")
    path = tmp_path / bad[:80]

    async def test(d):
        d.screen.show_failure(path, StashError(recordings.HOSTILE, code="ERR_NOT_FOUND", hint=recordings.HOSTILE))
        await d.settle()
        assert is_clean(d.text())
        d.screen.session = None
        d.screen.show_failure(path, invalid_recording(recordings.HOSTILE, hint=recordings.HOSTILE))
        await d.settle()
        assert "[/] [b]" in d.text()
        assert is_clean(d.text())
        d.screen.show_opening(path)
        await d.settle()
        assert is_clean(d.text())
        d.app.paths = [path, path]
        await d.press("ctrl+p")
        await d.pilot.pause(0.2)
        assert is_clean(d.text())
        await d.press("escape", "colon")
        d.screen.prompt.query_one("Input").value = bad
        await d.press("enter")
        assert is_clean(d.text()) and not d.app._exit

    drive(test, recording=hostile, size=(100, 40))


def test_a_long_line_is_walked_to_its_end(drive, hostile):
    async def test(d):
        await d.press("j", "j", "j", "tab", "G")
        assert d.screen.payload.top > 10_000
        assert "AAAA" in d.text()
        await d.press("w", "G", "l")
        assert "AAAA" in d.text()

    drive(test, recording=hostile)


SAMPLES = [
    "한국어",
    "👨‍👩‍👧",
    "🏳️‍🌈",
    "👍🏽",
    "e" + "\u0301" * 10,
    "\u2060",
    "\ufeff",
    "ｗｉｄｅ",
    "مرحبا",
    "plain",
    "a\tb",
    "x\r\ny",
    "\x1b[0m",
    "",
]


@pytest.mark.parametrize("text", [*SAMPLES, "".join(SAMPLES), "".join(SAMPLES) * 5])
def test_a_cut_fills_its_cells_exactly_and_splits_no_character(text):
    for width in range(40):
        cut = safe.fit(text, width)
        assert safe.cells(cut) == width
        assert is_clean(cut)
        assert not unicodedata.combining(cut[:1] or "x")


@pytest.mark.parametrize("text", [*SAMPLES, "".join(SAMPLES) * 5, "words and words and more words " * 9])
def test_folding_loses_nothing_and_fits(text):
    from stashdbg_tui.widgets.folding import folds

    shown = safe.shown(text)
    for width in (2, 3, 7, 20, 79):
        starts = folds(shown, width)
        rows = [shown[start:end] for start, end in zip(starts, [*starts[1:], len(shown)], strict=True)]
        assert "".join(rows) == shown
        assert all(safe.cells(row.rstrip(" ")) <= width for row in rows)
