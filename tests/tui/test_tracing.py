"""Going back to where something came from: last, origin, why."""

from __future__ import annotations

import pytest


@pytest.fixture
def refund(recordings):
    """A rate that is looked up, passed on by a model, and used in a call that fails."""
    tape = recordings.Tape()
    tape.add("state", "desk", {"closed": 0})
    tape.add("tool", "archived_rate", {"pair": "USD-EUR", "rate": 1.0873, "note": "from the archive of March"})
    tape.add("state", "desk", {"closed": 0})
    tape.add("llm", "m", {"content": "refund 129.35 for H-52"}, {"messages": [
        {"role": "user", "content": "refund H-52"},
        {"role": "tool", "content": "rate 1.0873 from the archive of March"}]})  # fmt: skip
    tape.add("state", "desk", {"closed": 1})
    tape.add("tool", "issue", recordings.exception("Rejected", "too much"), {"said": "refund 129.35 for H-52"},
             outcome="throw")  # fmt: skip
    tape.add("state", "desk", {"closed": 1})
    return tape.done()


def test_last_jumps_to_the_event_that_set_the_field(drive, refund):
    async def test(d):
        await d.press("G", "tab", "j", "L")
        assert d.position == 4 and "/closed changed from 0 to 1, in event 4" in d.status
        assert d.screen.payload.pointer == "/closed"
        await d.press("left_square_bracket")
        assert d.position == 6

    drive(test, recording=refund, size=(150, 40))


def test_last_works_from_the_state_tab(drive, refund):
    async def test(d):
        await d.press("G", "k", "5", "tab", "j", "L")
        assert d.position == 4

    drive(test, recording=refund, size=(150, 40))


def test_origin_jumps_to_where_a_text_first_appears(drive, refund):
    async def test(d):
        await d.press("x", "2", "tab", "j", "B")
        assert d.position == 3 and "first appears" in d.status

    drive(test, recording=refund, size=(150, 40))


def test_why_lists_evidence_and_is_jumped_along(drive, refund):
    async def test(d):
        await d.press("x", "W")
        text = d.text()
        assert "Why the input of event 5" in text and "event 3" in text and "characters verbatim" in text
        assert "caus" not in text.replace("not causes", "")
        await d.press("j", "enter")
        assert d.position == 3 and d.app.focused is d.screen.panel
        await d.press("escape")
        assert d.app.focused is d.screen.timeline

    drive(test, recording=refund, size=(150, 40))


def test_where_there_is_no_field_it_says_so(drive, refund):
    async def test(d):
        await d.press("7", "L")
        assert "no field here" in d.status
        await d.press("B")
        assert "no text here" in d.status

    drive(test, recording=refund, size=(150, 40))
