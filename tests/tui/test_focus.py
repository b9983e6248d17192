"""Which pane has the focus shows: in the last line, in the tabs, and in where a closed list gives it back to."""

from __future__ import annotations

import pytest

from stashdbg_tui.theme import DARK, LIGHT


def test_the_last_line_names_the_keys_of_the_pane_in_focus(drive, agent):
    async def test(d):
        assert "x error" in d.lines()[-1] and "? help  q quit" in d.lines()[-1]
        await d.press("j", "tab")
        assert d.lines()[-1].split("  ")[:3] == [" j/k line", "Enter fold", "L last"]
        assert "x error" not in d.lines()[-1] and "? help  q quit" in d.lines()[-1]
        await d.press("4")
        assert "L last" not in d.lines()[-1]  # a chat has no fields
        await d.press("m", "apostrophe")
        assert d.lines()[-1].strip() == "j/k line  Enter choose  - take away  ? help  q close"
        await d.press("minus")
        await d.press("apostrophe", "apostrophe")
        assert d.lines()[-1].strip() == "j/k line  ? help  q close"

    drive(test, recording=agent)


def test_a_click_on_a_key_does_what_the_key_does_in_that_pane(drive, agent):
    async def test(d):
        await d.press(*["j"] * 10, "tab")
        await d.pilot.click("#keys", offset=(2, 0))
        assert d.screen.payload.cursor_row == 1 and d.position == 10

    drive(test, recording=agent)


@pytest.mark.parametrize("theme", ["dark", "ansi"])
def test_the_shown_tab_is_marked_while_keys_go_into_it(drive, agent, theme):
    def look(d):
        line = d.app.screen._compositor.render_strips()[d.screen.tabs.region.y]
        return next(segment.style for segment in line if "1 value" in segment.text)

    async def test(d):
        before = look(d)
        await d.press("tab")
        inside = look(d)
        assert inside != before
        await d.press("W")
        assert look(d) == before
        await d.press("escape")
        assert look(d) == inside

    drive(test, recording=agent, theme=theme)


def test_q_closes_a_list_and_gives_the_focus_back(drive, agent):
    async def test(d):
        await d.press("x", "tab", "W")
        assert "Esc closes" in d.status and d.app.focused is d.screen.panel
        await d.press("q")
        assert not d.app._exit and not d.screen.has_class("-panel")
        assert d.app.focused is d.screen.payload
        assert "Esc closes" not in d.status and f"event {d.screen.session.event.seq} ·" in d.status

    drive(test, recording=agent)


def test_a_message_leaves_no_stump_of_the_words_after_it(drive, agent):
    async def test(d):
        await d.press("x", "b")
        assert d.status.rstrip().endswith(("c and C run to it", "breakpoint")) and "…" not in d.status

    drive(test, recording=agent)


def test_caret_button_and_chosen_command_show_without_colour(drive, agent, monkeypatch):
    def styled(d, attribute):
        strips = d.app.screen._compositor.render_strips()
        return [
            segment.text for strip in strips for segment in strip if segment.style and getattr(segment.style, attribute)
        ]

    async def test(d):
        await d.press("slash", "z")
        assert styled(d, "reverse") == [" "]  # the caret
        await d.press("escape", "a", "r", "tab", "tab")
        assert any("Write the copy" in text for text in styled(d, "reverse"))
        await d.press("escape", "ctrl+p")
        for _ in range(200):
            if any("Next event" in text for text in styled(d, "underline")):
                return
            await d.pilot.pause(0.01)
        raise AssertionError("the first command of the palette is not marked")

    monkeypatch.setenv("NO_COLOR", "1")
    drive(test, recording=agent)


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_muted_text_can_be_read_on_every_ground(theme):
    for ground in (theme.background, theme.surface, theme.panel):
        for name in ("muted", "channel-4"):
            assert _contrast(theme.variables[name], ground) >= 4.5, (theme.name, name, ground)


def _contrast(text, ground):
    """The ratio of WCAG 2."""
    lighter, darker = sorted((_luminance(text), _luminance(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour):
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
