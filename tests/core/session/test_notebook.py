"""The sidecar: beside the recording, private, atomic, never lost to a damaged file."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.model import RawObject
from stashdbg_core.session.debugger import Debugger
from stashdbg_core.session.notebook import Notebook, notebook_path
from stashdbg_core.session.notebook_markdown import code, notebook_markdown


def test_what_is_written_is_there_for_the_next_session(make_run, tmp_path):
    run = make_run([{"value": 1}, {"value": 2}])
    first = Debugger.open(run, tmp_path)
    first.position = 1
    assert first.toggle_bookmark()
    first.add_note("  a note\nof two lines ")
    first.toggle_breakpoint("is:error")
    first.toggle_watch("n")
    second = Debugger.open(run, tmp_path)
    assert second.notebook.bookmarks == (1,)
    assert [(note.seq, note.text) for note in second.notebook.notes] == [(1, "a note\nof two lines")]
    assert (second.notebook.breakpoints, second.notebook.watches) == (("is:error",), ("n",))
    (file,) = tmp_path.iterdir()
    assert oct(os.stat(file).st_mode & 0o777) == "0o600"


def test_two_sessions_do_not_overwrite_each_other(make_run, tmp_path):
    run = make_run([{"value": 1}, {"value": 2}])
    one, other = Notebook.of(run, tmp_path), Notebook.of(run, tmp_path)
    one.add_note(0, "one")
    other.add_note(1, "other")
    one.toggle_bookmark(1)
    assert [note.text for note in Notebook.of(run, tmp_path).notes] == ["one", "other"]


def test_sessions_that_write_at_the_same_moment_lose_nothing(make_run, tmp_path):
    run = make_run([{"value": 1}])

    def write(session: int) -> None:
        notebook = Notebook.of(run, tmp_path)
        for number in range(10):
            notebook.add_note(0, f"{session}.{number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    written = {note.text for note in Notebook.of(run, tmp_path).notes}
    assert written == {f"{session}.{number}" for session in range(4) for number in range(10)}


def test_recordings_of_one_id_have_notebooks_of_their_own(make_run, tmp_path):
    paths = {notebook_path(make_run([{"key": key, "value": 1}]), tmp_path) for key in ("a", "b")}
    assert len(paths) == 2
    hostile = make_run([{"value": 1}], recording_id="../../etc/passwd\x00")
    assert notebook_path(hostile, tmp_path).parent == tmp_path


def test_a_journal_and_its_recording_share_a_notebook(make_run, tmp_path):
    from dataclasses import replace

    meta = RawObject.of({"createdAt": 1796035119000})
    short, whole = make_run([{"value": 1}]), make_run([{"value": 1}, {"key": "later", "value": 2}])
    assert notebook_path(replace(short, meta=meta), tmp_path) == notebook_path(replace(whole, meta=meta), tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"notes":[["x",1]]}', b"\xff\xfe", b"[" * 100_000])
def test_a_damaged_notebook_is_named_and_never_written_over(make_run, tmp_path, content):
    run = make_run([{"value": 1}])
    path = notebook_path(run, tmp_path)
    path.write_bytes(content)
    notebook = Notebook.of(run, tmp_path)
    assert path.name in notebook.problem
    with pytest.raises(StashError, match="cannot be read"):
        notebook.add_note(0, "x")
    assert path.read_bytes() == content


def test_a_folder_that_cannot_be_made_is_an_error_in_words(make_run, tmp_path):
    (tmp_path / "file").write_text("x")
    notebook = Notebook.of(make_run([{"value": 1}]), tmp_path / "file" / "notebooks")
    with pytest.raises(StashError, match="folder"):
        notebook.toggle_bookmark(0)
    assert notebook.bookmarks == ()


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 20_001])
def test_a_note_says_something_and_not_too_much(text):
    with pytest.raises(StashError):
        Notebook(None).add_note(0, text)


def test_dropping_and_toggling_take_marks_away():
    notebook = Notebook(None)
    notebook.add_note(3, "x")
    notebook.add_note(3, "y")
    assert (notebook.drop_notes(3), notebook.drop_notes(3)) == (2, 0)
    assert (notebook.toggle_bookmark(3), notebook.toggle_bookmark(3), notebook.bookmarks) == (True, False, ())


def test_the_notebook_as_markdown_names_events_and_keeps_recorded_text_as_text(make_run):
    run = make_run(
        [{"key": "`k`](http://x) <b>", "value": "``` evil\x1b[2J"}, {"value": 2, "site": "a.py:1 f"}],
        recording_id="id`s",
    )
    notebook = Notebook(None, run.id)
    notebook.toggle_bookmark(0)
    notebook.add_note(1, "# not a heading\n- nor a list\nplain *emphasis* stays")
    notebook.add_note(99, "gone")
    notebook.set_breakpoints(("is:error",))
    text = notebook_markdown(run, notebook)
    assert "## ★ Event 0: ``tool `k`](http://x) <b>`` returned" in text
    assert "\n```` ``` evil␛[2J ````\n" in text
    assert "\\# not a heading\n\\- nor a list\nplain *emphasis* stays" in text
    assert "## Event 99\n\nNot in this recording." in text
    assert "Breakpoints: `is:error`" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("text", ["a", "`", "``", "a`b", " x ", "", "`x`", "```"])
def test_a_code_span_is_closed_by_its_own_ticks_only(text):
    span = code(text, 50)
    ticks = len(span) - len(span.lstrip("`"))
    assert span.endswith("`" * ticks)
    assert "`" * ticks not in span[ticks:-ticks] or text == ""


def test_json_has_stable_names(make_run):
    notebook = Notebook(None, "run")
    notebook.add_note(1, "x")
    expected = {"id": "run", "bookmarks": [], "notes": [{"seq": 1, "text": "x"}], "breakpoints": [], "watches": []}
    assert json.loads(json.dumps(notebook.to_json())) == {**expected, "columns": []}
