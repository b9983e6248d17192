"""Editing a value into a fork on the screen: whatever an editor does, nothing is lost and nothing is replaced."""

from __future__ import annotations

import contextlib
import shlex
import sys

import pytest
from textual.widgets import Input, TextArea

from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from stashdbg_tui.commands import in_scope
from stashdbg_tui.drafts import drafts_of
from stashdbg_tui.screens.edit import DraftScreen, ForkScreen, InlineScreen
from stashdbg_tui.screens.forks import ForksScreen

STREAM = {
    "$stash": "stream",
    "kind": "sync",
    "chunks": [{"choices": [{"delta": {"content": piece}}]} for piece in ("I ", "paid ", "49.9")],
    "times": [0.0, 1.0, 2.0],
    "ending": "exhausted",
}


@pytest.fixture(autouse=True)
def drafts_lie_in_the_tests_folder(tmp_path, monkeypatch):
    (tmp_path / "drafts").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "drafts"))


@pytest.fixture
def folder(tmp_path, recordings):
    tape = recordings.Tape("parent")
    tape.add("tool", "load", {"id": 1, "note": "first"}, 1)
    tape.add("llm", "chat", STREAM, {"say": "pay"})
    tape.add("tool", "mail", "sent\nto ada", 3)
    write_recording(tape.done(), tmp_path / "run.json")
    return tmp_path


@pytest.fixture
def editor(folder, monkeypatch):
    """Make an editor of a line of Python over ``text`` and ``path``."""

    def make(body):
        script = folder / "my editor.py"
        lines = f"import os, sys, time\npath = sys.argv[-1]\ntext = open(path).read()\n{body}\n"
        script.write_text(lines)
        monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script)]))

    return make


def replaces(old, new):
    return f"open(path, 'w').write(text.replace({old!r}, {new!r}))"


@pytest.fixture
def debug(drive, folder):
    """Run a test in the debugger on the parent, the terminal given up to an editor in name only."""

    def run(test, **options):
        async def wrapped(d):
            d.app.suspend = contextlib.nullcontext
            d.folder = folder
            await test(d)
            await d.settle()

        return drive(wrapped, paths=[folder / "run.json"], **options)

    return run


async def answer(d, *keys):
    for key in keys:
        await d.pilot.press(key)
        await d.settle()


def test_an_edited_stream_is_shown_named_saved_and_opened_at_its_last_event(debug, editor):
    editor(replaces("49.9", "12"))

    async def test(d):
        before = (d.folder / "run.json").read_bytes()
        await answer(d, "j", "e")
        assert isinstance(d.app.screen, ForkScreen)
        text = d.text()
        assert "- " in text and "I paid 49.9" in text and "I paid 12" in text
        assert "served from the recording: 1 tool, 1 llm" in text and "live when the program runs on: 1 tool" in text
        assert "spelled over the 3 chunks" in text and not (d.folder / "run-fork.json").exists()
        await answer(d, "enter")
        assert d.screen.session.recording.path.name == "run-fork.json" and d.position == 1
        assert "saved as run-fork.json" in d.status
        assert (d.folder / "run.json").read_bytes() == before

    app = debug(test)
    assert drafts_of(app).farewell() is None


def test_a_name_that_is_taken_is_refused_and_another_is_used(debug, editor, folder):
    editor(replaces("first", "second"))

    async def test(d):
        await answer(d, "e")
        field = d.app.screen.query_one(Input)
        field.value = "run.json"
        await answer(d, "enter")
        assert "run.json exists, and a fork replaces no file" in d.text()
        field.value = "mine"
        await answer(d, "enter")
        assert d.screen.session.recording.path.name == "mine.json"

    debug(test)
    fork = open_recording(folder / "mine.json")
    assert fork.blobs[fork.events[0].ref] == {"id": 1, "note": "second"}


def test_a_broken_draft_is_kept_and_taken_up_again(debug, editor):
    editor(replaces("{", "{{{"))

    async def test(d):
        await answer(d, "e")
        assert isinstance(d.app.screen, DraftScreen) and "This is not a value yet" in d.text()
        await answer(d, "escape")
        assert "the draft is kept; e takes it up again" in d.status
        assert "--set-file" in str(drafts_of(d.app).farewell())
        editor("open(path, 'w').write(text.replace('{{{', '{').replace('first', 'third'))")
        await answer(d, "e")
        assert isinstance(d.app.screen, ForkScreen) and "third" in d.text()

    debug(test)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("open(path, 'w').write(text + 'x'); sys.exit(3)", "The editor failed"),
        ("pass", "Is the editor still open?"),
    ],
)
def test_an_editor_that_fails_or_returns_at_once_asks(debug, editor, body, title):
    editor(body)

    async def test(d):
        await answer(d, "e")
        assert title in d.text()
        await answer(d, "x")
        assert "thrown away" in d.status and drafts_of(d.app).farewell() is None
        assert not list(d.folder.glob("*fork*"))

    debug(test)


def test_an_editor_that_returned_at_once_is_waited_for(debug, editor):
    editor("pass")

    async def test(d):
        await answer(d, "e")
        (draft,) = drafts_of(d.app)._kept.values()
        draft.path.write_text(draft.text.replace("first", "later"))
        await answer(d, "enter")
        assert isinstance(d.app.screen, ForkScreen) and "later" in d.text()

    debug(test)


@pytest.mark.parametrize(
    ("body", "said"), [("time.sleep(1.1)", "no change, no fork"), ("os.remove(path)", "the draft was deleted")]
)
def test_no_change_and_a_deleted_draft_make_no_fork(debug, editor, body, said):
    editor(body)

    async def test(d):
        await answer(d, "e")
        assert said in d.status and d.app.screen is d.screen

    debug(test)


def test_no_editor_says_so_and_the_value_can_be_edited_here(debug, monkeypatch):
    monkeypatch.setenv("VISUAL", "/no/such/editor --now")

    async def test(d):
        await answer(d, "e")
        assert "cannot start the editor /no/such/editor" in d.text()
        await answer(d, "i")
        assert isinstance(d.app.screen, InlineScreen)

    debug(test)


def test_without_an_editor_of_the_users_own_the_one_inside_is_used(debug, monkeypatch):
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)

    async def test(d):
        await answer(d, "e")
        assert isinstance(d.app.screen, InlineScreen)
        assert "set EDITOR to use your own editor" in d.text() and "Esc/Ctrl+O" in d.text()
        await answer(d, "escape")
        assert "no change, no fork" in d.status

    debug(test, size=(110, 24))


def test_inline_editing_of_a_streamed_message(debug):
    async def test(d):
        await answer(d, "j", "I")
        area = d.app.screen.query_one(TextArea)
        assert area.text == "I paid 49.9\n"
        area.text = "I paid nothing\n"
        await answer(d, "escape")
        assert isinstance(d.app.screen, ForkScreen)
        await answer(d, "tab", "I")
        assert d.app.screen.query_one(TextArea).text == "I paid nothing\n"
        await answer(d, "ctrl+o")
        assert isinstance(d.app.screen, ForkScreen) or d.app.screen is d.screen
        if isinstance(d.app.screen, ForkScreen):
            await answer(d, "escape")
        assert "--set-file" in str(drafts_of(d.app).farewell())
        await answer(d, "I")
        assert d.app.screen.query_one(TextArea).text == "I paid nothing\n"

    debug(test)


def test_an_inline_editor_draws_nothing_that_acts_on_the_terminal(drive, recordings, tmp_path):
    tape = recordings.Tape("bad")
    tape.add("tool", "k", "a\x1b]0;PWN\x07b\u202ec\x9bd")
    path = write_recording(tape.done(), tmp_path / "bad.json")

    async def test(d):
        await answer(d, "I")
        area = d.app.screen.query_one(TextArea)
        assert area.text.startswith("a\x1b]0;PWN\x07b\u202ec\x9bd")
        assert "a␛]0;PWN␇b" in d.text()
        assert not {"\x1b", "\x07", "\u202e", "\x9b"} & set(d.text())

    drive(test, paths=[path])


def test_the_tree_opens_and_compares(debug, editor):
    editor(replaces("first", "second"))

    async def test(d):
        await answer(d, "j", "e", "escape", "escape", "g", "e", "enter")
        assert d.screen.session.recording.path.name == "run-fork.json"
        await answer(d, "t")
        screen = d.app.screen
        assert isinstance(screen, ForksScreen)
        text = d.text()
        assert "run.json" in text and "└─ run-fork.json" in text
        assert "1 event, forked at event 0 with another value" in text
        await answer(d, "equals_sign")
        await d.settle()
        for _ in range(200):
            await d.pilot.pause(0.01)
            if getattr(d.app.screen, "comparison", None) is not None:
                break
        assert d.app.screen.comparison.names == ("run.json", "run-fork.json")
        await answer(d, "q")
        assert d.app.screen is screen
        await answer(d, "g", "enter")
        assert d.screen.session.recording.path.name == "run.json"

    debug(test)


def test_comparing_asks_for_the_other_and_completes_its_name(debug, folder, recordings):
    tape = recordings.Tape("other")
    tape.add("tool", "load", {"id": 2}, 1)
    write_recording(tape.done(), folder / "zoo.json")

    async def test(d):
        await answer(d, "equals_sign")
        assert "Compare with" in d.text() and "2 recordings" in d.text()
        await answer(d, "colon", "z", "o", "right", "enter")
        for _ in range(200):
            await d.pilot.pause(0.01)
            if getattr(d.app.screen, "comparison", None) is not None:
                break
        assert d.app.screen.comparison.names == ("run.json", "zoo.json")
        await answer(d, "q", "colon", "n", "o", "p", "e", "enter")
        assert "there is no file nope" in d.text()
        await answer(d, "colon", "backspace", "escape")
        assert d.app.screen is d.screen

    debug(test)


def test_an_event_that_cannot_be_edited_says_why(drive, recordings):
    async def test(d):
        await answer(d, "e", "I")
        assert "there is no event to edit" in d.status

    drive(test, recording=recordings.Tape("empty").done())


def test_every_key_of_the_tree_runs_and_means_one_thing():
    from textual.actions import parse

    entries = list(in_scope("forks"))
    keys = [key for entry in entries for key in (*entry.keys, *entry.fixed)]
    assert len(keys) == len(set(keys))
    for entry in entries:
        assert callable(getattr(ForksScreen, f"action_{parse(entry.action)[1]}")), entry.id
