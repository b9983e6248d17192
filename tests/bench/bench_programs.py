"""What recording a whole program costs its user in wall time: ``python tests/bench/bench_programs.py``.

Programs ask a model on loopback that answers after 200 ms, plain and in events; each runs alone and recorded in turns,
by the command as it is installed and with modules compiled, as an installation has them. ``STASHDBG_AGENTS_PYTHON``
names an interpreter that has the openai client, if that of the bench has not. ``ROUNDS=3`` makes it quicker. Medians in
milliseconds; trust the ratios. Recording needs a second processor to start beside the program: where both are busy, it
costs more.
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
ROUNDS = int(os.environ.get("ROUNDS", "7"))
CALLS = 5
DELAY_S = 0.2
EVENTS = 50
PYTHON = os.environ.get("STASHDBG_AGENTS_PYTHON", sys.executable)

SERVER = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.agents.model_server import ModelServer
with ModelServer(delay={DELAY_S}) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""
PROMPT = "x" * (7 * (EVENTS - 3) - 14)
"""The model says it back in pieces of seven characters, between a first event and two last ones."""
PLAIN = f"""
import json, sys, urllib.request
for number in range({CALLS}):
    body = {{"model": "m", "stream": sys.argv[2] == "stream", "messages": [{{"role": "user", "content": {PROMPT!r}}}]}}
    request = urllib.request.Request(sys.argv[1] + "/v1/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request) as response:
        print(sum(1 for line in response if line.strip()))
"""
OPENAI = f"""
import sys, openai
client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none")
messages = [{{"role": "user", "content": {PROMPT!r}}}]
for number in range({CALLS}):
    if sys.argv[2] == "stream":
        print(sum(1 for chunk in client.chat.completions.create(model="m", messages=messages, stream=True)))
    else:
        print(len(client.chat.completions.create(model="m", messages=messages).choices))
"""
PROGRAMS = {
    "nothing (start and end)": ("pass", "plain"),
    "urllib, JSON": (PLAIN, "plain"),
    f"urllib, {EVENTS} events": (PLAIN, "stream"),
}
WITH_OPENAI = {
    "import openai": ("import openai", "plain"),
    "openai, JSON": (OPENAI, "plain"),
    f"openai, {EVENTS} events": (OPENAI, "stream"),
}


def took(command: list[str], folder: Path) -> float:
    compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | compiled
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment)
    return (time.perf_counter() - start) * 1000


def has_openai() -> bool:
    return subprocess.run([PYTHON, "-c", "import openai"], capture_output=True, check=False).returncode == 0


def main() -> None:
    programs = {**PROGRAMS, **(WITH_OPENAI if has_openai() else {})}
    script = Path(sys.executable).with_name("stashdbg")
    stashdbg = [str(script)] if script.exists() else [sys.executable, "-m", "stashdbg"]
    record = [*stashdbg, "record", "--force", "--"]
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        url = server.stdout.readline().decode().strip()
        print(f"{'ms, median':26}{'alone':>9}{'recorded':>10}{'ratio':>8}{'added':>8}{'quickest':>10}")
        folder = Path(tempfile.mkdtemp())
        for label, (text, kind) in programs.items():
            program = folder / "program.py"
            program.write_text(text)
            command = [PYTHON, str(program), url, kind]
            alone, recorded = [], []
            took([*record, *command], folder)  # compiles what is not compiled
            for _ in range(ROUNDS):
                alone.append(took(command, folder))
                recorded.append(took([*record, *command], folder))
            one, other = statistics.median(alone), statistics.median(recorded)
            ratio, least = other / one, min(recorded) - min(alone)
            print(f"{label:26}{one:9.0f}{other:10.0f}{ratio:8.3f}{other - one:8.0f}{least:10.0f}", flush=True)
        shutil.rmtree(folder)
        server.communicate(b"")


if __name__ == "__main__":
    main()
