"""``python tests/bench/bench_start.py``: what it costs to start a command, beside an empty typer program."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rows import HEAD, Row, children_time, compared, markdown, medians, spelled

ROOT = Path(__file__).parents[2]
ROUNDS = 11
EMPTY = "import typer\napp = typer.Typer()\n@app.command()\ndef main() -> None: ...\napp()\n"


def rows() -> Iterator[Row]:
    """Yield ``--help`` and one small command."""
    with tempfile.TemporaryDirectory() as name:
        empty, run = Path(name) / "empty.py", Path(name) / "run.json"
        empty.write_text(EMPTY)
        run.write_text('{"version":1,"id":"x","events":[],"blobs":{},"meta":{}}')
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in ("", "core", "tui"))}
        commands = {
            "python -c pass": ["-c", "pass"],
            "an empty typer program --help": [str(empty), "--help"],
            "stashdbg --help": ["-m", "stashdbg", "--help"],
            "stashdbg show of no event": ["-m", "stashdbg", "show", str(run)],
        }

        def starter(arguments: list[str]) -> object:
            return lambda: subprocess.run([sys.executable, *arguments], stdout=-3, env=environment, check=True)

        actions = {what: starter(arguments) for what, arguments in commands.items()}
        times = medians(actions, ROUNDS, children_time)  # type: ignore[arg-type]
    reference = times["an empty typer program --help"]
    beside = f"an empty typer program (python -c pass: {spelled(times['python -c pass'])})"
    for what, bar in (("stashdbg --help", "2 ×"), ("stashdbg show of no event", "")):
        yield compared(what, times[what], beside, reference, bar)


if __name__ == "__main__":
    print(HEAD, *map(markdown, rows()), sep="\n")
