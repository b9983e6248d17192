"""Bookmarks, notes, breakpoints and watches on the screen, and the moves along them."""

from __future__ import annotations

from stashdbg_core.session.notebook import Notebook
from stashdbg_core.store.writer import write_recording
from stashdbg_tui.copying import command_line


def test_bookmarks_are_set_gone_along_listed_and_taken_away(drive, agent):
    async def test(d):
        await d.press("m", *"jjjjj", "m", "U")
        assert d.position == 0 and "bookmark" in d.status
        await d.press("u")
        assert d.position == 5 and "*" in d.lines()[1]
        await d.press("M")
        assert len(d.screen.session.rows) == 2
        await d.press("M", "apostrophe")
        assert "Marks" in d.text() and d.app.focused is d.screen.panel
        await d.press("minus")
        assert d.screen.session.notebook.bookmarks == (5,)
        await d.press("escape", "X")
        assert not d.screen.has_class("-panel")

    drive(test, recording=agent, size=(130, 40))


def test_continue_runs_to_breakpoints_and_back(drive, agent):
    async def test(d):
        await d.press("c")
        assert "no later breakpoint or bookmark" in d.status
        await d.press("j", "j", "b", "g", "c")
        assert d.position == 2 and "●" in d.text() and "breakpoint" in d.status
        await d.press("c", "c")
        keys = {agent.events[d.position].key}
        assert keys == {"gpt-4.1-mini"} and d.position > 2
        await d.press("C", "C")
        assert d.position == 2
        await d.press("b", "c")
        assert "no later" in d.status

    drive(test, recording=agent, size=(130, 40))


def test_errors_and_calls_of_the_same_name(drive, agent):
    async def test(d):
        await d.press("x")
        failed = d.position
        assert agent.events[failed].outcome == "throw" and "threw" in d.status
        await d.press("O")
        assert agent.events[d.position].key == "search_trains" and d.position < failed
        await d.press("o")
        assert d.position == failed
        await d.press("X")
        assert "no earlier error" in d.status
        await d.press("left_square_bracket")
        assert d.position < failed

    drive(test, recording=agent, size=(130, 40))


def test_stepping_over_leaves_out_the_calls_inside_and_other_lanes(drive, recordings):
    tape = recordings.Tape()
    outer = tape.add("tool", "outer", 1, thread="main")
    tape.add("tool", "inner", 2, thread="main", parent=outer.seq)
    tape.add("tool", "other", 3, thread="worker")
    tape.add("tool", "next", 4, thread="main")

    async def test(d):
        await d.press("J")
        assert d.position == 3
        await d.press("K")
        assert d.position == 0
        await d.press("n", "N")
        assert d.position == 0

    drive(test, recording=tape.done())


def test_notes_and_breakpoints_are_kept_beside_the_recording(drive, agent, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = write_recording(agent, tmp_path / "run.json")
    before = path.read_bytes()

    async def test(d):
        await d.press("j", "semicolon", *"look [/] here", "enter")
        assert "note written on event 1" in d.status
        await d.press("colon", *"break is:error", "enter", "g", "c")
        assert agent.events[d.position].outcome == "throw"
        await d.press("apostrophe")
        assert "look [/] here" in d.text() and "is:error" in d.text()

    drive(test, paths=[path], size=(130, 40))
    assert path.read_bytes() == before
    kept = Notebook.of(agent)
    assert [(note.seq, note.text) for note in kept.notes] == [(1, "look [/] here")]
    assert kept.breakpoints == ("is:error",)


def test_watches_show_what_a_path_is_at_the_cursor(drive, recordings):
    tape = recordings.Tape()
    for count in (1, 1, 2):
        tape.add("tool", "work", "done")
        tape.add("state", "desk", {"closed": count})

    async def test(d):
        await d.press("colon", *"watch closed", "enter")
        assert "nothing in the state up to here" in d.text()
        await d.press("p")
        assert d.position == 1
        await d.press("p")
        assert d.position == 5 and "closed  2  event 5" in d.text()
        await d.press("p")
        assert "no later change of a watched path" in d.status
        await d.press("colon", *"watch a[", "enter")
        assert "not a JMESPath expression" in d.status

    drive(test, recording=tape.done(), size=(140, 40))


def test_marks_stand_in_the_row_as_a_sign_several_also_in_words_and_under_the_run(drive, recordings):
    tape = recordings.Tape()
    for place in range(12):
        channel, key = ("state", "desk") if place in (2, 6) else ("tool", f"work{place % 4}")
        tape.add(channel, key, {"closed": place // 6}, outcome="throw" if place == 9 else "return")

    async def test(d):
        def row(place):
            return next(line for line in d.lines()[2:] if line[2:5].split()[:1] == [str(place)])

        await d.press("m", "semicolon", *"why", "enter", *"jjjj", "b", "colon", *"watch closed", "enter", "escape")
        assert "bookmark note breakpoint" in row(0) and row(0)[1:2] == "*"
        assert "break" not in row(4) and "●" in row(4)[:3]
        assert "watch" not in row(6) and "Δ" in row(6)[:3]
        await d.press("j", "j", "j")
        scrubber = d.lines()[1]
        assert (scrubber.count("*"), scrubber.count("●"), scrubber.count("Δ"), scrubber.count("!")) == (1, 2, 2, 1)

    drive(test, recording=tape.done(), size=(80, 24))

    async def wide(d):
        await d.press("m", "semicolon", *"why", "enter", "b")
        assert "bookmark note breakpoint" in d.text()

    drive(wide, recording=tape.done(), size=(200, 30))

    async def narrow(d):
        await d.press("m", "semicolon", *"why", "enter", "b")
        assert "book note break" in d.text() and "bookmark note" not in "".join(d.lines()[:-3])

    drive(narrow, recording=tape.done(), size=(56, 16))


def test_columns_of_ones_own_stand_in_the_rows_and_are_kept(drive, agent, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    path = write_recording(agent, tmp_path / "run.json")

    async def test(d):
        await d.press("colon", *"column out=value.usage.completion_tokens", "enter")
        assert "out=61" in d.text() and "out=-" in d.text()
        await d.press("colon", *"column a=a[", "enter")
        assert "not a JMESPath expression" in d.status
        await d.press("colon", *"column cold=value.celsius", "enter")
        assert "cold=14" in d.text()
        await d.press("colon", *"column out", "enter")
        assert "out=" not in d.text() and "cold=14" in d.text()

    drive(test, paths=[path], size=(160, 40))
    assert Notebook.of(agent).columns == ("cold=value.celsius",)
    assert command_line(path, 3, "", ["cold=value.celsius"]).endswith("--at 3 --columns cold=value.celsius")


def test_a_call_is_left_by_running_to_its_return(drive, recordings, tmp_path):
    tape = recordings.Tape()
    outer = tape.add("tool", "outer", 1, thread="main")
    inner = tape.add("tool", "inner", 2, thread="worker", parent=outer.seq)
    tape.add("tool", "innermost", 3, thread="worker", parent=inner.seq)
    tape.add("tool", "second", 4, thread="worker", parent=outer.seq)
    tape.add("tool", "elsewhere", 5, thread="other")
    tape.add("tool", "after", 6, thread="main")

    async def test(d):
        await d.press("r")
        assert "no call encloses this one" in d.status
        await d.press("j", "j", "r")
        assert d.position == 3
        await d.press("r")
        assert d.position == 5

    keymap = tmp_path / "keys.toml"
    keymap.write_text('preset = "pdb"\n')
    drive(test, recording=tape.done(), keymap=keymap)
