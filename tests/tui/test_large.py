"""A million events: the same few rows are looked at, whatever the length."""

from __future__ import annotations

import json

import pytest

from stashdbg_core.store import index_cache
from stashdbg_core.store.limits import Limits
from stashdbg_core.store.writer import write_recording
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


def test_a_large_file_shows_its_head_first_and_all_of_it_later(large_file):
    posted = []
    load(large_file, Limits(), posted.append, lambda: False)
    assert [type(message) for message in posted] == [HeadLoaded, RecordingLoaded]
    head, whole = (message.recording for message in posted)
    assert len(head.events) < len(whole.events) == COUNT
    assert head.events[3] == whole.events[3]
    assert head.blobs.payload("r3").raw == whole.blobs.payload("r3").raw
    posted.clear()
    load(large_file, Limits(), posted.append, lambda: False)
    assert [type(message) for message in posted] == [RecordingLoaded]


def test_nobody_is_told_once_nobody_waits(large_file):
    posted = []
    load(large_file, Limits(), posted.append, lambda: True)
    assert posted == []


def test_the_head_gives_way_to_the_whole_under_a_cursor_that_stays(drive, large_file):
    posted = []
    load(large_file, Limits(), posted.append, lambda: False)
    head, whole = (message.recording for message in posted)

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
