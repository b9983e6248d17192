"""When the screen opens and when the listing is printed, seen from a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


def on_terminal(
    words: list[str], environment: dict[str, str], keys: bytes = b"", wait_for: bytes = b""
) -> tuple[int, bytes]:
    """Run the command on a terminal of its own; type the keys once it has written ``wait_for``."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "stashdbg", *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        start_new_session=True,
    )
    os.close(follower)
    written = b""
    try:
        while select.select([leader], [], [], 60)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:  # Linux's end of file on a terminal
                break
            if not part:
                break
            written += part
            if keys and wait_for in written:
                os.write(leader, keys)
                keys = b""
        return child.wait(timeout=60), written
    finally:
        child.kill()
        os.close(leader)


def test_without_a_terminal_open_and_show_print_the_same(recording: Path, process: Callable) -> None:
    assert process(recording).stdout == process("show", recording).stdout
    assert process(recording).stderr == b""


def test_several_files_are_listed_in_turn(make: Callable[..., Path], stashdbg: Callable) -> None:
    first, second = make([{"value": 1}], id="first"), make([{"value": 2}], "b.json", id="second")
    out = stashdbg(first, second).out
    assert out.index("first") < out.index("second")
    refused = stashdbg("--json", first, second)
    assert (refused.code, refused.out) == (64, "")


def test_a_dumb_terminal_gets_the_listing_and_is_told(recording: Path, environment: Callable) -> None:
    code, written = on_terminal([str(recording)], environment(TERM="dumb"))
    assert code == 0
    assert b"\x1b" not in written
    assert b"TERM=dumb" in written
    assert b"search" in written


def test_in_ci_the_listing_is_printed(recording: Path, environment: Callable) -> None:
    code, written = on_terminal([str(recording)], environment(TERM="xterm-256color", CI="true"))
    assert code == 0
    assert b"\x1b[?1049h" not in written
    assert b"search" in written


def test_show_colours_on_a_terminal_unless_told_not_to(recording: Path, environment: Callable) -> None:
    _, coloured = on_terminal(["show", str(recording)], environment(TERM="xterm-256color"))
    _, plain = on_terminal(["show", str(recording)], environment(TERM="xterm-256color", NO_COLOR="1"))
    assert b"\x1b[1;31mthrew" in coloured
    assert b"\x1b" not in plain


@pytest.mark.parametrize(
    "words", [["show"], ["show", "--json"], ["show", "--at", "0"], ["export", "--flat"], ["stats"]]
)
def test_no_recorded_escape_reaches_a_terminal(
    words: list[str], make: Callable[..., Path], environment: Callable
) -> None:
    evil = "\x1b]0;PWN\x07 \x1b]52;c;eA==\x07 \x1b[2J \x9b2J \x1b[6n \x7f"
    path = make([{"channel": evil, "key": evil, "label": evil, "value": {evil: evil}, "input": evil}], id=evil)
    code, written = on_terminal([*words, str(path)], environment(TERM="xterm-256color"))
    assert code == 0
    for escape in (b"\x1b]0;PWN", b"\x1b]52", b"\x1b[2J", "\x9b".encode(), b"\x1b[6n", b"\x7f"):
        assert escape not in written


def test_on_a_terminal_the_screen_opens_and_q_leaves(recording: Path, environment: Callable) -> None:
    code, written = on_terminal([str(recording)], environment(TERM="xterm-256color"), keys=b"q", wait_for=b"search")
    assert code == 0
    assert b"\x1b[?1049h" in written


def test_a_missing_file_is_refused_before_the_screen_opens(tmp_path: Path, environment: Callable) -> None:
    code, written = on_terminal([str(tmp_path / "none.json")], environment(TERM="xterm-256color"))
    assert code == 66
    assert b"\x1b[?1049h" not in written


def test_a_bundle_of_several_recordings_lists_each(
    make: Callable[..., Path], stashdbg: Callable, tmp_path: Path
) -> None:
    from stashdbg_core.opening.files import recording_paths

    first, second = make([{"value": 1}], id="first"), make([{"value": 2}], "b.json", id="second")
    bundle = tmp_path / "bug.zip"
    assert stashdbg("report", first, second, "--title", "t", "-o", bundle).code == 0
    ran = stashdbg(bundle)
    assert ran.code == 0
    assert ran.out.index("first") < ran.out.index("second")
    inside = recording_paths(bundle)
    assert inside == (bundle / "recordings/run-1.json", bundle / "recordings/run-2.json")
    assert "second" in stashdbg(inside[1]).out
    assert recording_paths(first) == (first,)


def test_the_screen_opens_a_recording_within_a_bundle(
    make: Callable[..., Path], stashdbg: Callable, environment: Callable, tmp_path: Path
) -> None:
    bundle = tmp_path / "bug.zip"
    made = [make([{"value": 1}], id="first"), make([{"value": 2}], "b.json", id="second")]
    assert stashdbg("report", *made, "--title", "t", "-o", bundle).code == 0
    for name in (bundle, bundle / "recordings" / "run-2.json"):
        code, written = on_terminal([str(name)], environment(TERM="xterm-256color"), b"q", b"returned")
        assert code == 0
        assert b"\x1b[?1049h" in written
