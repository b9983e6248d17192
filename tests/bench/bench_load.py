"""``python tests/bench/bench_load.py [--big]``: opening a recording beside reading and parsing the same file.

Files are generated into a temporary folder: model-like text with as many distinct values as a growing chat leaves. Each
figure is the best of three in one run, in seconds of processor time, so that a busy machine changes little.
"""

from __future__ import annotations

import gc
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
from rows import Row, compared, medians

from stashdbg_core.canonical import content_ref, stored_form
from stashdbg_core.store.open import open_head, open_recording

WORDS = ["the", "agent", "asked", "for", "a", "result", "that", "said", '"no', 'file"\nand', "é", "→", "{[]}", "plan"]
CALLS = [
    ("llm", "chat"),
    ("llm", "plan"),
    ("tool", "search"),
    ("tool", "read_file"),
    ("clock", "now"),
    ("random", "random"),
]


def text(chance: random.Random, length: int) -> str:
    words: list[str] = []
    while length > 0:
        words.append(chance.choice(WORDS))
        length -= len(words[-1]) + 1
    return " ".join(words)


def entries(count: int, characters: int) -> tuple[list[bytes], list[tuple[str, bytes]]]:
    """Return events and values; about 0.74 values an event, as with 55 % of references repeated."""
    chance = random.Random(1)
    pool = [text(chance, characters) for _ in range(50)]
    events, blobs, seen = [], {}, {}
    refs: list[str] = []
    for seq in range(count):
        chosen = []
        for part in range(2):
            if refs and chance.random() > 0.37:
                chosen.append(chance.choice(refs[-500:]))
                continue
            raw = stored_form(
                {"role": "user", "content": chance.choice(pool)[: chance.randint(1, characters)], "n": seq, "p": part}
            )
            chosen.append(content_ref(raw))
            blobs[chosen[-1]] = raw
            refs.append(chosen[-1])
        channel, key = chance.choice(CALLS)
        ordinal = seen[key] = seen.get(key, -1) + 1
        event = {"seq": seq, "channel": channel, "key": key, "ordinal": ordinal, "outcome": "return"}
        event |= {"ref": chosen[0], "inputRef": chosen[1], "at": 1.75e12 + seq, "thread": "main", "ms": 12.5}
        events.append(stored_form(event))
    return events, list(blobs.items())


def layouts(events: list[bytes], blobs: list[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    for name, gap in (("lines", b"\n"), ("one line", b"")):
        values = (b"," + gap).join(b'"%b":%b' % (ref.encode(), raw) for ref, raw in blobs)
        head = b'{"version":1,"id":"bench","events":[' + gap + (b"," + gap).join(events)
        yield name, head + gap + b'],"blobs":{' + gap + values + gap + b'},"meta":{}}' + gap


def best(action: Callable[[], Any]) -> float:
    times = []
    for _ in range(3):
        gc.collect()
        started = time.process_time()
        kept = action()
        times.append(time.process_time() - started)
        del kept
    return min(times)


def jq(path: Path) -> float:
    """Return the seconds of processor time that jq takes to reach one field, NaN if it is not installed."""
    if shutil.which("jq") is None:
        return float("nan")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["jq", ".id", str(path)], stdout=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def resident(recording: Any) -> float:
    """Return the bytes an event costs in the columns of an open recording, values included."""
    columns = [*recording.events._columns.values(), *recording.blobs._columns.values()]
    return sum(column.itemsize * len(column) for column in columns) / max(1, len(recording.events))


def rows(count: int = 23_000, characters: int = 8000, small: int = 100_000) -> Iterator[Row]:
    """Yield opening a large recording, its memory, and its head."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        for events, size in ((count, characters), (small, 2000)):
            for name, data in layouts(*entries(events, size)):
                path.write_bytes(data)
                del data
                work = {"open": lambda: open_recording(path), "loads": lambda: orjson.loads(path.read_bytes())}
                times = medians(work, 3)
                what = f"open {path.stat().st_size / 1e6:.0f} MB, {events:,} events, {name}"
                yield compared(what, times["open"], "orjson.loads of the file", times["loads"], "0.5 ×")
        head = medians({"head": lambda: open_head(path), "open": lambda: open_recording(path)}, 3)
        yield compared("the first 200 events of it", head["head"], "opening it", head["open"], "")
        cost = resident(open_recording(path))
        yield Row("memory of it when open, values included", f"{cost:.0f} B an event", "", "", "64 B")


def main() -> None:
    sizes = [(1_000, 8000), (23_000, 8000), (100_000, 2000), *([(1_000_000, 600)] if "--big" in sys.argv else [])]
    print("events    layout         MB   read  json     jq  orjson    open  head  open/orjson  bytes/event")
    with tempfile.TemporaryDirectory() as folder:
        for count, characters in sizes:
            events, blobs = entries(count, characters)
            for name, data in layouts(events, blobs):
                path = Path(folder) / "run.json"
                path.write_bytes(data)
                size = len(data) / 1e6
                slow = best(lambda data=data: json.loads(data)) if count < 1_000_000 else float("nan")
                fast = best(lambda data=data: orjson.loads(data))
                del data
                plain = best(path.read_bytes)
                opened = best(lambda path=path: open_recording(path))
                head = best(lambda path=path: open_head(path))
                cost = resident(open_recording(path))
                times = f"{plain:>6.3f} {slow:>5.2f} {jq(path):>6.2f} {fast:>7.3f} {opened:>7.3f} {head:>5.3f}"
                print(f"{count:<9} {name:<10} {size:>6.0f} {times} {opened / fast:>12.2f} {cost:>12.1f}", flush=True)


if __name__ == "__main__":
    main()
