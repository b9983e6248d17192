"""What an import costs and touches, seen from fresh interpreters."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = sorted(
    ".".join(path.relative_to(ROOT / "core").with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "core").rglob("*.py")
    if path.name != "__main__.py"
)
UPSTAIRS = {"textual", "rich", "typer", "deepdiff", "stashdbg_tui"}


def _run(program: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _loaded_after(program: str, *arguments: str) -> set[str]:
    report = "\nimport json, sys; print('\\n' + json.dumps(sorted(m.split('.')[0] for m in sys.modules)))"
    return set(json.loads(_run(program + report, *arguments).splitlines()[-1]))


def test_the_core_knows_no_screen() -> None:
    assert _loaded_after("\n".join(f"import {module}" for module in CORE)) & UPSTAIRS == set()


def test_the_library_facade_loads_no_screen() -> None:
    program = "import stashdbg\nfor name in stashdbg.__all__: getattr(stashdbg, name)"
    assert _loaded_after(program) & UPSTAIRS == set()


@pytest.mark.parametrize(
    "command",
    [["show"], ["stats"], ["show", "--json"], ["stats", "--json"], ["seal"], ["verify"], ["scan"], ["diff", "--text"]],
)
def test_plain_commands_load_no_textual(command: list[str], data: Path, tmp_path: Path) -> None:
    program = """
import sys
from stashdbg.__main__ import main
codes = []
for words in ([["seal", sys.argv[2]]] if sys.argv[1] == "verify" else []) + [sys.argv[1:]]:
    try: main(words)
    except SystemExit as ended: codes.append(ended.code)
assert codes[-1] in (None, 0), codes
"""
    file = shutil.copy(data / "cases" / "53-inserted" / "a.json", tmp_path)
    loaded = _loaded_after(program, *command, *([file, file] if command[0] == "diff" else [file]))
    assert loaded & {"textual", "deepdiff", "stashdbg_tui"} == set()


def test_importing_opens_nothing_and_reads_no_environment() -> None:
    program = """
import builtins, os, sys
import stashdbg_core  # the path finder reads sources: only what our own modules do from here on counts
touched = []
class Environment(dict):
    def __getitem__(self, key): touched.append(("environment", key)); return super().__getitem__(key)
    def get(self, key, default=None): touched.append(("environment", key)); return super().get(key, default)
def hook(event, arguments):
    if event in {"socket.connect", "socket.bind", "subprocess.Popen", "os.mkdir"}:
        touched.append((event, str(arguments)))
    if event == "open" and not str(arguments[0]).endswith((".py", ".pyc", ".so")) and ".pyc." not in str(arguments[0]):
        touched.append((event, str(arguments[0])))
for name in ("msgspec", "platform", "asyncio", "concurrent.futures", "random", "uuid", "zoneinfo"): __import__(name)
os.environ = Environment(os.environ)
sys.addaudithook(hook)
import stashdbg
for name in stashdbg.__all__: getattr(stashdbg, name)
print(touched)
"""
    assert _run(program).strip() == "[]"


def test_a_program_is_started_and_welcomed_before_anything_is_loaded() -> None:
    light = "from stashdbg_core.programs.runs import head_start; from stashdbg_core.programs.tapes import server"
    loaded = set(_run(f"import sys; {light}; print(*sys.modules)").split())
    bare = set(_run("import sys, stashdbg_core.programs; print(*sys.modules)").split())
    assert "stashdbg_core.programs.tapes.server" in loaded
    assert (loaded - bare) & {"threading", "typing", "json", "re", "enum", "stashdbg_core.errors"} == set()


def test_a_program_is_recorded_without_what_replays_and_compares(tmp_path: Path) -> None:
    program = """
import sys
from stashdbg_core.programs.runs.starting import load_the_rest, record_program
run = record_program([sys.executable, "-c", "import time; time.time()"], sys.argv[1])
run.start()
load_the_rest()
assert run.wait().exit_code == 0
print(*sys.modules)
"""
    loaded = set(_run(program, str(tmp_path / "run.json")).split())
    assert "stashdbg_core.programs.tapes.tape" in loaded
    assert loaded & {"stashdbg_core.replay", "stashdbg_core.diff", "stashdbg_core.formats"} == set()
