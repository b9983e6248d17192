"""A million events: the same few rows are looked at, whatever the length."""

from __future__ import annotations

from stashdbg_core.store.writer import write_recording


def test_a_million_events_cost_what_is_visible(drive, recordings):
    recording = recordings.endless_run(1_000_000)
    looked_at: set[int] = set()
    plain = type(recording.events).__getitem__

    class Watched(type(recording.events)):
        def __getitem__(self, index):
            looked_at.add(index)
            return plain(self, index)

    recording.events.__class__ = Watched

    async def test(d):
        await d.press("G", "k", "k", "g", "space", "j")
        await d.press("colon", *"50%", "enter")
        assert d.status.startswith(" event 500000 · 500,001 of 1,000,000")
        assert len(looked_at) < 1500

    drive(test, recording=recording)


def test_many_large_values_are_stepped_through(drive, recordings, tmp_path):
    tape = recordings.Tape()
    for place in range(6):
        tape.add("tool", "page", [f"{place} line {line}" for line in range(60_000)], {"n": place})
    path = write_recording(tape.done(), tmp_path / "big.json")

    async def test(d):
        for place in range(1, 6):
            await d.press("j")
            assert f"{place} line 0" in d.text()
        await d.press("tab", "G")
        assert "5 line 59999" in d.text()

    drive(test, paths=[path])


def test_changing_the_theme_changes_what_was_drawn(drive, agent):
    async def test(d):
        def colours():
            return {
                segment.style.bgcolor
                for strip in d.app.screen._compositor.render_strips()
                for segment in strip
                if segment.style
            }

        dark = colours()
        d.app.theme = "stash-light"
        await d.settle()
        await d.pilot.pause(0.1)
        assert not dark & colours()

    drive(test, recording=agent)
