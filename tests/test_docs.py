"""Every code block of the documents is run, in order, as a reader would: one namespace and one folder a document.

- ```` ```python ````: executed.
- Any language with ``title="file.py"`` after it: written to that file instead.
- ```` ```pycon ````: a session of the interpreter, compared with what it prints.
- ```` ```console ````: lines after ``$`` are run, what follows is compared; ``…`` stands for any text, a line of it
  for lines.
- ```` ```sh ````: lines that begin with ``stashdbg``, ``pytest`` or ``python`` are run and must succeed.

``<!-- not run: reason -->`` before a block leaves it out: it needs a network or a terminal. The shell blocks between
README's ``try`` and ``test`` markers are run by ``.ci/run``.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stashdbg.cli.app import run as run_stashdbg

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>```+)(?P<language>\w*)(?P<more>[^\n]*)\n(?P<text>.*?)^(?P=indent)(?P=fence) *$",
    re.M | re.S,
)
_TITLE = re.compile(r'title="([^"]+)"')
_MARKED = re.compile(r"<!-- (try|test|not run: [^>]{3,}?) -->\s*\Z")
_LINK = re.compile(r"\[[^\]\[]*\]\(([^)\s]+)\)")
_RUN = ("python", "pycon", "console", "sh")
_TIMEOUT = 120
_PROGRAMS = {"pytest": [sys.executable, "-m", "pytest"], "python": [sys.executable], "cat": ["cat"], "ls": ["ls"]}


@dataclass(frozen=True)
class Block:
    """A fenced block and the line that it begins on."""

    language: str
    title: str | None
    text: str
    line: int
    skipped: bool

    @property
    def counts(self) -> bool:
        return not self.skipped and (self.title is not None or self.language in _RUN)


def blocks_of(document: Path) -> list[Block]:
    text = document.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        title = _TITLE.search(match["more"])
        line = text.count("\n", 0, match.start()) + 2
        skipped = _MARKED.search(text, 0, match.start()) is not None
        found.append(Block(match["language"], title and title[1], match["text"], line, skipped))
    return found


WITH_CODE = [document for document in DOCUMENTS if any(block.counts for block in blocks_of(document))]


@pytest.mark.parametrize("document", WITH_CODE, ids=lambda document: document.name)
def test_every_block_runs(
    document: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(folder, str(tmp_path_factory.mktemp(folder)))
    for name in ("PYTEST_ADDOPTS", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    module = types.ModuleType(f"docs_{document.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in blocks_of(document):
        if block.counts:
            run_block(block, document, module.__dict__)


def run_block(block: Block, document: Path, names: dict[str, Any]) -> None:
    place = f"{document.name}:{block.line}"
    if block.title is not None:
        Path(block.title).parent.mkdir(parents=True, exist_ok=True)
        Path(block.title).write_text(block.text, encoding="utf-8")
    elif block.language == "python":
        code = compile("\n" * (block.line - 1) + block.text, str(document), "exec")
        with redirect_stdout(io.StringIO()):
            exec(code, names)
    elif block.language == "pycon":
        run_session(block.text, place, names)
    elif block.language == "console":
        for command, expected in commands_of(block.text):
            code, output = run_command(command)
            assert alike(expected, output), f"{place}: $ {command} gave {code} and\n{output}"
    else:
        for line in block.text.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] in ("stashdbg", "pytest", "python"):
                code, output = run_command(shlex.join(words))
                assert code == 0, f"{place}: {line} gave {code} and\n{output}"


def run_session(text: str, place: str, names: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(text, names, place, place, 0)
    report = io.StringIO()
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=report.write, clear_globs=False)
    names.update(test.globs)
    assert report.getvalue() == ""


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run_command(command: str) -> tuple[int, str]:
    """Run a command and return its exit code and what it wrote, both streams together."""
    words = shlex.split(command, comments=True)
    if words[0] == "stashdbg":
        written = io.StringIO()
        with redirect_stdout(written), redirect_stderr(written):
            code = run_stashdbg(words[1:])
        return code, written.getvalue()
    assert words[0] in _PROGRAMS, f"documents run stashdbg, {', '.join(_PROGRAMS)}, not {words[0]}"
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "stashdbg.pytest_plugin"}
    program = [*_PROGRAMS[words[0]], *words[1:]]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, timeout=_TIMEOUT, check=False)
    return done.returncode, done.stdout + done.stderr


def alike(expected: str, output: str) -> bool:
    """Tell whether an output is what the document shows; trailing blanks and blank lines at the ends don't count."""
    lines = [line.rstrip() for line in expected.strip("\n").splitlines()]
    parts = [r"(?:.*\n)*" if line == "…" else ".*".join(map(re.escape, line.split("…"))) + r"\n" for line in lines]
    text = "".join(f"{line.rstrip()}\n" for line in output.strip("\n").splitlines())
    return re.fullmatch("".join(parts), text) is not None


def links_of(document: Path) -> list[tuple[Path, str]]:
    """Return the files and anchors that a document links to."""
    targets = [target.partition("#") for target in _LINK.findall(document.read_text(encoding="utf-8"))]
    within = [(file, place) for file, _, place in targets if not file.startswith(("http:", "https:", "mailto:"))]
    return [((document.parent / file).resolve() if file else document, place) for file, place in within]


def anchors_of(document: Path) -> set[str]:
    """Return what GitHub makes of a document's headings, outside of blocks."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", document.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_links_lead_to_files_and_headings_that_are_there(document: Path) -> None:
    astray = [
        f"{target.name}#{place}"
        for target, place in links_of(document)
        if not target.exists() or (place and target.suffix == ".md" and place not in anchors_of(target))
    ]
    assert astray == []


def test_readme_is_the_index_of_all_pages() -> None:
    linked = {target for target, _ in links_of(ROOT / "README.md")}
    assert [document.name for document in DOCUMENTS if document not in {ROOT / "README.md", *linked}] == []


def test_every_picture_is_shown_somewhere() -> None:
    shown = {target for document in DOCUMENTS for target, _ in links_of(document)}
    assert sorted((ROOT / "screenshots").glob("*.svg")) == sorted(target for target in shown if target.suffix == ".svg")


def test_generated_pages_say_what_the_code_says() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "generate.py"))["PAGES"]
    stale = [name for name, page in made.items() if (ROOT / "docs" / name).read_text(encoding="utf-8") != page()]
    assert stale == [], "python docs/generate.py"


def test_a_shown_output_may_leave_text_out_and_nothing_else() -> None:
    assert alike("a … c\n", "a b c\n\n")
    assert alike("first\n…\nlast\n", "first\nx\ny\nlast\n")
    assert alike("first\n…\n", "first\n")
    assert not alike("first\n", "first\nsecond\n")
    assert not alike("a … c\n", "a b d\n")
