"""What recording one event costs, beside bare ways of keeping the same bytes: ``python tests/bench/bench_record.py``.

CPU time of the process, medians of rounds that take turns, in microseconds an event; trust the ratios.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "core")]

from peers import installed  # noqa: E402
from rows import Row, compared  # noqa: E402

from stashdbg_core.record import DEFAULT, Recorder  # noqa: E402

ROUNDS = 7
EVENTS = 600
SIZES = (500, 8_000)
REFERENCE = "msgspec + sha256 + append"
WORDS = [
    "model",
    "answer",
    "search",
    "weather",
    "result",
    "the",
    "of",
    "and",
    "plan",
    "city",
    "Zürich",
    "value",
    "next",
]


def payload(size: int, seed: int) -> dict[str, Any]:
    """A tool result of about ``size`` bytes: some fields, some prose, all of it new."""
    dice = random.Random(seed)
    value: dict[str, Any] = {
        "id": f"call_{seed}",
        "ok": True,
        "score": dice.random(),
        "count": seed,
        "usage": {"in": 12, "out": 34},
    }
    parts: list[str] = []
    while len(json.dumps({**value, "parts": parts})) < size:
        parts.append(" ".join(dice.choices(WORDS, k=8)))
    return {**value, "parts": parts}


Keep = Callable[[int, dict[str, Any]], None]


@contextmanager
def recorder(folder: Path, *, journal: bool, redact: Any) -> Iterator[Keep]:
    path = folder / f"run-{os.urandom(4).hex()}.json" if journal else None
    with Recorder(path=path, redact=redact) as tape:
        yield lambda number, value: tape.call("tool", "search", lambda: value, input=number) and None


def spelled_by_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


@contextmanager
def bare_append(folder: Path, encode: Callable[[Any], bytes]) -> Iterator[Keep]:
    """What cannot be saved: JSON, its hash and one write; no blob table, no event fields, nothing of the input."""
    file = os.open(folder / f"append-{os.urandom(4).hex()}", os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def keep(number: int, value: dict[str, Any]) -> None:
        text = encode(value)
        os.write(file, hashlib.sha256(text).hexdigest().encode() + text + b"\n")

    yield keep
    os.close(file)


@contextmanager
def sqlite(folder: Path) -> Iterator[Keep]:
    base = sqlite3.connect(folder / f"{os.urandom(4).hex()}.db", isolation_level=None)
    base.execute("pragma journal_mode=wal")
    base.execute("pragma synchronous=normal")
    base.execute("create table event (seq integer primary key, channel text, key text, input text, value text)")

    def keep(number: int, value: dict[str, Any]) -> None:
        base.execute("insert into event values (?,?,?,?,?)", (number, "tool", "search", str(number), json.dumps(value)))

    yield keep
    base.close()


def contenders(folder: Path) -> dict[str, Callable[[], Any]]:
    return {
        "stashdbg, memory, no redaction": lambda: recorder(folder, journal=False, redact=None),
        "stashdbg, memory, redaction": lambda: recorder(folder, journal=False, redact=DEFAULT),
        "stashdbg, journal, no redaction": lambda: recorder(folder, journal=True, redact=None),
        "stashdbg, journal, redaction": lambda: recorder(folder, journal=True, redact=DEFAULT),
        REFERENCE: lambda: bare_append(folder, msgspec.json.encode),
        "json + sha256 + append": lambda: bare_append(folder, spelled_by_json),
        "sqlite3, WAL, commit an event": lambda: sqlite(folder),
        **installed(folder, EVENTS - 1),
    }


def measure(make: Callable[[], Any], values: list[dict[str, Any]]) -> float:
    with make() as keep:
        start = time.process_time()
        for number, value in enumerate(values):
            keep(number, value)
        return (time.process_time() - start) / len(values) * 1e6


def rows() -> Iterator[Row]:
    """Yield what recording 500 B costs with all defaults, and what part journal and redaction have in it."""
    values = [payload(500, seed) for seed in range(EVENTS)]
    with tempfile.TemporaryDirectory() as name:
        chosen = {label: make for label, make in contenders(Path(name)).items() if label in _ROWS}
        times: dict[str, list[float]] = {}
        for _ in range(ROUNDS):
            for label, make in chosen.items():
                times.setdefault(label, []).append(measure(make, values) / 1e6)
    found = {label: statistics.median(each) for label, each in times.items()}
    for label, bar in _ROWS.items():
        if bar is not None:
            what = f"record an event of 500 B: {label.removeprefix('stashdbg, ')}"
            yield compared(what, found[label], REFERENCE, found[REFERENCE], bar)


_ROWS = {REFERENCE: None, "stashdbg, journal, redaction": "25 µs", "stashdbg, memory, no redaction": ""}


def main() -> None:
    table: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        for size in SIZES:
            values = [payload(size, seed) for seed in range(EVENTS)]
            runs: dict[str, list[float]] = {}
            for _ in range(ROUNDS):
                for label, make in contenders(Path(name)).items():
                    runs.setdefault(label, []).append(measure(make, values))
            for label, times in runs.items():
                table.setdefault(label, []).append(statistics.median(times))
    print(f"{'µs of CPU an event, median':34}" + "".join(f"{size:>12,} B{'ratio':>8}" for size in SIZES))
    for label, medians in table.items():
        cells = zip(medians, table[REFERENCE], strict=True)
        print(f"{label:34}" + "".join(f"{median:14.1f}{median / bare:7.1f}x" for median, bare in cells))


if __name__ == "__main__":
    main()
