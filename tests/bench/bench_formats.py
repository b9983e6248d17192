"""``python tests/bench/bench_formats.py [MB…]``: opening a session of another tool, the first screen and all of it.

A session like Claude Code's is made in a temporary folder, 100 MB if no size is given, its last line one of 15 MB; the
cache lies there too. Each row is one size: what the head costs, what the conversion costs in its own process, and
what opening costs once that is done. Times are processor seconds but for the conversion's, which are of the clock too.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

HEAD = """
import resource, sys, time
from pathlib import Path
from stashdbg_core.opening.files import head_of, refuse_unknown, runs_of
path = Path(sys.argv[1])
refuse_unknown(path)
runs_of(path)
events = len(head_of(path).events)
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, events)
"""
WHOLE = """
import resource, sys, time
from pathlib import Path
from stashdbg_core.opening.files import open_one
events = len(open_one(Path(sys.argv[1])).events)
used = resource.getrusage(resource.RUSAGE_SELF)
children = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.process_time(), used.ru_maxrss / 1024, events)
print(children.ru_utime + children.ru_stime, children.ru_maxrss / 1024)
"""
WORDS = [
    "the",
    "agent",
    "asked",
    "for",
    "a result",
    "that said",
    "no file",
    "plan",
    "edit",
    "return",
    "class",
    "import",
]
LONG_LINE = 15_000_000


def session(size: int) -> Iterator[bytes]:
    """Yield the lines of a session of so many bytes."""
    chance = random.Random(1)
    written = turn = 0
    while written < size - LONG_LINE:
        text = " ".join(chance.choices(WORDS, k=chance.randint(20, 900)))
        common = {"sessionId": "bench", "cwd": "/work", "version": "2.1.40", "isSidechain": False}
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_796_000_000 + turn))
        call = {"type": "tool_use", "id": f"toolu_{turn}", "name": "Read", "input": {"file_path": f"/work/{turn}.py"}}
        answer = {"id": f"msg_{turn}", "role": "assistant", "model": "claude-opus-4-6", "stop_reason": "tool_use",
                  "content": [{"type": "text", "text": text[:400]}, call],
                  "usage": {"input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": 1000}}  # fmt: skip
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{turn}", "content": text}]}
        progress = {"type": "hook_progress", "hookEvent": "PreToolUse", "hookName": "x", "command": text[:300]}
        for record in (
            {"type": "assistant", "message": answer},
            {"type": "progress", "data": progress},
            {"type": "user", "message": result, "toolUseResult": {"type": "text", "file": {"content": text}}},
        ):
            turn += 1
            line = json.dumps({**record, **common, "uuid": f"u{turn}", "timestamp": moment}).encode() + b"\n"
            written += len(line)
            yield line
    said = {"role": "user", "content": "x" * LONG_LINE}
    yield json.dumps({"type": "user", "message": said, "sessionId": "bench", "uuid": "last"}).encode() + b"\n"


def ran(program: str, path: Path, cache: Path) -> tuple[float, list[float]]:
    """Return how long a program took by the clock, and the numbers it printed."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True,
        env={**os.environ, "XDG_CACHE_HOME": str(cache)},
    )  # fmt: skip
    return time.perf_counter() - started, [float(word) for word in done.stdout.split()]


def main() -> None:
    """Print the table."""
    print(f"{'size':>8}  {'head':>22}  {'conversion':>38}  {'opened again':>18}")
    for size in [int(word) for word in sys.argv[1:]] or [100]:
        with tempfile.TemporaryDirectory() as folder:
            path, cache = Path(folder) / "session.jsonl", Path(folder) / "cache"
            with path.open("wb") as file:
                file.writelines(session(size * 1_000_000))
            _, (head, head_memory, shown) = ran(HEAD, path, cache)
            clock, (_, _, events, used, memory) = ran(WHOLE, path, cache)
            _, (again, again_memory, _, _, _) = ran(WHOLE, path, cache)
        print(
            f"{size:>5} MB  {head:5.2f} s {head_memory:4.0f} MB {shown:4.0f} ev  "
            f"{clock:6.1f} s clock {used:6.1f} s {memory:4.0f} MB {events:7.0f} ev  "
            f"{again:6.2f} s {again_memory:4.0f} MB"
        )


if __name__ == "__main__":
    main()
