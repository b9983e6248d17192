"""What a snapshot and its way back cost, beside what others would do: ``python tests/bench/bench_values.py``.

Every row is the best of interleaved rounds, so that rows share the machine's mood; trust the ratios.
"""

from __future__ import annotations

import copy
import json
import sys
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

sys.path[:0] = [str(Path(__file__).parents[2] / "core")]

from stashdbg_core.values import decode_stored, decode_value, encode_value, snapshot  # noqa: E402

ROUNDS = 15
REFERENCE = "msgspec encode (no check)"
TURN = {
    "model": "gpt-5",
    "messages": [
        {"role": "system", "content": "You are a careful assistant that answers in one short paragraph. " * 2},
        {"role": "user", "content": "How do I rotate a log file without losing a line?"},
        {"role": "assistant", "content": "Rename it, then signal the writer to open the name anew. Née überall."},
    ],
    "temperature": 0.7,
    "max_tokens": 1024,
    "tools": [{"name": "search", "strict": True, "limit": 10}],
    "seed": None,
}
LONG = {**TURN, "messages": TURN["messages"] * 25}  # type: ignore[operator]
TAGGED = {**TURN, "at": (1, 2.5), "blob": b"\x00\xff"}


def rows(value: Any) -> dict[str, Callable[[], Any]]:
    """Return what is measured of one value."""
    stored = snapshot(value).stored
    tree = snapshot(value).tree
    fast = msgspec.json.Encoder().encode
    measured: dict[str, Callable[[], Any]] = {
        "snapshot": lambda: snapshot(value),
        "encode_value": lambda: encode_value(value),
        "decode_stored": lambda: decode_stored(stored),
        "decode_value": lambda: decode_value(tree),
        "copy.deepcopy": lambda: copy.deepcopy(value),
        REFERENCE: lambda: fast(value),
        "msgspec decode": lambda: msgspec.json.decode(stored),
    }
    try:
        json.dumps(value)
    except TypeError:
        return measured
    return {**measured, "json.dumps": lambda: json.dumps(value), "json.loads": lambda: json.loads(stored)}


def main() -> None:
    """Print the table; a row that a kind of value does not have is empty there."""
    values = {"a chat turn": TURN, "a long chat": LONG, "with a tuple, bytes": TAGGED}
    table: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        measured = rows(value)
        times = max(20, 200_000 // len(snapshot(value).stored))
        for _ in range(ROUNDS):
            for row, run in measured.items():
                best = table.setdefault(row, {})
                best[name] = min(best.get(name, float("inf")), timeit.timeit(run, number=times) / times * 1e6)
    sizes = {name: len(snapshot(value).stored) for name, value in values.items()}
    print(f"{'best µs, × msgspec encode':28}" + "".join(f"{f'{n}, {s:,} B':>30}" for n, s in sizes.items()))
    for row, found in table.items():
        cells = [
            f"{found[name]:20.2f}{found[name] / table[REFERENCE][name]:8.1f} ×" if name in found else " " * 30
            for name in values
        ]
        print(f"{row:28}" + "".join(cells))


if __name__ == "__main__":
    main()
