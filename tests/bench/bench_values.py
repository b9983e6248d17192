"""What a snapshot and its way back cost, beside what others would do: ``python tests/bench/bench_values.py``.

Every row is the best of interleaved rounds, so that rows share the machine's mood; trust the ratios.
"""

from __future__ import annotations

import copy
import json
import timeit
from collections.abc import Callable
from typing import Any

import msgspec

from stashdbg_core.values import decode_stored, decode_value, encode_value, snapshot

ROUNDS = 15
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
        "msgspec encode (no check)": lambda: fast(value),
        "msgspec decode": lambda: msgspec.json.decode(stored),
    }
    try:
        json.dumps(value)
    except TypeError:
        return measured
    return {**measured, "json.dumps": lambda: json.dumps(value), "json.loads": lambda: json.loads(stored)}


def main() -> None:
    """Print one table a value."""
    for name, value in (("a chat turn", TURN), ("a long chat", LONG), ("with a tuple and bytes", TAGGED)):
        size = len(snapshot(value).stored)
        measured = rows(value)
        best = dict.fromkeys(measured, float("inf"))
        times = max(20, 200_000 // size)
        for _ in range(ROUNDS):
            for row, run in measured.items():
                best[row] = min(best[row], timeit.timeit(run, number=times) / times * 1e6)
        print(f"{name}, {size:,} bytes stored")
        for row, micros in best.items():
            print(f"  {row:28}{micros:10.2f} µs{micros / best['msgspec encode (no check)']:8.1f} ×")


if __name__ == "__main__":
    main()
