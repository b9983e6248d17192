"""Source is read as data, from confirmed folders alone."""

from __future__ import annotations

import os

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.session.source_lines import parse_site, source_lines


@pytest.fixture
def program(tmp_path):
    folder = tmp_path / "program"
    (folder / "pkg" / "site-packages").mkdir(parents=True)
    (folder / "agent.py").write_text("".join(f"line {n}\n" for n in range(1, 41)))
    (folder / "pkg" / "deep.py").write_text("x = 1\n")
    (folder / "pkg" / "site-packages" / "lib.py").write_text("theirs\n")
    (tmp_path / "secret.py").write_text("secret\n")
    return folder


def test_the_lines_around_a_site(program):
    shown = source_lines("agent.py:20 plan", [program], around=2)
    assert (shown.first, shown.line, shown.lines) == (18, 20, ("line 18", "line 19", "line 20", "line 21", "line 22"))
    assert shown.path == program / "agent.py"
    assert source_lines("agent.py:1", [program], around=1).lines == ("line 1", "line 2")
    assert source_lines("agent.py:999", [program], around=1).lines == ()


def test_a_file_is_found_below_by_its_name(program):
    assert source_lines("deep.py:1 f", [program]).lines == ("x = 1",)
    assert source_lines("pkg/deep.py:1 f", [program]).lines == ("x = 1",)
    assert source_lines(f"{program}/agent.py:1", [program]).first == 1


def test_nothing_outside_and_nothing_but_regular_files(program, tmp_path):
    os.mkfifo(program / "pipe.py")
    os.symlink(tmp_path / "secret.py", program / "link.py")
    os.symlink("/dev/zero", program / "zero.py")
    (program / "big.py").write_bytes(b"\n" * 5_000_001)
    (program / "folder.py").mkdir()
    names = [
        "../secret.py",
        str(tmp_path / "secret.py"),
        "link.py",
        "pipe.py",
        "zero.py",
        "big.py",
        "folder.py",
        "lib.py",
        "none.py",
    ]
    for name in names:
        with pytest.raises(StashError) as caught:
            source_lines(f"{name}:1 f", [program])
        assert caught.value.code == "ERR_NOT_FOUND"
    with pytest.raises(StashError, match="no folder with sources was confirmed"):
        source_lines("agent.py:1", [])


@pytest.mark.parametrize(
    "text", ["", "agent.py", "agent.py:x", "agent.py:0", ":1", "a\x00b.py:1", "x" * 5000 + ":1", "a.py:" + "9" * 50]
)
def test_what_names_no_line_is_refused(text, program):
    assert parse_site(text) is None
    with pytest.raises(StashError):
        source_lines(text, [program])
