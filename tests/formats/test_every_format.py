"""What holds for every format: its files open or are refused, every command works on them, damage does no harm."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from stashdbg_core.errors import StashError
from stashdbg_core.formats.opening import read_foreign
from stashdbg_core.formats.registry import FORMATS, formats
from stashdbg_core.opening.files import open_one, recording_paths
from tests.formats.every import check_refusal, small_files, survive, use

SECONDS = 2.0
MUTANTS = 300
ROWS = re.compile(r"^\| `([a-z0-9-]+)` \| .+? \| .+? \| (.*?) \| (.*?) \| (.*?) \|$", re.MULTILINE)
DOCS = Path(__file__).parents[2] / "docs" / "formats.md"
_USED = 100_000
"""Bytes of a shared sample up to which every command is tried on it; larger ones are opened."""


@pytest.mark.parametrize("path", small_files(), ids=lambda path: path.name)
def test_every_command_works_on_every_format(path: Path) -> None:
    use(read_foreign(path, run=0))


def test_words_that_are_no_words_do_no_harm() -> None:
    odd = {"type": {"a": 1}, "role": {"b": 2}, "text": "said", "content": [{"type": {"c": 3}}]}
    steps = [{"action": "ls", "response": "r", "messages": [odd], "tool_calls": [odd], "observation": odd}]
    use(read_foreign(json.dumps({"trajectory": steps, "info": {}, "history": [odd]}).encode()))


def test_shared_samples_open_or_are_refused_in_a_line(shared_samples: Path | None) -> None:
    files = [] if shared_samples is None else sorted(shared_samples.rglob("*"))
    refused = []
    for path in files:
        if path.is_file() and path.stat().st_size <= _USED:
            try:
                open_one(recording_paths(path)[0])
            except StashError as error:
                check_refusal(error)
                refused.append(path)
    known = ("SOURCES.md", ".meta.json", "empty.jsonl")
    odd = [path for path in refused if not path.name.endswith(known)]
    assert odd == []


def test_damaged_files_open_or_are_refused_and_soon() -> None:
    opened, slowest, worst = survive(small_files(), MUTANTS, 1)
    assert opened > MUTANTS // 3
    assert slowest < SECONDS, worst


def test_formats_have_names_of_their_own_and_say_what_they_give() -> None:
    known = list(formats())
    assert len({one.name for one in known}) == len(known) == len(FORMATS)
    for one in known:
        assert one.exact, one.name
        for phrase in (*one.exact, *one.inferred, *one.missing):
            assert phrase.strip() == phrase
            assert not phrase.endswith(".")


def test_the_documentation_names_every_format_and_what_it_gives() -> None:
    rows = {name: tuple(said) for name, *said in ROWS.findall(DOCS.read_text(encoding="utf-8"))}
    known = {one.name: tuple("; ".join(said) for said in (one.exact, one.inferred, one.missing)) for one in formats()}
    assert rows == known
