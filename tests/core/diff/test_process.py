"""Two files aligned by another process give what this one would, and can be stopped."""

from __future__ import annotations

import pytest

from stashdbg_core.diff import diff_recordings
from stashdbg_core.diff.process import diff_in_process, main
from stashdbg_core.store.open import open_recording
from stashdbg_core.store.writer import write_recording
from tests.core.diff.made_runs import Call, recording_of


@pytest.fixture
def files(tmp_path):
    calls = [Call("k", n, n * n) for n in range(50)]
    other = [*calls[:10], Call("k", "new", 1), *calls[10:30], Call("k", 30, "changed"), *calls[31:48]]
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    return [open_recording(write_recording(recording_of(c), p)) for c, p in zip((calls, other), paths, strict=True)]


@pytest.mark.parametrize("mode", ["content", "identity"])
def test_rows_are_the_same_wherever_they_are_made(files, mode):
    found = diff_in_process(*files, mode)
    expected = diff_recordings(*files, align=mode)
    assert found.rows == expected.rows and not found.same
    assert [found.changes(row) for row in found.changed] == [expected.changes(row) for row in expected.changed]


def test_it_can_be_stopped(files):
    assert diff_in_process(*files, "content", cancelled=lambda: True) is None


def test_what_cannot_be_compared_is_left_to_the_caller(files, tmp_path):
    files[1].path.write_text("{}")
    assert diff_in_process(*files, "content") is None
    assert main([str(files[0].path), str(tmp_path / "none.json"), "content"]) == 65
    assert main([str(files[0].path), str(files[0].path), "guess"]) == 65
