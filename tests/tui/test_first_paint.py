"""What the first frame costs: modules that are loaded, and lines of a large value that are laid out."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import textual.css.stylesheet

from stashdbg_core.session.payload_lines import PayloadLines
from stashdbg_core.store.writer import write_recording
from stashdbg_tui.screens.main import MainScreen
from stashdbg_tui.widgets.payload_view import PayloadView
from stashdbg_tui.workers.loader import load

LATER = {
    "jmespath", "regex", "tomllib", "stashdbg_core.diff", "stashdbg_core.fork", "stashdbg_core.redact",
    "stashdbg_core.replay", "stashdbg_core.report", "stashdbg_core.values", "stashdbg_core.store.open",
    "stashdbg_core.session.change", "stashdbg_core.session.conversation", "stashdbg_core.session.editing",
    "stashdbg_core.session.predicate", "stashdbg_core.session.query", "stashdbg_core.session.query_nodes",
    "stashdbg_core.session.run_stats", "stashdbg_core.session.search", "stashdbg_core.session.source_lines",
    "stashdbg_core.session.text_match", "stashdbg_core.session.trust", "stashdbg_core.session.view",
    "stashdbg_core.session.watches", "stashdbg_core.session.why", "stashdbg_tui.copying", "stashdbg_tui.editor",
    "stashdbg_tui.palette", "stashdbg_tui.screens.dialog", "stashdbg_tui.screens.diff", "stashdbg_tui.screens.forks",
    "stashdbg_tui.screens.help", "stashdbg_tui.screens.prompt", "stashdbg_tui.screens.report",
    "stashdbg_tui.screens.stats",
}  # fmt: skip
"""What a verb takes: imported by the verb, when it is first used."""
PROGRAM = """
import asyncio, json, sys
import stashdbg_tui.app
imported = sorted(sys.modules)

async def main():
    from stashdbg_core.model import RawObject, RecordedEvent, Recording
    from stashdbg_core.store.event_list import EventList
    from stashdbg_core.store.blob_store import BlobStore
    blobs = BlobStore()
    events = EventList([RecordedEvent(0, "tool", "work", 0, "return", blobs.put({"answer": 1}))])
    before = set(sys.modules)
    app = stashdbg_tui.app.StashApp(recording=Recording("x", events, blobs, RawObject.of({"complete": True})))
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        assert app.main_screen.timeline.row_count == 1 and app.main_screen.payload.row_count
    return sorted(set(sys.modules) - before)

print(json.dumps([imported, asyncio.run(main())]))
"""

REMEMBERS = """
import asyncio, json, sys
from pathlib import Path
from stashdbg_tui.app import StashApp

async def main():
    recent = Path({recent!r})
    app = StashApp([Path({path!r})], recent=recent, keymap=recent.with_name("keys.toml"))
    async with app.run_test(size=(120, 36)) as pilot:
        while not recent.exists():
            await pilot.pause(0.01)

asyncio.run(main())
print(json.dumps(sorted(sys.modules)))
"""


@pytest.fixture(scope="module")
def loaded() -> tuple[set[str], set[str]]:
    """What a fresh interpreter has loaded after importing the app, and what showing a recording loaded besides."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    imported, shown = json.loads(done.stdout.splitlines()[-1])
    return set(imported), set(shown)


def test_the_app_is_imported_without_what_verbs_take(loaded):
    assert loaded[0] & LATER == set()


def test_a_recording_is_shown_without_what_verbs_take(loaded):
    assert loaded[1] & LATER == set()


def test_the_style_sheet_is_parsed_once(drive, agent, monkeypatch):
    parse, parsed = textual.css.stylesheet.parse, []

    def counted(scope, css, read_from, **options):
        parsed.append(Path(read_from[0]).name)
        return parse(scope, css, read_from, **options)

    monkeypatch.setattr("textual.css.stylesheet.parse", counted)

    async def test(_):
        assert parsed.count("main.tcss") == 1

    drive(test, recording=agent)


def test_keeping_what_was_opened_takes_no_redaction(tmp_path, agent):
    path, recent = write_recording(agent, tmp_path / "run.json"), tmp_path / "recent.json"
    program = REMEMBERS.format(path=str(path), recent=str(recent))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "run.json" in recent.read_text()
    assert not {"regex", "stashdbg_core.redact", "tomllib"} & set(json.loads(done.stdout.splitlines()[-1]))


def test_a_large_value_is_seen_before_it_is_laid_out(drive, recordings, monkeypatch):
    tape = recordings.Tape()
    tape.add("tool", "page", "small", {"n": 0})
    tape.add("tool", "page", [f"line {line} ".ljust(100, ".") for line in range(100_000)], {"n": 1})
    extend, draw_row = PayloadLines.extend, PayloadView.draw_row
    laid_out, at_first_sight = 0, []

    def counted(lines, number):
        nonlocal laid_out
        before = lines.count
        extend(lines, number)
        laid_out += lines.count - before

    def drawn(view, row, width):
        strip = draw_row(view, row, width)
        if "line 0 ." in strip.text and not at_first_sight:
            at_first_sight.append(laid_out)
        return strip

    monkeypatch.setattr(PayloadLines, "extend", counted)
    monkeypatch.setattr(PayloadView, "draw_row", drawn)

    async def test(d):
        await d.press("j")
        assert "line 0 ." in d.text()
        await d.press("tab", "G")
        assert "more" in d.text() and laid_out < 60_000  # what lies beyond the first megabytes is only named

    drive(test, recording=tape.done(), size=(120, 36))
    assert at_first_sight and at_first_sight[0] < 10_000


def test_a_file_that_takes_long_is_said_to_be_opening(drive, recordings, agent, tmp_path, monkeypatch):
    go_on = threading.Event()

    def slow(path, limits, post, is_cancelled):
        assert go_on.wait(30)
        load(path, limits, post, is_cancelled)

    async def test(d):
        monkeypatch.setattr("stashdbg_tui.app.load", slow)
        d.app.open_file(write_recording(agent, tmp_path / "slow.json"))
        while "opening slow.json" not in d.text():
            await d.pilot.pause(0.02)
        go_on.set()
        await d.settle()
        assert "opening" not in d.text() and d.screen.session.recording.path.name == "slow.json"

    drive(test, recording=recordings.endless_run(3))


def test_the_styles_of_the_first_screen_are_there_when_it_is_composed(drive, agent, monkeypatch):
    # From Python 3.12 on, tasks start at once: a screen is composed before Textual reads the screen's own styles.
    widths: list[object] = []

    class EarlyScreen(MainScreen):
        def compose(self):
            widths.extend(rule.styles.width for rule in self.app.stylesheet.rules_map.get("#timeline", ()))
            return super().compose()

    monkeypatch.setattr("stashdbg_tui.app.MainScreen", EarlyScreen)

    async def test(_):
        assert widths

    drive(test, recording=agent)
