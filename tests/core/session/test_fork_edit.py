"""From an edited draft to a fork on disk: nothing is written before, nothing is replaced, and the parent stays."""

from __future__ import annotations

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.lineage import lineage
from stashdbg_core.session.branches import branch_lines, line_of, pair_of
from stashdbg_core.session.fork_edit import named_path, save_fork, start_edit, suggested_path
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from tests.core.diff.made_runs import Call, recording_of

STREAM = {
    "$stash": "stream",
    "kind": "sync",
    "chunks": ["I ", "paid ", "49.9"],
    "times": [0.0, 1.0, 2.0],
    "ending": "exhausted",
}
CALLS = [
    Call("load", 1, {"id": 1}),
    Call("chat", 2, STREAM, channel="llm"),
    Call("mail", 3, "sent"),
    Call("now", 4, 5, channel="clock"),
]


@pytest.fixture
def parent(tmp_path):
    return open_recording(write_recording(recording_of(CALLS, id="parent"), tmp_path / "run.json"))


def proposed(recording, position, folder, change):
    edit = start_edit(recording, position)
    draft = edit.draft(folder)
    return edit.proposal(draft, change(draft.text))


def test_a_streamed_message_becomes_a_fork_of_the_same_chunks(parent, tmp_path):
    before = parent.path.read_bytes()
    found = proposed(parent, 1, tmp_path, lambda text: text.replace("49.9", "10"))
    assert (found.edit.shown, found.shown) == ("I paid 49.9", "I paid 10")
    assert any("1 tool, 1 llm" in word for word in found.words())
    assert any("1 tool, 1 clock" in word for word in found.words())
    fork = open_recording(save_fork(found, suggested_path(parent)))
    assert fork.path.name == "run-fork.json" and len(fork.events) == 2
    assert fork.blobs[fork.events[1].ref]["chunks"] == ["I ", "paid ", "10"]
    assert fork.meta["fork"]["parent"] == "parent" and parent.path.read_bytes() == before


def test_a_second_fork_gets_the_next_name_and_a_named_one_never_replaces(parent, tmp_path):
    found = proposed(parent, 2, tmp_path, lambda text: "kept")
    first = save_fork(found, suggested_path(parent))
    suggested = suggested_path(parent)
    assert suggested.name == "run-fork-2.json"
    assert named_path("mine", suggested) == tmp_path / "mine.json"
    with pytest.raises(StashError, match="exists"):
        named_path(first.name, suggested)
    with pytest.raises(StashError, match="needs a file name"):
        named_path("  ", suggested)


@pytest.mark.parametrize("text", ["{broken", '{"a": 1, "a": 2}', ""])
def test_a_broken_draft_is_refused_and_stays(parent, tmp_path, text):
    edit = start_edit(parent, 0)
    draft = edit.draft(tmp_path)
    draft.path.write_text(text)
    with pytest.raises(StashError):
        edit.proposal(draft, text)
    assert draft.path.read_text() == text


def test_an_edit_that_says_the_same_makes_no_fork(parent, tmp_path):
    with pytest.raises(StashError, match="the same as recorded"):
        proposed(parent, 0, tmp_path, lambda text: text.replace(" ", "  "))


def test_secrets_in_what_was_written_are_masked_and_said(parent, tmp_path):
    secret = "sk-" + "proj-" + "Ab3" * 16
    found = proposed(parent, 2, tmp_path, lambda text: f"use {secret}")
    assert secret not in str(found.shown) and any("masked" in word for word in found.words())


def test_the_tree_and_what_is_meant_by_compare(parent, tmp_path):
    fork = save_fork(proposed(parent, 2, tmp_path, lambda text: "x"), suggested_path(parent))
    write_recording(recording_of(CALLS, id="other"), tmp_path / "zoo.json")
    lines = branch_lines(lineage(tmp_path))
    assert [(line.lead, line.name) for line in lines] == [("", "run.json"), ("└─ ", "run-fork.json"), ("", "zoo.json")]
    assert lines[1].words == "3 events, forked at event 2 with another value"
    assert pair_of(lines, 1, [], None) == (parent.path, fork)
    assert pair_of(lines, 0, [], open_recording(fork))[0] == parent.path
    assert pair_of(lines, 2, [], parent) == (parent, tmp_path / "zoo.json")
    assert pair_of(lines, 1, [2], None) == (tmp_path / "zoo.json", fork)
    assert pair_of(lines, 1, [0, 2], None) == (parent.path, tmp_path / "zoo.json")
    assert pair_of(lines, 2, [], None) == "mark two with Space, or go to another one"
    assert line_of(lines, parent) == 0


def test_a_missing_parent_is_shown_and_cannot_be_compared(parent, tmp_path):
    save_fork(proposed(parent, 2, tmp_path, lambda text: "x"), suggested_path(parent))
    parent.path.unlink()
    lines = branch_lines(lineage(tmp_path))
    assert lines[0].words == "not in this folder"
    assert pair_of(lines, 0, [], None) == "that recording is not in this folder"
