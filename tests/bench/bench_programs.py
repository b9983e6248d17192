"""What recording a whole program costs its user in wall time: ``python tests/bench/bench_programs.py [NAME …]``.

A model on loopback answers after 200 ms. It is asked by nobody, by ``urllib`` five times, and by the real agents of
``tests/agents``, three times each; every program runs alone and recorded in turns, by the command as it is installed
and with modules compiled, as an installation has them. ``STASHDBG_AGENTS_PYTHON`` names an interpreter that has the
agents' libraries, if that of the bench has not; ``ROUNDS=3`` makes it quicker. Prints the median of the runs alone and
of what recording added in each turn, and the middle half of the latter. Recording needs a second processor to start
beside the program: where both are busy, it costs more.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
AGENTS = ROOT / "tests" / "agents" / "programs"
ROUNDS = max(2, int(os.environ.get("ROUNDS", "11")))
CALLS = 5
DELAY_S = 0.2
PYTHON = os.environ.get("STASHDBG_AGENTS_PYTHON", sys.executable)

SERVER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.agents.model_server import ModelServer
with ModelServer(delay={DELAY_S}) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
ASKS = f"""
import json, os, urllib.request
for number in range({CALLS}):
    body = json.dumps({{"model": "m", "messages": [{{"role": "user", "content": "Hello"}}]}}).encode()
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)
    with urllib.request.urlopen(request) as answer:
        print(len(answer.read()))
"""


def programs(folder: Path) -> dict[str, list[str]]:
    """Return the commands, by what they are called in the table."""
    (folder / "asks.py").write_text(ASKS, encoding="utf-8")
    agents = sorted(path for path in AGENTS.glob("*.py") if path.stem != "mcp_weather_server")
    return {
        "nothing": [PYTHON, "-c", "pass"],
        f"urllib x {CALLS}": [PYTHON, str(folder / "asks.py")],
        **{path.stem: [PYTHON, str(path)] for path in agents},
    }


def took(command: list[str], folder: Path, environment: dict[str, str]) -> float | None:
    """Return how long a command took, in milliseconds; None if it failed."""
    start = time.perf_counter()
    ended = subprocess.run(command, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, env=environment)
    return (time.perf_counter() - start) * 1000 if ended.returncode == 0 else None


def in_turns(command: list[str], record: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run a program alone and recorded, and return its row of the table.

    The two runs of a turn are compared with each other: a machine that slows down for a while slows both.
    """
    turns = [
        (took(command, folder, environment), took([*record, *command], folder, environment)) for _ in range(ROUNDS + 1)
    ]
    pairs = [(one, other) for one, other in turns[1:] if one is not None and other is not None]  # the first compiles
    if len(pairs) < ROUNDS:
        return "      it fails here: are its libraries installed?"
    alone = statistics.median(one for one, _ in pairs)
    low, added, high = statistics.quantiles([other - one for one, other in pairs], n=4)
    return f"{alone:9.0f}{added:9.0f}{added / alone:9.1%}{low:11.0f} to {high:.0f}"


def main() -> None:
    """Print the table."""
    script = Path(sys.executable).with_name("stashdbg")
    stashdbg = [str(script)] if script.exists() else [sys.executable, "-m", "stashdbg"]
    folder = Path(tempfile.mkdtemp())
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        url = server.stdout.readline().decode().strip()
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
            "PYTHONPYCACHEPREFIX": str(folder / "compiled"),
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
        print(f"{'ms':20}{'alone':>9}{'added':>9}{'':>9}{'half of the turns':>21}")
        for name, command in programs(folder).items():
            if not sys.argv[1:] or any(name.startswith(wanted) for wanted in sys.argv[1:]):
                row = in_turns(command, [*stashdbg, "record", "--force", "--"], folder, environment)
                print(f"{name:20}{row}", flush=True)
        server.communicate(b"")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
