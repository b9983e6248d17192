"""The statistics screen, following a file that grows, and the user's own keys."""

from __future__ import annotations

import pytest

from stashdbg_core.session.run_stats import run_stats_steps
from stashdbg_core.session.tasks import Task
from stashdbg_core.store.writer import write_recording
from stashdbg_tui.keymap import PRESETS, checked, read_keymap
from stashdbg_tui.screens.help import HelpScreen


def test_statistics_are_summed_by_channel_and_name(agent):
    stats = Task(run_stats_steps(agent)).run()
    assert stats.channels["llm"].total("events") == 10 and stats.channels["tool"].total("errors") == 2
    assert stats.names["tool", "search_trains"].calls == 9
    assert [channel for channel, _ in stats.by_channel("tokens")] == ["llm"]
    assert stats.channels["llm"].total("tokens") == stats.usage.total.input + stats.usage.total.output > 0
    along = stats.to_json(60)
    assert {channel: sum(series["errors"]) for channel, series in along.items()}["tool"] == 2
    assert all(len(values) == 60 for series in along.values() for values in series.values())


def test_the_statistics_screen_shows_tokens_durations_and_errors(drive, agent):
    async def test(d):
        await d.press("A")
        await d.pilot.pause(0.1)
        text = d.text()
        assert "Time along the run" in text and "Errors along the run" in text and "Tokens along the run" in text
        shown = d.app.screen.query_one("#stats-text").visual.plain
        tokens = shown[shown.index("Tokens along the run") :].splitlines()
        assert tokens[1].split()[0] == "llm" and "▅" in shown and "search_trains" in shown
        await d.press("j", "q")
        assert d.app.screen is d.screen and not d.app._exit

    drive(test, recording=agent, size=(120, 40))


def test_names_have_the_room_of_tokens_that_no_answer_tells_of(drive, recordings):
    tape = recordings.Tape()
    for key in ("weather:resources/list", "weather:resources/read"):
        tape.add("mcp", key, {})

    async def test(d):
        await d.press("A")
        assert "mcp weather:resources/list" in d.text() and "tokens in" not in d.text()

    drive(test, recording=tape.done())


def test_a_file_that_grows_is_followed_until_one_goes_back(drive, recordings, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    tape = recordings.Tape()
    for place in range(5):
        tape.add("tool", "work", {"place": place})
    path = write_recording(tape.done(), tmp_path / "run.json")

    async def test(d):
        await d.press("F")
        assert d.position == 4 and "following" in d.status
        tape.add("tool", "work", {"place": 5})
        tape.add("tool", "work", {"place": 6})
        write_recording(tape.done(), path, overwrite=True)
        for _ in range(40):
            await d.pilot.pause(0.1)
            if d.position == 6:
                break
        assert d.position == 6 and "place: 6" in d.text()
        await d.press("k")
        d.screen._look_for_more()
        await d.settle()
        assert "no longer following" in d.status and d.position == 5

    drive(test, paths=[path], size=(120, 30))


def test_keys_of_the_user_count_and_faults_are_named(drive, agent, tmp_path):
    file = tmp_path / "keys.toml"
    file.write_text(
        '"step.forward" = "n"\n"hit.next" = ["f3"]\n"go.frist" = "x"\n"help" = "f4"\n"reader.down" = "f5"\n'
    )

    async def test(d):
        assert "go.frist" in d.status
        await d.press("f4")
        assert isinstance(d.app.screen, HelpScreen)
        await d.press("f5", "f5")
        assert "f4" in d.text() and d.app.screen.query_one("#help").scroll_offset.y == 2
        await d.press("f4", "A", "down", "A")
        assert d.app.screen is d.screen
        await d.press("n", "n")
        assert d.position == 2
        await d.press("j", "down")
        assert d.position == 3

    drive(test, recording=agent, keymap=file, size=(120, 30))


@pytest.mark.parametrize(("wanted", "said"), [
    ({"step.forward": "k"}, "taken by"), ({"step.forward": "ctrl+j"}, "terminals cannot tell"), ({"nope": "x"}, "nope"),
    ({"help": 3}, "text or a list"), ("x", "table"),
])  # fmt: skip
def test_a_line_that_cannot_be_taken_is_left_out_with_the_reason(wanted, said):
    found, problems = checked(wanted)
    assert found == {} and said in problems[0]


def test_a_file_that_is_none_is_said(tmp_path):
    assert read_keymap(tmp_path / "none.toml") == ({}, [])
    bad = tmp_path / "keys.toml"
    bad.write_text("= [")
    assert "not TOML" in read_keymap(bad)[1][0]
    bad.write_text('[keys]\nquit = "Q"\n":" = "x"\n')
    assert read_keymap(bad)[0] == {"quit": "Q"}


def test_the_keys_of_pdb_are_a_preset_that_lines_of_the_file_change(drive, agent, tmp_path):
    file = tmp_path / "keys.toml"
    file.write_text('preset = "pdb"\n"error.next" = "f3"\n"help" = "n"\n')

    async def test(d):
        assert "n is taken by step.over" in d.status
        await d.press("n")
        assert d.position == 1
        await d.press("N")
        assert d.position == 0
        await d.press("slash", *"Riga", "enter")
        at = d.position
        await d.press("full_stop")
        assert d.position > at or "hit" in d.status
        await d.press("comma")
        assert d.position == at

    drive(test, recording=agent, keymap=file, size=(120, 30))


def test_presets_are_whole_keymaps_and_a_strange_one_is_named():
    for preset, keys in PRESETS.items():
        assert checked(dict(keys)) == (dict(keys), []) == checked({}, preset)
    assert checked({"quit": "Q"}, "vi") == ({"quit": "Q"}, ["no preset is called vi; there is pdb"])


def test_keys_of_screens_that_never_meet_may_be_the_same():
    assert checked({"step.over": "f3", "change.next": "f3"})[1] == []
    assert "taken by" in checked({"step.over": "f3", "fold": "f3"})[1][0]


def test_help_begins_with_the_keys_of_the_screen_it_was_asked_on(drive, agent, tmp_path):
    path = write_recording(agent, tmp_path / "run.json")

    async def test(d):
        await d.press("question_mark")
        assert first_group(d) == "Move"
        await d.press("escape", "t", "question_mark")
        assert first_group(d) == "Forks"

    def first_group(d):
        return str(d.app.screen.query_one("#help-text").content).split("\n\n")[1].split("\n")[0]

    drive(test, paths=[path], size=(120, 30))
