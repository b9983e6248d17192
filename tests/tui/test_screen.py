"""The screen under a pilot: keys, panes, prompt, and what they leave on it."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from textual.events import Key, MouseScrollDown

from stashdbg_core.model import RawObject, RecordedEvent, Recording
from stashdbg_core.store.blob_store import BlobStore
from stashdbg_core.store.event_list import EventList
from stashdbg_core.store.writer import write_recording


def test_the_first_screen_shows_events_the_value_and_where_one_is(drive, agent):
    async def test(d):
        text = d.text()
        assert "gpt-4.1-mini" in text and '→ search_trains(from="Lisbon"' in text
        assert "1790000000.0" in text
        assert d.status.startswith(" event 0 · 1 of 39 · clock time.time #0 · returned in 0.0 ms · +00:00.0")
        assert "j/k next" in d.lines()[-1] and "? help" in d.lines()[-1]

    drive(test, recording=agent)


def test_stepping_moves_every_pane_together(drive, agent):
    async def test(d):
        await d.press("j", "down", "l")
        assert d.position == 3
        assert d.status.startswith(" event 3 ·")
        assert "Lisbon" in d.lines()[13] + d.text()
        await d.press("k", "h", "S")
        assert d.position == 0
        await d.press("k")
        assert "this is the first event" in d.status
        await d.press("j")
        assert "this is the first event" not in d.status

    drive(test, recording=agent)


def test_ends_pages_and_jump_history(drive, agent):
    async def test(d):
        await d.press("G")
        assert d.position == 38 and "pending" in d.status
        await d.press("g")
        assert d.position == 0
        await d.press("left_square_bracket")
        assert d.position == 38
        await d.press("right_square_bracket")
        assert d.position == 0
        await d.press("space")
        page = d.position
        assert 5 <= page <= 20
        await d.press("pageup", "ctrl+d")
        assert d.position == round(page / 2)
        await d.press("end", "home")
        assert d.position == 0

    drive(test, recording=agent)


@pytest.mark.parametrize(
    ("typed", "position"), [("17", 17), ("+3", 3), ("50%", 19), ("llm:2", 10), ("tool:search_trains:3", 15)]
)
def test_the_prompt_goes_places(drive, agent, typed, position):
    async def test(d):
        await d.press("colon")
        await d.type(typed)
        assert d.position == 0
        await d.press("enter")
        assert d.position == position
        assert d.app.focused is d.screen.timeline

    drive(test, recording=agent)


@pytest.mark.parametrize("typed", ["999", "nope", "[/red]", "llm:999", "q now", "write", "%s", "\\"])
def test_a_prompt_line_that_means_nothing_says_so_and_stays(drive, agent, typed):
    async def test(d):
        await d.press("colon")
        d.screen.prompt.query_one("Input").value = typed
        await d.press("enter")
        assert d.position == 0
        assert not d.status.startswith(" event")
        await d.press("j")
        assert d.position == 1

    drive(test, recording=agent)


def test_keys_typed_fast_after_the_colon_all_reach_the_prompt(drive, agent):
    async def test(d):
        for key, character in (
            ("colon", ":"),
            *zip("llm", "llm", strict=True),
            ("colon", ":"),
            ("2", "2"),
            ("enter", "\r"),
        ):
            d.app.post_message(Key(key, character))
        await d.settle()
        assert d.position == 10

    drive(test, recording=agent)


def test_escape_leaves_the_prompt_and_never_quits(drive, agent):
    async def test(d):
        await d.press("colon", "5", "escape")
        assert d.position == 0 and d.app.focused is d.screen.timeline
        await d.press("colon", "backspace", "j")
        assert d.position == 1
        await d.press("escape", "escape", "escape")
        assert d.app.is_running and not d.app._exit

    drive(test, recording=agent)


def test_tabs_show_value_input_and_fields(drive, agent):
    async def test(d):
        await d.press("j", "j", "2")
        assert "You are a travel agent." in d.text()
        await d.press("7")
        assert "agent.py:88 ask" in d.text()
        await d.press("j", "1")
        assert "offers" in d.text()

    drive(test, recording=agent, size=(120, 40))


def test_the_inspector_scrolls_on_its_own_and_escape_returns(drive, agent):
    async def test(d):
        await d.press("j", "j", "tab", "j", "j")
        assert (d.position, d.screen.payload.line, d.screen.payload.top) == (2, 2, 0)
        await d.press("G")
        assert d.screen.payload.top == d.screen.payload.row_count - d.screen.payload.page_rows
        await d.press("g")
        assert d.screen.payload.top == 0
        await d.press("s")
        assert d.position == 3 and d.app.focused is d.screen.payload
        await d.press("escape", "j")
        assert d.position == 4
        await d.press("enter")
        assert d.app.focused is d.screen.payload

    drive(test, recording=agent)


def test_wrapping_can_be_switched_off_and_lines_scrolled(drive, agent):
    async def test(d):
        await d.press(*"jjjjjjjjjjjjjjj")
        folded = d.screen.payload.row_count
        await d.press("w")
        assert d.screen.payload.row_count <= folded
        await d.press("tab", "l")
        await d.press("w")
        assert d.screen.payload.row_count == folded

    drive(test, recording=agent, size=(60, 24))


def test_zoom_fills_the_screen_and_gives_it_back(drive, agent):
    async def test(d):
        before = d.screen.timeline.size.height
        await d.press("z")
        assert d.screen.timeline.size.height > before
        await d.press("tab")
        assert d.screen.payload.size.height > 12 and d.app.focused is d.screen.payload
        await d.press("escape")
        assert d.screen.timeline.size.height == before

    drive(test, recording=agent)


def test_help_lists_every_command_and_closes_again(drive, agent):
    from stashdbg_tui.commands import COMMANDS

    async def test(d):
        await d.press("question_mark")
        text = " ".join(d.app.screen.query_one("#help-text").visual.plain.split())
        assert all(entry.tooltip in text for entry in COMMANDS)
        await d.press("j", "q")
        assert d.app.screen is d.screen and not d.app._exit
        await d.press("f1", "escape", "j")
        assert d.position == 1

    drive(test, recording=agent)


def test_the_palette_finds_and_runs_a_command(drive, agent):
    async def test(d):
        await d.press("ctrl+p")
        await d.type("last event")
        await d.pilot.pause(0.3)
        await d.press("enter")
        await d.settle()
        assert d.position == 38

    drive(test, recording=agent)


@pytest.mark.parametrize("keys", [["q"], ["Q"], ["colon", "q", "enter"], ["ctrl+q"]])
def test_there_are_several_ways_out(drive, agent, keys):
    async def test(d):
        await d.pilot.press(*keys)
        await d.pilot.pause()
        assert d.app._exit

    drive(test, recording=agent)


def test_the_mouse_chooses_scrolls_and_scrubs(drive, agent):
    async def test(d):
        await d.pilot.click("#timeline", offset=(10, 4))
        await d.settle()
        assert d.position == 4
        top = d.screen.timeline.top
        await d.pilot._post_mouse_events([MouseScrollDown], "#timeline", offset=(5, 3))
        await d.settle()
        assert d.screen.timeline.top > top and d.position == 4
        await d.pilot.click("#scrubber", offset=(78, 0))
        await d.settle()
        assert d.position >= 37
        await d.pilot.click("#tabs", offset=(12, 0))
        await d.settle()
        assert d.screen.part == "input"

    drive(test, recording=agent)


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (109, 30), (110, 30), (200, 60), (1, 1)])
def test_every_size_draws_and_no_line_is_too_long(drive, agent, size):
    async def test(d):
        for keys in (["j"] * 20, ["tab", "2", "G"], ["z"], ["w"], ["escape", "3"]):
            await d.press(*keys)
            assert all(cell_len(line) <= size[0] for line in d.lines())

    drive(test, recording=agent, size=size)


def test_resizing_keeps_the_cursor_in_sight(drive, agent):
    async def test(d):
        await d.press("G")
        for size in ((120, 40), (60, 16), (200, 60), (80, 24)):
            await d.pilot.resize_terminal(*size)
            await d.settle()
            timeline = d.screen.timeline
            assert timeline.top <= d.position < timeline.top + timeline.page_rows

    drive(test, recording=agent)


def test_copy_says_what_it_did_and_offers_a_file_where_it_is_too_much(drive, recordings, tmp_path):
    tape = recordings.Tape()
    tape.add("llm", "m", "plain \x1b[2J text")
    tape.add("llm", "m", "A" * 200_000)
    target = tmp_path / "value.json"

    async def test(d):
        await d.press("y", "v")
        assert d.app.clipboard == "plain \x1b[2J text"
        assert "copied 15 B" in d.status and "control" in d.status
        await d.press("j", "y", "y")
        assert ":write FILE" in d.status
        await d.press("colon")
        d.screen.prompt.query_one("Input").value = f"write {target}"
        await d.press("enter")
        assert target.read_bytes() == b'"' + b"A" * 200_000 + b'"'
        await d.press("colon")
        d.screen.prompt.query_one("Input").value = f"write {target}"
        await d.press("enter")
        assert "exists" in d.status

    drive(test, recording=tape.done(), size=(140, 24))


def test_a_file_is_opened_and_shown(drive, agent, tmp_path):
    path = write_recording(agent, tmp_path / "run.json")

    async def test(d):
        assert d.status.startswith(" event 0 · 1 of 39")
        await d.press("j")
        assert d.position == 1

    drive(test, paths=[path])


def test_a_file_that_is_none_ends_the_app_with_its_error(drive, tmp_path):
    path = tmp_path / "no.json"
    path.write_text("[]")

    async def test(d):
        assert d.app._exit

    assert drive(test, paths=[path]).failure.code == "ERR_INVALID_RECORDING"
    assert path.read_text() == "[]"


def test_a_second_file_that_is_none_leaves_the_first_on_the_screen(drive, agent, tmp_path):
    bad = tmp_path / "[b] bad [x.json"
    bad.write_text("{")
    path = write_recording(agent, tmp_path / "run.json")

    async def test(d):
        d.app.open_file(bad)
        await d.settle()
        assert "gpt-4.1-mini" in d.text()
        assert not d.status.startswith(" event")

    drive(test, paths=[path, bad])


def test_an_empty_recording_says_so_and_takes_every_key(drive):
    async def test(d):
        assert "this recording has no events" in d.text()
        await d.press("j", "G", "y", "v", "2", "w", "z", "tab", "colon", "5", "enter", "escape")
        assert "no events" in d.text()

    drive(test, recording=Recording("x", EventList([]), BlobStore(), RawObject()))


def test_without_utf_8_the_signs_are_ascii(drive, agent):
    async def test(d):
        d.app.ascii_only = True
        await d.press("j", "j", "m", "G", "tab", "tab")
        assert all(line.isascii() for line in d.lines())

    drive(test, recording=agent, size=(120, 40))


def test_files_opened_at_the_prompt_can_be_picked_again(drive, agent, recordings, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    first = write_recording(agent, tmp_path / "first.json")
    write_recording(recordings.endless_run(3), tmp_path / "second.json")

    async def test(d):
        await d.press("colon", *f"open {tmp_path}/second.json", "enter")
        assert d.screen.session.recording.path.name == "second.json"
        await d.press("R")
        assert "first.json" in d.text() and "second.json" in d.text()
        await d.press("enter")
        assert d.screen.session.recording.path == first
        (tmp_path / "second.json").rename(tmp_path / "second.json.journal")
        d.app.take_up(tmp_path / "second.json.journal")
        await d.press("R")
        assert "second.json.journal" in d.text()
        (tmp_path / "second.json.journal").rename(tmp_path / "second.json")  # as when its run ends
        await d.press("R", "R")
        assert "second.json" in d.text() and "journal" not in d.text()

    drive(test, paths=[first], size=(120, 30))


def test_little_room_is_shared_out_by_what_matters(drive, agent):
    async def test(d):
        assert "? help  q quit" in d.lines()[-1] and "actions" not in d.lines()[-1]
        await d.press("colon", *"zz", "enter")
        said = " ".join(line.strip() for line in d.lines()[-4:-1])
        assert said.endswith("there is")  # a message is never cut: its line grows
        assert "…" not in said
        await d.press("j")
        assert d.status.startswith(" event 1") and d.lines()[-3].strip() == d.lines()[-4].strip() == ""

    drive(test, recording=agent, size=(50, 18))
    drive(_tabs_keep_their_names, recording=agent, size=(80, 24))


async def _tabs_keep_their_names(d):
    await d.press(*"jj")
    assert "1 value  2 input  3 change  4 chat  5 state  6 source  7 fields  8 raw" in d.text()


def test_the_file_is_named_where_there_is_room(drive, agent, tmp_path):
    path = write_recording(agent, tmp_path / "refund.json")

    async def wide(d):
        assert d.status.rstrip().endswith("  refund.json")

    async def narrow(d):
        assert "refund" not in d.status

    drive(wide, paths=[path], size=(100, 24))
    drive(narrow, paths=[path], size=(50, 18))


@pytest.mark.parametrize(("ms", "gap"), [(None, "step    made"), (12.5, "step     12 ms  made")])
def test_durations_have_a_column_only_where_there_are_any(drive, ms, gap):
    blobs = BlobStore()
    event = RecordedEvent(seq=0, channel="llm", key="step", ordinal=0, outcome="return", ref=blobs.put("made"), ms=ms)

    async def test(d):
        assert any(gap in line for line in d.lines()), d.text()

    drive(test, recording=Recording("r", EventList([event]), blobs, RawObject.of({})), size=(100, 24))
