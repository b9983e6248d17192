"""Two recordings side by side on the screen: keys, panes, filters, and what never reaches the terminal."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace

import pytest

from stashdbg_core.store.writer import write_recording
from stashdbg_tui.commands import in_scope
from stashdbg_tui.diff_app import DiffApp


def runs(recordings):
    """Two runs: a value that flows on, an event on either side alone, and one that differs in time."""
    made = []
    for gold, amount in ((60, 49.9), (90, 61.9)):
        tape = recordings.Tape(f"refund-{gold}")
        policy = f"Refunds within 30 days.\nGold customers have {gold} days.\nAsk a human."
        tape.add("clock", "now", 1)
        tape.add("tool", "policy", policy, {"name": "refunds"})
        tape.add("llm", "gpt", {"pay": f"{amount} euros"}, {"say": f"Gold customers have {gold} days."}, ms=gold)
        if gold == 90:
            tape.add("http", "audit", "ok", {"pay": "61.9 euros"})
        else:
            tape.add("mcp", "mail", "sent", {"to": "ada"})
        tape.add("tool", "done", "bye", {"n": 1}, ms=gold)
        made.append(tape.done())
    return made


class Driver:
    """A comparison under a pilot."""

    def __init__(self, app, pilot):
        self.app, self.pilot = app, pilot

    @property
    def diff(self):
        return self.app.diff_screen

    @property
    def seen(self):
        return self.diff.comparison

    async def settle(self):
        for _ in range(500):
            await self.pilot.pause()
            await self.app.workers.wait_for_complete()
            if self.diff.failure or (self.seen is not None and self.seen.explanation and not self.diff.status.progress):
                await self.pilot.pause()
                return
            await asyncio.sleep(0.01)
        raise AssertionError("the comparison never came")

    async def press(self, *keys):
        for key in keys:
            await self.pilot.press(key)
            await self.pilot.pause()
        await self.settle()

    def lines(self):
        return ["".join(piece.text for piece in strip) for strip in self.app.screen._compositor.render_strips()]

    def text(self):
        return "\n".join(self.lines())

    @property
    def status(self):
        return self.lines()[-2]


@pytest.fixture
def compare(recordings, tmp_path, monkeypatch):
    """Run an asynchronous test against the comparison of two recordings, or of two files."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("TEXTUAL_THEME", raising=False)

    def run(test, made=None, *, files=None, size=(80, 24), **options):
        if files is None:
            made = made or runs(recordings)
            files = [write_recording(one, tmp_path / f"{name}.json") for name, one in zip("ab", made, strict=True)]

        async def main():
            app = DiffApp(tuple(files), **options)
            async with app.run_test(size=size) as pilot:
                driver = Driver(app, pilot)
                await driver.settle()
                await test(driver)
            return app

        return asyncio.run(main())

    return run


def test_it_opens_on_the_first_divergence_with_gaps_and_reasons(compare):
    async def test(d):
        lines = d.lines()
        assert "a.json  5 events" in lines[0] and "b.json  5 events" in lines[0]
        assert any("policy" in line and "≠◆" in line for line in lines)
        assert sum("╌╌╌╌" in line for line in lines) == 2
        assert "Gold customers have 60 days." in d.text() and "Gold customers have 90 days." in d.text()
        assert "the earliest difference" in d.text()
        assert d.status.startswith(" difference 1 of 4 · changed · event 1 tool policy")

    compare(test)


def test_changes_are_gone_along_and_lead_back_to_where_they_come_from(compare):
    async def test(d):
        await d.press("n")
        assert "flows from event 1 tool policy" in d.text() and "difference 2 of 4" in d.status
        await d.press("B")
        assert "event 1 tool policy" in d.status
        await d.press("right_square_bracket", "right_square_bracket", "right_square_bracket", "right_square_bracket")
        assert "no later difference; 4 in all" in d.status
        await d.press("left_square_bracket", "N", "d")
        assert "difference 1 of 4" in d.status
        await d.press("g", "k")
        assert "this is the first row" in d.status
        await d.press("B")
        assert "no text of an earlier difference" in d.status

    compare(test)


def test_measured_values_are_one_line_until_they_are_asked_for(compare, recordings):
    made = []
    for token in ("f81d4fae-7dec", "6ba7b810-9dad"):
        tape = recordings.Tape(token)
        tape.add("random", "uuid4", token)
        tape.add("tool", "pay", "ok", {"token": token})
        made.append(tape.done())

    async def test(d):
        assert "≈ 1 random value differs: same place, another value · m shows them" in d.text()
        assert len(d.seen) == 1 and "difference 1 of 1 · changed · event 1 tool pay" in d.status
        assert "flows from event 0 random uuid4" in d.text()
        await d.press("n")
        assert "no later difference; 1 in all" in d.status
        await d.press("m")
        assert "m folds them" in d.text() and any("uuid4" in line and "≈←" in line for line in d.lines())
        await d.press("m", "B")  # where it comes from is shown, folded or not
        assert "m folds them" in d.text() and "measured · event 0 random uuid4" in d.status
        assert "a value that is read has no input" in d.text()

    assert not compare(test, made).diff_screen.comparison.same


def test_a_filter_shows_a_kind_and_escape_brings_all_back(compare):
    async def test(d):
        await d.press("f")
        assert "show  a all  d differences" in d.text()
        await d.press("r")
        assert len(d.seen) == 1 and "audit" in d.lines()[2] and "1 of 6 rows" in d.status
        await d.press("f", "m")
        assert "no event moved" in d.status and len(d.seen) == 1
        await d.press("escape")
        assert len(d.seen) == d.seen.total and d.app.screen is d.diff
        await d.press("f", "t")
        assert "done" in d.lines()[2] and "timing differs" in d.status

    compare(test)


def test_swapping_and_layouts(compare):
    async def test(d):
        await d.press("x")
        assert d.lines()[0].index("b.json") < d.lines()[0].index("a.json")
        text = d.text()
        assert text.index("90 days.") < text.index("60 days.")
        await d.press("u")
        assert any("60 days" in line and "90 days" in line and "│" in line for line in d.lines()[12:])
        await d.press("u", "w", "right_curly_bracket")
        assert "6 equal lines around" in d.status
        await d.press("z")
        assert "Gold" not in d.text()
        await d.press("tab", "j", "G", "g", "escape", "escape")
        assert "≠◆" in d.text() and d.app.screen is d.diff and not d.app._exit

    compare(test)


def test_a_side_opens_in_the_debugger_and_q_comes_back(compare):
    async def test(d):
        await d.press("l", "enter")
        await d.pilot.pause()
        screen = d.app.screen
        assert screen is d.app.main_screen and screen.session.recording.id == "refund-90"
        assert screen.session.event.key == "policy"
        await d.press("j")
        assert screen.session.event.key == "gpt"
        await d.press("q")
        assert d.app.screen is d.diff and d.app.main_screen is not screen
        await d.press("f", "l", "enter")
        assert "only the left recording has this event" in d.status

    compare(test)


def test_what_is_the_same_says_so(compare, recordings):
    async def test(d):
        assert d.status.startswith(" no differences (timing differs in 2 events)")
        await d.press("d")
        assert "nothing differs" in d.status
        await d.press("q")

    one, _ = runs(recordings)
    later = [event.replaced(ms=event.ms + 1) if at < 2 else event for at, event in enumerate(one.events)]
    app = compare(test, [one, replace(one, events=type(one.events)(later))])
    assert app._exit


def test_two_empty_recordings(compare, recordings):
    async def test(d):
        assert "neither recording has an event" in d.text()
        await d.press("j", "n", "x", "u", "enter", "f", "c", "y", "d", "B")

    compare(test, [recordings.Tape("a").done(), recordings.Tape("b").done()])


def test_a_file_that_is_no_recording_ends_with_the_reason(tmp_path, recordings):
    good = write_recording(runs(recordings)[0], tmp_path / "good.json")
    bad = tmp_path / "bad.json"
    bad.write_text('{"hello": 1}')

    async def main():
        app = DiffApp((good, bad))
        async with app.run_test() as pilot:
            for _ in range(300):
                await pilot.pause()
                if app._exit:
                    break
                await asyncio.sleep(0.01)
        return app

    app = asyncio.run(main())
    assert app.diff_screen.failure is not None


def test_hostile_recordings_reach_no_terminal_raw(compare, recordings, hostile):
    changed = recordings.hostile_run()
    other = [replace_value(changed, event, at, recordings) for at, event in enumerate(changed.events)]
    made = replace(changed, events=type(changed.events)(other))

    async def test(d):
        for key in ("u", "w", "n", "n", "tab", "l", "G", "tab", "G", "x", "enter", "q"):
            await d.press(key)
            for text in d.lines():
                assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)

    compare(test, [hostile, made], size=(100, 30))


def replace_value(recording, event, at, recordings):
    return event.replaced(ref=recording.blobs.put([recordings.HOSTILE, at]), label=None)


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (200, 60)])
def test_it_works_at_any_size(compare, size):
    async def test(d):
        await d.press("n", "u", "u", "z", "z", "j", "k", "?", "escape")
        assert all(len(line) == size[0] for line in d.lines())

    compare(test, size=size)


def test_every_key_of_a_comparison_runs_and_means_one_thing(compare):
    from textual.actions import parse

    for pane in ("diff-rows", "diff-text"):
        keys = [key for entry in in_scope("diff", pane) for key in (*entry.keys, *entry.fixed)]
        assert len(keys) == len(set(keys))

    async def test(d):
        for entry in in_scope("diff", "diff-rows"):
            assert callable(getattr(d.diff, f"action_{parse(entry.action)[1]}")), entry.id
        for entry in in_scope("diff-text"):
            assert callable(getattr(d.diff.text, f"action_{parse(entry.action)[1]}")), entry.id

    compare(test)


def test_the_palette_offers_what_the_screen_can_do(compare):
    async def test(d):
        await d.pilot.press("ctrl+p")
        await d.pilot.pause()
        await d.pilot.press(*"swap")
        await asyncio.sleep(0.3)
        await d.pilot.pause()
        await d.pilot.press("enter")
        await d.press("g")
        assert d.seen.swapped
        await d.press("y")
        assert re.findall(r"\w+\.json", d.app.clipboard) == ["b.json", "a.json"]

    compare(test)


def test_the_screen_looks_as_it_did(snap_compare, recordings, tmp_path, monkeypatch):
    for name in ("NO_COLOR", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)
    made = zip("ab", runs(recordings), strict=True)
    files = tuple(write_recording(one, tmp_path / f"{name}.json") for name, one in made)

    async def wait(pilot):
        driver = Driver(pilot.app, pilot)
        await driver.settle()
        await driver.press("n")

    assert snap_compare(DiffApp(files), run_before=wait, terminal_size=(120, 32))


def test_no_colour_still_tells_sides_and_signs_apart(compare, monkeypatch):
    async def test(d):
        text = d.text()
        assert "≠◆" in text and "\n- " in text and "\n+ " in text

    monkeypatch.setenv("NO_COLOR", "1")
    compare(test)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_help_and_the_way_out_are_named_however_narrow_the_screen(compare, width):
    async def test(d):
        assert d.lines()[-1].rstrip().endswith("? help  q close") and "n/N change" in d.lines()[-1]

    compare(test, size=(width, 24))
