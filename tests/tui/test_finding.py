"""Search and filter: hits are gone along, what does not fit is hidden, and everything can be taken back."""

from __future__ import annotations

import pytest


def test_search_goes_to_the_first_hit_and_along_all_of_them(drive, agent):
    async def test(d):
        await d.press("slash", *"Riga", "enter")
        first = d.position
        assert "hit 1 of" in d.status and "Riga" in d.text()
        await d.press("n", "n")
        assert "hit 3 of" in d.status and d.position >= first
        await d.press("N", "N", "N")
        assert "hit 17 of 17, round the start" in d.status and d.position > first
        await d.press("n")
        assert "hit 1 of 17, round the end" in d.status and d.position == first
        await d.press("escape", "n")
        assert d.position > first and "hit" not in d.status

    drive(test, recording=agent, size=(130, 40))


def test_a_search_shows_the_part_and_the_line_of_its_hit(drive, agent):
    async def test(d):
        await d.press("slash", *"NJ 403", "enter")
        assert d.screen.part in ("value", "input")
        assert "NJ 403" in d.screen.payload.line_text

    drive(test, recording=agent, size=(130, 40))


def test_a_search_in_the_inspector_stays_in_the_value(drive, agent):
    async def test(d):
        await d.press("j", "j", "2", "tab", "slash", *"never planes", "enter")
        assert d.position == 2 and "never planes" in d.screen.payload.line_text
        await d.press("escape")
        assert d.screen.payload.match is None and d.app.focused is d.screen.payload
        await d.press("slash", *"zzz", "enter")
        assert "zzz is not in what is shown here" in d.status

    drive(test, recording=agent, size=(130, 40))


@pytest.mark.parametrize("typed", ["/(a+/", "[/red]", "%s", "nowhere at all"])
def test_a_search_for_anything_says_what_came_of_it(drive, agent, typed):
    async def test(d):
        await d.press("slash")
        d.screen.prompt.query_one("Input").value = typed
        await d.press("enter")
        assert not d.status.startswith(" event") and d.position == 0
        await d.press("j")
        assert d.position == 1

    drive(test, recording=agent)


def test_a_filter_hides_moves_the_cursor_and_steps_along_what_is_left(drive, agent):
    async def test(d):
        await d.press("f", *"channel:tool", "enter")
        events = d.screen.session.recording.events
        assert len(d.screen.session.rows) == sum(event.channel == "tool" for event in events)
        assert events[d.position].channel == "tool" and "filter channel:tool" in d.status
        shown = [place for place, event in enumerate(events) if event.channel == "tool"]
        row = shown.index(d.position)
        await d.press("j", "j", "j", "k")
        assert d.position == shown[row + 2]
        await d.press("exclamation_mark")
        assert events[d.position].channel != "tool"
        await d.press("G")
        assert events[d.position].channel != "tool"
        await d.press("escape")
        assert len(d.screen.session.rows) == len(events) and "filter" not in d.status

    drive(test, recording=agent, size=(130, 40))


def test_a_filter_that_leaves_nothing_says_so_and_escape_clears_it(drive, agent):
    async def test(d):
        await d.press("f", *"channel:nope", "enter")
        assert "no events match channel:nope" in d.text() and "all 39 are hidden" in d.text()
        await d.press("j", "G", "escape")
        assert len(d.screen.session.rows) == 39 and "no events match" not in d.text()

    drive(test, recording=agent)


def test_a_query_that_is_none_names_the_column_and_changes_nothing(drive, agent):
    async def test(d):
        await d.press("f", *"chanel:llm", "enter")
        assert "column" in d.status
        assert len(d.screen.session.rows) == 39

    drive(test, recording=agent, size=(160, 30))


def test_repeats_are_hidden_and_shown_again(drive, recordings):
    tape = recordings.Tape()
    for _ in range(5):
        tape.add("tool", "poll", "waiting", {"job": 1})
    tape.add("tool", "poll", "done", {"job": 1})

    async def test(d):
        await d.press("H")
        assert len(d.screen.session.rows) == 2 and "repeats hidden" in d.status
        await d.press("j")
        assert d.position == 5
        await d.press("H")
        assert len(d.screen.session.rows) == 6

    drive(test, recording=tape.done(), size=(130, 30))


def test_the_prompt_brings_back_earlier_answers_and_offers_words(drive, agent):
    async def test(d):
        await d.press("f", *"is:error", "enter", "escape", "f", "up")
        field = d.screen.prompt.query_one("Input")
        assert field.value == "is:error"
        field.value = ""
        await d.press(*"channel:m")
        await d.pilot.pause(0.05)
        await d.press("right")
        assert field.value == "channel:mcp"
        await d.press("escape")

    drive(test, recording=agent)


def test_folded_lanes_are_one_row_a_stretch(drive, agent):
    async def test(d):
        await d.press("T")
        assert "worker-1" in d.text() and "main, without a name" in d.text()
        await d.press("enter")
        assert len(d.screen.session.rows) < 39 and "▸" in d.text()
        await d.press("enter", "escape")
        assert len(d.screen.session.rows) == 39

    drive(test, recording=agent, size=(130, 40))


def test_a_paste_that_is_too_long_is_refused_in_words(drive, agent):
    async def test(d):
        await d.press("slash")
        d.app.focused.insert_text_at_cursor("x" * 5000)
        await d.pilot.pause()
        assert "at most 4,096 characters" in d.status and d.app.focused.value == ""
        d.app.focused.insert_text_at_cursor("Riga")
        await d.press("enter")
        assert "hit 1 of" in d.status

    drive(test, recording=agent, size=(130, 40))
