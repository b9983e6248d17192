"""Searching beside ``rg``, or ``grep``, on the same file: ``python tests/bench/bench_search.py [MB …]``.

Files of calls of about 4 kB, one value a line, so that ripgrep is at its best. ``find`` is ``bytes.find`` over blocks
of the file. Opening is not counted for ours; the longest slice is how long a screen waits at most. ``first`` is the
first search of a file, which learns what later ones know; all else is the best of three, in processor time.
"""

from __future__ import annotations

import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rows import Row, compared

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.model import Recording
from stashdbg_core.session.search import Search
from stashdbg_core.store.open import open_recording

WORDS = ["The", "agent", "asked", "for", "a", "result", "that", "said", '"no', 'file"\nand', "é", "→", "{[]}", "plan"]
EACH = 2000
NEEDLES = [
    ("absent, any case", "quadratic"),
    ("absent, as written", "Quadratic"),
    ("rare, any case", "needle"),
    ("rare, as written", "Needle"),
    ("escaped", 'said "no'),
    ("pattern", "/Quad[a-z]+tic/"),
]


def write(path: Path, size: int) -> None:
    """Write a recording of about ``size`` bytes, one call in a thousand with a needle."""
    chance = random.Random(1)
    pool = [" ".join(chance.choices(WORDS, k=EACH // 4))[:EACH] for _ in range(100)]
    events: list[bytes] = []
    with path.open("wb") as out:
        blobs = path.with_suffix(".blobs").open("w+b")
        for seq in range(size // (2 * EACH + 400)):
            refs = []
            for part in range(2):
                said = "Needle" if seq % 1000 == 500 and part else "no"
                raw = stored_form({"role": "user", "content": chance.choice(pool), "n": seq, "p": part, "x": said})
                refs.append(content_ref(raw))
                blobs.write((b"" if not blobs.tell() else b",\n") + b'"%b":%b' % (refs[-1].encode(), raw))
            event = {"seq": seq, "channel": "llm", "key": "chat", "ordinal": seq, "outcome": "return"}
            events.append(stored_form(event | {"ref": refs[0], "inputRef": refs[1], "at": 1.75e12 + seq}))
        out.write(b'{"version":1,"id":"bench","events":[\n' + b",\n".join(events) + b'\n],"blobs":{\n')
        blobs.seek(0)
        shutil.copyfileobj(blobs, out, 1 << 20)
        out.write(b'\n},"meta":{}}\n')
        blobs.close()
        path.with_suffix(".blobs").unlink()


def best(work: Callable[[], float]) -> float:
    """Return the least of three."""
    return min(work() for _ in range(3))


def children(command: list[str]) -> tuple[float, float]:
    """Return processor and wall time of a command."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def reference(path: Path, text: str) -> tuple[float, float]:
    """Return processor and wall time of the fastest tool at hand."""
    is_pattern = text.startswith("/")
    shown = text.strip("/") if is_pattern else stored_form(text)[1:-1].decode()
    if shutil.which("rg"):
        command = ["rg", "-c", *([] if is_pattern else ["-F"]), *(["-S"] if text == text.lower() else []), shown]
    else:
        command = ["grep", "-c", "-E" if is_pattern else "-F", *(["-i"] if text == text.lower() else []), shown]
    times = [children([*command, str(path)]) for _ in range(3)]
    return min(cpu for cpu, _ in times), min(wall for _, wall in times)


def floor(path: Path, text: str) -> float:
    """Return the time to read a file in blocks and find a text in each."""
    wanted = text.encode()
    began = time.process_time()
    with path.open("rb", buffering=0) as file:
        while block := file.read(1 << 20):
            block.find(wanted)
    return time.process_time() - began


def ours(recording: Recording, text: str) -> tuple[float, float, int]:
    """Return processor time, the longest slice, and how many places were found."""
    search = Search(recording, text)
    began = last = time.process_time()
    longest = 0.0
    for _ in search.steps():
        now = time.process_time()
        longest, last = max(longest, now - last), now
    return time.process_time() - began, longest, len(search.hits)


def rows(size: int = 500) -> Iterator[Row]:
    """Yield the first search of a file and a later one, for a text that is rare and for one that is absent."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        write(path, size * 1_000_000)
        recording = open_recording(path)
        ours(recording, "some other text")
        tool = "rg" if shutil.which("rg") else "grep"
        for name, text in NEEDLES[:4]:
            cpu, _ = reference(path, text)
            first = ours(open_recording(path), text)[0]
            later = statistics.median(ours(recording, text)[0] for _ in range(3))
            for when, seconds in (("first", first), ("later", later)):
                yield compared(f"search of {size} MB, {name}, {when}", seconds, tool, cpu, "3 ×")


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [100, 500]
    heads = ["find", "rg", "rg wall", "first", "ours"]
    print(f"{'MB':>5} {'':20} {'places':>8} {' '.join(f'{head:>8}' for head in heads)}  ours/rg     slice")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        for size in sizes:
            write(path, size * 1_000_000)
            recording = open_recording(path)
            ours(recording, "some other text")
            for name, text in NEEDLES:
                cpu, wall = reference(path, text)
                bare = best(lambda: floor(path, text))  # noqa: B023
                first = ours(open_recording(path), text)[0]
                found = [ours(recording, text) for _ in range(3)]
                seconds, slice_, places = min(one[0] for one in found), min(one[1] for one in found), found[0][2]
                times = " ".join(f"{one * 1e3:5.0f} ms" for one in (bare, cpu, wall, first, seconds))
                ratio = f"{seconds / cpu:6.1f} x {slice_ * 1e3:6.1f} ms"
                print(f"{size:5} {name:20} {places:8,} {times} {ratio}", flush=True)


if __name__ == "__main__":
    main()
