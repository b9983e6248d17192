"""``python tests/bench/mutants.py [COUNT] [formats]``: more damaged files than the tests make; prints the slowest.

Recordings of ours, or with ``formats`` the small files in tests/data/formats.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

COUNT = 100_000
BATCH = 2500
TESTS = Path(__file__).parents[1]


def _survivor(formats: bool) -> Callable[[int, int], tuple[int, float, str]]:
    if formats:
        sys.path.insert(0, str(TESTS.parent))
        from tests.formats.every import small_files, survive

        files = small_files()
        return lambda count, seed: survive(files, count, seed)
    test = runpy.run_path(str(TESTS / "core" / "store_read" / "test_mutants.py"))
    return lambda count, seed: (*test["survive"](count, seed), "")


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    count = numbers[0] if numbers else COUNT
    survive = _survivor("formats" in sys.argv[1:])
    for seed in range(1, 1 + max(1, count // BATCH)):
        with (
            open(os.devnull, "w", encoding="utf-8") as nowhere,
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
        ):
            opened, slowest, worst = survive(BATCH, seed)
        print(f"seed {seed}: {BATCH} mutants, {opened} opened, slowest {slowest * 1000:.0f} ms {worst}", flush=True)


if __name__ == "__main__":
    main()
