"""A million events: the same few rows are looked at, whatever the length."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.store import index_cache
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.writer import write_recording
from stashdbg_tui.widgets.timeline import Timeline
from stashdbg_tui.workers import loader
from stashdbg_tui.workers.loader import HeadLoaded, RecordingLoaded, load

COUNT = 20_000
"""Events in a file that is large; from which size on one is, these tests say."""


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
    for place in range(3):
        tape.add("tool", "page", [f"{place} line {line}" for line in range(12_000)], {"n": place})
    path = write_recording(tape.done(), tmp_path / "big.json")

    async def test(d):
        for place in range(1, 3):
            await d.press("j")
            assert f"{place} line 0" in d.text()
        await d.press("tab", "G")
        assert "2 line 11999" in d.text()

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


@pytest.fixture
def large_file(tmp_path, monkeypatch):
    """A file that is worth an index of its own, and a cache folder that is nobody's."""
    monkeypatch.setattr(loader, "LARGE_BYTES", 1_000_000)
    monkeypatch.setattr(index_cache, "BIG", 2_000_000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    event = '{"seq":%d,"channel":"tool","key":"page","ordinal":%d,"outcome":"return","ref":"r%d"}'
    blobs = [f'"r{place}":{json.dumps(str(place) * 700)}' for place in range(1_200)]
    path = tmp_path / "large.json"
    with path.open("w") as out:
        out.write('{"version":1,"id":"large","events":[\n')
        out.write(",\n".join(event % (place, place, place % 1_200) for place in range(COUNT)))
        out.write('\n],"blobs":{\n' + ",\n".join(blobs) + '\n},"meta":{}}\n')
    return path


def opened(path):
    """Return what is posted while a file is opened, by a screen that paints at once."""
    posted = []

    def post(message):
        posted.append(message)
        if isinstance(message, HeadLoaded):
            message.painted.set()

    load(path, Limits(), post, lambda: False)
    return posted


def test_a_large_file_shows_its_head_first_and_all_of_it_later(large_file):
    posted = opened(large_file)
    assert [type(message) for message in posted] == [HeadLoaded, RecordingLoaded]
    head, whole = (message.recording for message in posted)
    assert len(head.events) < len(whole.events) == COUNT
    assert head.events[3] == whole.events[3]
    assert head.blobs.payload("r3").raw == whole.blobs.payload("r3").raw
    assert [type(message) for message in opened(large_file)] == [RecordingLoaded]


def test_the_rest_of_a_file_is_read_once_its_head_is_on_the_screen(drive, large_file, monkeypatch):
    read_on, draw_row = index_cache.open_in_process, Timeline.draw_row
    drawn: set[int] = set()
    drawn_before: list[int] = []

    def reading(*args, **kwargs):
        drawn_before.append(len(drawn))
        return read_on(*args, **kwargs)

    def drawing(timeline, row, width):
        drawn.add(row)
        return draw_row(timeline, row, width)

    monkeypatch.setattr(loader, "PAINT_SECONDS", 60)  # however busy the machine is
    monkeypatch.setattr(index_cache, "open_in_process", reading)
    monkeypatch.setattr(Timeline, "draw_row", drawing)

    async def test(d):
        assert d.screen.session.count == COUNT

    drive(test, paths=[large_file], size=(120, 30))
    assert drawn_before[0] >= 20


def test_nobody_is_told_once_nobody_waits(large_file):
    posted = []
    load(large_file, Limits(), posted.append, lambda: True)
    assert posted == []


def test_the_head_gives_way_to_the_whole_under_a_cursor_that_stays(drive, large_file):
    head, whole = (message.recording for message in opened(large_file))

    async def test(d):
        d.screen.show_recording(head, progress="reading the rest…")
        await d.press("j", "j", "j")
        assert d.position == 3 and "reading the rest…" in d.status
        d.screen.show_recording(whole)
        await d.press("j")
        assert d.position == 4 and "reading" not in d.status
        await d.press("G")
        assert d.position == COUNT - 1

    drive(test, recording=head, size=(120, 30))


def test_the_end_that_is_asked_for_is_that_of_the_file_and_not_of_its_head(drive, large_file):
    head, whole = (message.recording for message in opened(large_file))

    async def test(d):
        for keys, position in ((["G"], COUNT - 1), (["G", "k"], len(head.events) - 2)):
            d.app.post_message(HeadLoaded(large_file, head))
            await d.press(*keys)
            assert d.position < len(head.events)
            d.app.post_message(RecordingLoaded(large_file, whole))
            await d.settle()
            assert d.position == position

    drive(test, recording=head, size=(120, 30))


def test_what_was_not_found_may_still_be_read(drive, large_file):
    head, _ = (message.recording for message in opened(large_file))

    async def test(d):
        d.app.post_message(HeadLoaded(large_file, head))
        await d.press("colon", *str(COUNT - 1), "enter")
        assert "the rest of the file is still being read" in d.status
        await d.press("slash", *"nowhere", "enter")
        assert "the rest of the file is still being read" in d.status

    drive(test, recording=head, size=(140, 30))
