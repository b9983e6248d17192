"""A value in an editor and back: whatever the editor does, nothing is lost."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stashdbg_core.canonical import stored_form
from stashdbg_core.errors import StashError
from stashdbg_core.session.editing import (
    Edit,
    draft_of,
    editor_command,
    json_of_text,
    json_text_of,
    read_edit,
    run_editor,
    tree_of_draft,
)

trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


def editor(folder: Path, body: str) -> list[str]:
    """An editor that is a Python program; ``path`` is the file."""
    script = folder / "my editor.py"
    script.write_text(f"import os, sys\npath = sys.argv[-1]\ntext = open(path).read()\n{body}\n")
    return [sys.executable, str(script)]


def edit(folder: Path, tree: Any, body: str) -> Edit:
    return run_editor(editor(folder, body), draft_of(tree, folder))


@settings(deadline=None)
@given(trees)
def test_what_is_shown_reads_back_the_same(tree: Any) -> None:
    assert stored_form(json_of_text(json_text_of(tree))) == stored_form(tree)


def test_depth_costs_no_stack() -> None:
    tree: Any = 1
    for _ in range(5000):
        tree = [tree]
    assert json_text_of(tree).count("[") == 5000


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "vi"}, ["code", "--wait"]),
        ({"VISUAL": " ", "EDITOR": "'/tmp/my editor/ed.sh' --x"}, ["/tmp/my editor/ed.sh", "--x"]),
        ({"EDITOR": "vim; touch $(pwd)/x"}, ["vim;", "touch", "$(pwd)/x"]),
    ],
)
def test_the_setting_is_split_and_no_shell_sees_it(environment: dict[str, str], words: list[str]) -> None:
    assert editor_command(environment) == words


def test_without_a_setting_an_installed_editor_is_taken(tmp_path: Path) -> None:
    found = tmp_path / "vi"
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    assert editor_command({"PATH": str(tmp_path)}) == ["vi"]
    for environment in ({"PATH": str(tmp_path / "none")}, {"EDITOR": "'open quote"}):
        with pytest.raises(StashError) as caught:
            editor_command(environment)
        assert caught.value.hint


def test_a_command_that_does_not_exist_is_named_and_the_draft_stays(tmp_path: Path) -> None:
    draft = draft_of({"a": 1}, tmp_path)
    with pytest.raises(StashError, match="cannot start the editor /none/such --x"):
        run_editor(["/none/such", "--x"], draft)
    assert draft.path.read_text() == json_text_of({"a": 1})


def test_the_draft_is_private(tmp_path: Path) -> None:
    path = draft_of("secret", tmp_path).path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_change_is_read_also_when_the_editor_saves_by_renaming(tmp_path: Path) -> None:
    body = "open(path + '~', 'w').write(text.replace('1', '2')); os.replace(path + '~', path)"
    found = edit(tmp_path, {"a": 1}, body)
    assert found.status == "changed"
    assert json_of_text(found.text) == {"a": 2}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("open(path, 'w').write('9'); sys.exit(1)", "failed"),
        ("open(path, 'w').write('9'); os.kill(os.getpid(), 9)", "failed"),
        ("os.unlink(path)", "deleted"),
        ("os.unlink(path); os.mkdir(path)", "failed"),
        ("open(path, 'wb').write(b'\\xff')", "failed"),
        ("", "at-once"),
        ("open(path, 'w').write(text.rstrip())", "at-once"),
        ("open(path, 'w').write(text.replace('1', '2'))", "changed"),
    ],
)
def test_however_it_ends_it_is_told_apart(tmp_path: Path, body: str, status: str) -> None:
    assert edit(tmp_path, {"a": 1}, body).status == status


def test_a_failed_edit_keeps_its_text(tmp_path: Path) -> None:
    found = edit(tmp_path, 1, "open(path, 'w').write('9'); sys.exit(3)")
    assert (found.text, "code 3" in found.message) == ("9", True)


def test_an_editor_that_was_waited_for_may_change_nothing(tmp_path: Path) -> None:
    draft = draft_of({"a": 1}, tmp_path)
    assert read_edit(draft).status == "unchanged"
    assert read_edit(draft, seconds=30.0).status == "unchanged"
    assert read_edit(draft, seconds=0.01).status == "at-once"


@pytest.mark.parametrize("value", ["one line", "two\nlines\n", "", "\n", "tab\tand \u2028"])
def test_a_text_is_edited_as_text(tmp_path: Path, value: str) -> None:
    draft = draft_of(value, tmp_path)
    assert draft.path.suffix == ".txt"
    shown = draft.path.read_text(encoding="utf-8")
    assert tree_of_draft(draft, shown) == value
    assert tree_of_draft(draft, "more " + shown) == "more " + value


def test_a_stream_is_edited_as_the_list_of_its_chunks(tmp_path: Path) -> None:
    stream = {"$stash": "stream", "kind": "sync", "chunks": ["a", "b"], "times": [0, 1], "ending": "exhausted"}
    draft = draft_of(stream, tmp_path)
    assert json_of_text(draft.path.read_text()) == ["a", "b"]


@pytest.mark.parametrize("text", ["", "{", "abc", '{"a":1,"a":2}', "[1,]"])
def test_a_broken_text_is_refused_in_words(text: str) -> None:
    with pytest.raises(StashError) as caught:
        json_of_text(text, "value of seq 3")
    assert "value of seq 3" in caught.value.message
    assert caught.value.hint


def test_what_no_reader_would_take_back_is_no_value(tmp_path: Path) -> None:
    with pytest.raises(StashError, match="the limit depth=2000"):
        json_of_text("[" * 2001 + "]" * 2001)
    draft = draft_of({"a": 1}, tmp_path)
    draft.path.write_bytes(b"\xff\xfe")
    assert read_edit(draft) == Edit("failed", "", "the draft is not UTF-8, at byte 0; nothing is changed")


def test_discarding_leaves_nothing(tmp_path: Path) -> None:
    draft = draft_of(1, tmp_path)
    draft.discard()
    draft.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_draft_that_is_no_json_is_refused_by_its_line():
    with pytest.raises(StashError, match="the draft is not JSON in line 3: a comma or a closing bracket is missing"):
        json_of_text('{\n "a": 1\n "b": 2\n}', "the draft")
