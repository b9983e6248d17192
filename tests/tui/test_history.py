"""What is kept between sessions: lines typed at prompts, and folders with sources."""

from __future__ import annotations

import stat
from pathlib import Path

from stashdbg_core.store.writer import write_recording
from stashdbg_tui.history import MOST_LINES, History


def test_lines_come_back_in_the_next_session_and_notes_do_not(drive, agent, tmp_path):
    file = tmp_path / "state" / "screen.json"

    async def first(d):
        await d.press("colon", *"50%", "enter")
        await d.press("slash", *"Riga", "enter")
        await d.press("semicolon", *"seen", "enter")

    async def second(d):
        await d.press("colon", "up")
        assert d.lines()[-1].startswith(" : 50%")
        await d.press("escape", "slash", "up", "enter")
        assert "hit" in d.status
        await d.press("semicolon", "up")
        assert "a note on this event" in d.text()

    drive(first, recording=agent, history=file, size=(120, 30))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    drive(second, recording=agent, history=file, size=(120, 30))


def test_a_folder_counts_for_the_recordings_beside_it(agent, tmp_path):
    here, there = (write_recording(agent, tmp_path / name) for name in ("a.json", "b.json"))
    (tmp_path / "else").mkdir()
    elsewhere = write_recording(agent, tmp_path / "else" / "c.json")
    kept = History(tmp_path / "screen.json")
    first, second, third = (_opened(path) for path in (here, there, elsewhere))
    assert kept.add_folder(first, Path("/src/one")) and kept.add_folder(first, Path("/src/two"))
    again = History(tmp_path / "screen.json")
    assert again.folders(second) == (Path("/src/two"), Path("/src/one"))
    assert again.folders(third) == again.folders(agent) == ()


def test_two_sessions_write_into_one_file(tmp_path):
    one, other = History(tmp_path / "screen.json"), History(tmp_path / "screen.json")
    one.add_line(":", "1")
    other.add_line(":", "2")
    one.add_line("/", "x")
    for number in range(2 * MOST_LINES):
        one.add_line("f", str(number))
    kept = History(tmp_path / "screen.json")
    assert kept.lines(":") == ["1", "2"] and kept.lines("/") == ["x"]
    assert kept.lines("f")[-1] == str(2 * MOST_LINES - 1) and len(kept.lines("f")) == MOST_LINES


def test_a_file_that_is_none_is_empty_and_one_that_cannot_be_written_costs_nothing(tmp_path):
    bad = tmp_path / "screen.json"
    bad.write_bytes(b'{"lines": 3}')
    assert History(bad).lines(":") == []
    (tmp_path / "file").write_text("")
    kept = History(tmp_path / "file" / "screen.json")
    kept.add_line(":", "5")
    kept.add_line(":", "5")
    kept.add_line(":", " ")
    assert kept.lines(":") == ["5"]


def _opened(path):
    from stashdbg_core.store.open import open_recording

    return open_recording(path)
