"""The usual ``record`` command lines are read without a parser, and mean what the parser makes of them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from stashdbg.cli.plain_record import PlainRecord, plain_record


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("record -- a b", (("a", "b"), "run.json", False)),
        ("record -o x.json -- a -o y", (("a", "-o", "y"), "x.json", False)),
        ("record --force --output x.json -- a", (("a",), "x.json", True)),
        ("record -- a -- b", (("a", "--", "b"), "run.json", False)),
        ("record --", None),
        ("record a", None),
        ("record -o -- a", None),
        ("record --rules f -- a", None),
        ("record --help", None),
        ("record --output=x.json -- a", None),
        ("replay -- a", None),
    ],
)
def test_a_plain_command_line_is_told_from_one_for_the_parser(words: str, wanted: PlainRecord | None) -> None:
    assert plain_record(words.split()) == wanted


def test_a_program_starts_before_a_parser_could_be_loaded() -> None:
    look = (
        "import stashdbg.cli.app, stashdbg.cli.recording, sys; print({'typer', 'pydantic', 'rich'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
